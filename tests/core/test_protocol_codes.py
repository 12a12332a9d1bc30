"""Codes of protocols: where each protocol puts them, and in the words of its libraries; never a bare number."""

from typing import Any

import pytest

from agrajag.model.enums import Transport
from tests.builders import features_of


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        ({"body": '{"jsonrpc": "2.0", "error": {"code": -32602}}'}, {-32602}),
        ({"body": '{"jsonrpc": "2.0", "error": {"code": 7}}'}, {7}),
        ({"body": '{"error": {"code": 7}}'}, set()),
        ({"body": '{"jsonrpc": "2.0", "error": {"code": true}}'}, set()),
        ({"message": "MCP error -32000: Connection closed"}, {-32000}),
        ({"message": "MCP error -32603: MCP error -32602: no"}, {-32603, -32602}),
        ({"message": "JSON-RPC error: code=-32601"}, {-32601}),
        ({"message": 'cut off: {"code": -32001, "mess'}, {-32001}),
        ({"error_code": "-32001"}, {-32001}),
        ({"error_code": "32600"}, {32600}),
        ({"error_code": "42"}, set()),
        ({"message": "took 32600 ms"}, set()),
        ({"message": "offset -32602 is out of range"}, set()),
        ({"message": "MCP error: gone"}, set()),
    ],
)
def test_codes_of_json_rpc_are_read(error: dict[str, Any], codes: set[int]) -> None:
    assert features_of(**error).rpc_codes == codes


@pytest.mark.parametrize(
    ("error", "names"),
    [
        ({"headers": {"Grpc-Status": "14"}}, {"UNAVAILABLE"}),
        ({"headers": {"grpc-status": "unavailable"}}, {"UNAVAILABLE"}),
        ({"message": "status = StatusCode.DEADLINE_EXCEEDED"}, {"DEADLINE_EXCEEDED"}),
        ({"message": "rpc error: code = PermissionDenied desc = no"}, {"PERMISSION_DENIED"}),
        ({"message": "rpc error: code = Canceled desc = no"}, {"CANCELLED"}),
        ({"message": 'Status(StatusCode="Unavailable", Detail="x")'}, {"UNAVAILABLE"}),
        ({"message": "io.grpc.StatusRuntimeException: NOT_FOUND: no"}, {"NOT_FOUND"}),
        ({"body": "14 UNAVAILABLE: Connect Failed"}, {"UNAVAILABLE"}),
        ({"message": "Error: 4 DEADLINE_EXCEEDED: Deadline exceeded"}, {"DEADLINE_EXCEEDED"}),
        ({"body": '{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}'}, {"RESOURCE_EXHAUSTED"}),
        ({"error_code": "14", "exception_type": "grpc._channel._InactiveRpcError"}, {"UNAVAILABLE"}),
        ({"error_code": "14"}, set()),
        ({"error_code": "NOT_FOUND"}, set()),
        ({"message": "the service is unavailable"}, set()),
        ({"body": "5 UNAVAILABLE: the number and the name differ"}, set()),
        ({"body": "14 files: not found"}, set()),
        ({"headers": {"grpc-status": "99"}}, set()),
    ],
)
def test_statuses_of_grpc_are_read(error: dict[str, Any], names: set[str]) -> None:
    assert features_of(**error).grpc_statuses == names


@pytest.mark.parametrize(
    ("error", "states"),
    [
        ({"message": "ERROR: deadlock detected (SQLSTATE 40P01)"}, {"40P01", "40*"}),
        ({"message": "SQLSTATE[HY000] [2002] refused"}, {"HY000", "HY*"}),
        ({"message": "(conn:638, no: 1044, SQLState: 42000) Access denied"}, {"42000", "42*"}),
        ({"body": '{"sqlState": "08006"}'}, {"08006", "08*"}),
        ({"body": '{"error": {"sqlstate": 53300}}'}, {"53300", "53*"}),
        ({"error_code": "53300"}, {"53300", "53*"}),
        ({"error_code": "53300", "http_status": 400}, set()),
        ({"error_code": "53300", "transport": Transport.HTTP}, set()),
        ({"error_code": "533000"}, set()),
        ({"error_code": "quota"}, set()),
        ({"message": "sqlstate unknown to us"}, set()),
        ({"message": "42000 rows"}, set()),
    ],
)
def test_sql_states_are_read_with_their_class(error: dict[str, Any], states: set[str]) -> None:
    assert features_of(**error).sql_states == states

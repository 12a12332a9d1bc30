"""What a body of reports says, event by event."""

import json
from typing import Any

import pytest
from fastapi.exceptions import RequestValidationError

from agrajag.api.reported import MAX_EVENTS, read_reports
from agrajag.model.events import SystemEvent, ToolCallError

ERROR: dict[str, Any] = {"toolName": "search", "userId": "rita", "error": {"httpStatus": 503}}


def read(body: Any) -> list[ToolCallError]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_reports(raw, ToolCallError, "acme")


def refused(body: Any) -> list[str]:
    with pytest.raises(RequestValidationError) as caught:
        read(body)
    return [".".join(map(str, one["loc"])) for one in caught.value.errors()]


def test_one_event_or_many_are_of_the_tenant_of_the_path() -> None:
    one, *rest = read(ERROR)
    assert (one.tenant_id, one.tool_name, rest) == ("acme", "search", [])
    assert read({"events": [ERROR, ERROR | {"tenantId": "acme"}]}) == [one, one]


def test_what_is_wrong_is_told_by_the_number_of_the_event_and_the_field() -> None:
    events = [
        ERROR,
        ERROR | {"toolName": ""},
        ERROR | {"tenantId": "globex"},
        "text",
        ERROR | {"error": {"httpStatus": "503"}},
        ERROR | {"tool_name": "by another name", "toolName": None},
    ]
    assert refused({"events": events}) == [
        "body.events.1.toolName",
        "body.events.2.tenantId",
        "body.events.3",
        "body.events.4.error.httpStatus",
        "body.events.5.toolName",
    ]
    assert refused(ERROR | {"tenantId": "globex"}) == ["body.tenantId"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", [], {"events": []}, {"events": {}}, {"events": [ERROR] * (MAX_EVENTS + 1)}]
)
def test_a_body_that_is_no_report_is_refused(body: Any) -> None:
    assert refused(body) in (["body"], ["body.events"])


def test_an_event_that_no_record_could_hold_is_refused() -> None:
    headers = {f"h-{number}": "\N{SNOWMAN}" * 4_096 for number in range(64)}
    texts = {"body": "\N{GRINNING FACE}" * 65_536, "message": "\N{SNOWMAN}" * 8_192}
    assert refused({"events": [ERROR, ERROR | {"error": {"headers": headers, **texts}}]}) == ["body.events.1"]


def test_no_secret_goes_on() -> None:
    token = "ghp_" + "a1B2" * 9
    (told,) = read(ERROR | {"error": {"message": f"token {token}", "body": token}})
    assert token not in told.to_json().decode()
    event = {
        "kind": "mcp_closed",
        "linkId": "mcp",
        "connectionId": "1",
        "seq": 1,
        "cause": f"401 for {token}",
        "toolNames": ["search"],
    }
    (link,) = read_reports(json.dumps(event).encode(), SystemEvent, "acme")
    assert token not in link.to_json().decode()

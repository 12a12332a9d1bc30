"""What is mended, what is refused, and that a refusal never repeats what it refuses."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from agrajag.errors import InputError
from agrajag.metrics import REPAIRS
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE
from agrajag.wire.codec import decode
from agrajag.wire.reasons import DeadLetterReason, RepairKind
from tests.builders import a_system_event
from tests.wire.records import EVENT, counting, received

CHAIN = [f"com.example.Error{number}" for number in range(40)]
MANY_HEADERS = {f"x-{number}": "1" for number in range(65)}


def with_error(**fields: Any) -> dict[str, Any]:
    return {**EVENT, "error": EVENT["error"] | fields}


@pytest.mark.parametrize(
    ("event", "kind", "is_mended"),
    [
        (
            with_error(body="ü" * (MAX_BODY + 1)),
            RepairKind.BODY_CUT,
            lambda event: event.error.body == "ü" * MAX_BODY and event.error.truncated,
        ),
        (
            with_error(message="m" * 100_000),
            RepairKind.MESSAGE_CUT,
            lambda event: event.error.message == "m" * MAX_MESSAGE and event.error.truncated,
        ),
        (
            with_error(exceptionChain=CHAIN),
            RepairKind.EXCEPTION_CHAIN_CUT,
            lambda event: event.error.exception_chain == tuple(CHAIN[:16]),
        ),
        (
            with_error(headers=MANY_HEADERS),
            RepairKind.HEADERS_DROPPED,
            lambda event: list(event.error.headers) == [f"x-{number}" for number in range(64)],
        ),
        (
            with_error(headers={"n" * 257: "1", "retry-after": "3"}),
            RepairKind.HEADERS_DROPPED,
            lambda event: event.error.headers == {"retry-after": "3"},
        ),
        (
            with_error(headers={"cookie": "c" * 5_000}),
            RepairKind.HEADER_VALUE_CUT,
            lambda event: event.error.headers == {"cookie": "c" * 4_096},
        ),
        (
            {**EVENT, "transport": "pigeon"},
            RepairKind.TRANSPORT_UNKNOWN,
            lambda event: event.transport == "other",
        ),
        (
            {**EVENT, "credentialKind": "borrowed"},
            RepairKind.CREDENTIAL_KIND_UNKNOWN,
            lambda event: event.credential_kind == "unknown",
        ),
        (
            {**EVENT, "targetKind": "somewhere"},
            RepairKind.TARGET_KIND_UNKNOWN,
            lambda event: event.target_kind == "unknown",
        ),
    ],
)
def test_what_has_one_clear_default_is_mended_and_counted(
    event: dict[str, Any], kind: RepairKind, is_mended: Callable[[ToolCallError], bool]
) -> None:
    with counting(REPAIRS, kind=kind) as counted:
        mended = decode(ToolCallError, received(event))
    assert is_mended(mended)
    assert counted() == 1
    assert (mended.event_id, mended.error.http_status) == ("event-1", 503)


def test_what_is_just_within_the_bounds_is_left_as_it_is() -> None:
    report = {
        "body": "b" * MAX_BODY,
        "message": "m" * MAX_MESSAGE,
        "exceptionChain": CHAIN[:16],
        "headers": {"n" * 256: "v" * 4_096} | {f"x-{number}": "1" for number in range(63)},
    }
    error = decode(ToolCallError, received(with_error(**report))).error
    assert (error.body, error.message, error.headers) == (
        report["body"],
        report["message"],
        report["headers"],
    )
    assert not error.truncated


def test_several_faults_of_one_record_are_mended_together() -> None:
    event = {**with_error(body="b" * 70_000, headers=MANY_HEADERS), "transport": "pigeon"}
    mended = decode(ToolCallError, received(event))
    assert (len(mended.error.body or ""), len(mended.error.headers), mended.transport) == (
        MAX_BODY,
        64,
        "other",
    )


def test_a_repair_that_was_not_enough_is_not_counted() -> None:
    with counting(REPAIRS, kind=RepairKind.TRANSPORT_UNKNOWN) as counted, pytest.raises(InputError):
        decode(ToolCallError, received({**EVENT, "transport": "pigeon", "count": 0}))
    assert counted() == 0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", DeadLetterReason.NOT_JSON),
        (b"\x00", DeadLetterReason.NOT_JSON),
        (b"\xff\xfe{", DeadLetterReason.NOT_JSON),
        (b'{"tenantId": "\xff"}', DeadLetterReason.NOT_JSON),
        (b'{"tenantId": "\\ud800"}', DeadLetterReason.NOT_JSON),
        (b'{"tenantId": "acme"', DeadLetterReason.NOT_JSON),
        (b"<html>", DeadLetterReason.NOT_JSON),
        (b'{"count": ' + b"9" * 5_000 + b"}", DeadLetterReason.NOT_JSON),
        (b"null", DeadLetterReason.NOT_AN_OBJECT),
        (b"[]", DeadLetterReason.NOT_AN_OBJECT),
        (b"7", DeadLetterReason.NOT_AN_OBJECT),
        (b"[" * 100_000, DeadLetterReason.TOO_DEEP),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, DeadLetterReason.TOO_DEEP),
        (b"{}", DeadLetterReason.MISSING_FIELD),
    ],
)
def test_what_is_no_event_is_refused_with_its_reason(value: bytes, reason: DeadLetterReason) -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(value))
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"tenantId": ""}, "tenantId"),
        ({"tenantId": "a" * 257}, "tenantId"),
        ({"tenantId": "nul\x00"}, "tenantId"),
        ({"tenantId": 7}, "tenantId"),
        ({"toolName": "line\nbreak"}, "toolName"),
        ({"occurredAt": "2026-05-23T12:00:00"}, "occurredAt"),
        ({"occurredAt": "tomorrow"}, "occurredAt"),
        ({"occurredAt": 1e400}, "occurredAt"),
        ({"count": -1}, "count"),
        ({"count": "3"}, "count"),
        ({"count": float("nan")}, "count"),
        ({"transport": 3}, "transport"),
        ({"error": None}, "error"),
        ({"error": {"httpStatus": 42}}, "error.httpStatus"),
        ({"error": {"headers": {"x": 1}}}, "error.headers.*"),
        ({"error": {"exceptionChain": ["ok", ""]}}, "error.exceptionChain.1"),
    ],
)
def test_a_field_that_cannot_be_mended_is_named(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received({**EVENT, **changes}))
    assert refused.value.reason == DeadLetterReason.INVALID_FIELD
    assert refused.value.detail.startswith(f"{path}: ")


def test_a_missing_field_is_named() -> None:
    event = copy.deepcopy(EVENT)
    del event["toolName"]
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(event))
    assert refused.value.reason == DeadLetterReason.MISSING_FIELD
    assert refused.value.detail == "toolName: missing"


def test_a_refusal_holds_nothing_that_the_producer_wrote() -> None:
    secret = "hunter2"
    event = {
        "tenantId": {secret: secret},
        "toolName": [secret],
        "error": {"headers": {secret: [secret]}},
        secret: 1,
    }
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(event))
    assert secret not in str(refused.value)
    assert refused.value.__cause__ is None


def test_hundreds_of_faults_are_counted_instead_of_listed() -> None:
    event = json.loads(a_system_event().to_json()) | {"toolNames": ["search"] + [""] * 300}
    with pytest.raises(InputError, match="300 fields are wrong"):
        decode(SystemEvent, received(event))


def test_only_the_first_three_faults_are_listed() -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received({**EVENT, "tenantId": 1, "toolName": 1, "userId": 1, "sessionId": 1}))
    assert refused.value.detail.endswith("; and 1 more")


def test_other_records_than_errors_are_never_mended() -> None:
    with pytest.raises(InputError):
        decode(ToolCallSucceeded, received({"tenantId": "acme", "toolName": "t" * 300}))

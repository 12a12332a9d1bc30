"""What `decode` makes of good records."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.errors import InputError
from agrajag.metrics import REPAIRS, SYSTEM_USERS
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, LinkKind, ProbeIdentity, Scope, Trigger
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.jobs import CooldownAdjustment, Diagnosis, DiagnosisResult, Evidence
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import MAX_VALUE_BYTES, decode
from agrajag.wire.origin import Origin
from agrajag.wire.reasons import DeadLetterReason, RepairKind
from tests.builders import NOW, a_success, a_system_event, an_error
from tests.wire.records import EVENT, TOPIC, counting, received


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in EVENT.items() if name not in names}


NAMELESS = without("eventId", "occurredAt")
_SOURCES = st.text(st.sampled_from("s1#%23\x85"), max_size=6) | st.text(max_size=300)
_IDS = st.text(st.sampled_from("s1#%23"), min_size=1, max_size=6) | st.text(
    st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=256
)
ENVELOPE = {
    "specversion": "1.0",
    "type": "t",
    "source": "s",
    "id": "ce-1",
    "time": "2026-05-23T14:00:00+02:00",
}


def test_plain_json_is_read_as_it_stands() -> None:
    event = decode(ToolCallError, received(EVENT))
    assert (event.event_id, event.tenant_id, event.error.http_status) == ("event-1", "acme", 503)
    assert event.occurred_at == NOW


@pytest.mark.parametrize(
    ("model", "event", "event_type"),
    [
        (ToolCallError, an_error(http_status=500, headers={"retry-after": "3"}), EventType.TOOL_CALL_ERROR),
        (ToolCallSucceeded, a_success(), EventType.TOOL_CALL_SUCCEEDED),
        (SystemEvent, a_system_event(), EventType.SYSTEM_EVENT),
    ],
)
def test_what_is_written_in_binary_mode_is_decoded_to_the_same_value(
    model: type[Any], event: Any, event_type: EventType
) -> None:
    headers = binary_headers(event_type, "agrajag/client", event.event_id)
    assert decode(model, received(event.to_json(), headers)) == event


def test_the_headers_of_binary_mode_are_those_of_the_kafka_binding() -> None:
    headers = binary_headers(EventType.TOOL_CALL_ERROR, "agrajag/client", "an-id-ü")
    assert dict(headers) == {
        "ce_specversion": b"1.0",
        "ce_type": b"agrajag.tool-call-error.v1",
        "ce_source": b"agrajag/client",
        "ce_id": "an-id-ü".encode(),
        "content-type": b"application/json",
    }


def test_headers_of_binary_mode_fill_the_id_and_the_time() -> None:
    event = decode(
        ToolCallError, received(NAMELESS, [("ce_id", b"ce-1"), ("ce_time", b"2026-05-23T14:00:00+02:00")])
    )
    assert (event.event_id, event.occurred_at) == ("ce-1", NOW)


SOURCED = [("ce_source", b"s"), ("ce_id", b"ce-1")]


@pytest.mark.parametrize(
    ("value", "headers"),
    [(NAMELESS, SOURCED), (ENVELOPE | {"data": NAMELESS}, ())],
    ids=["binary", "structured"],
)
def test_an_id_of_an_envelope_names_the_event_together_with_its_source(value: Any, headers: Any) -> None:
    assert decode(ToolCallError, received(value, headers)).event_id == "s#ce-1"


@given(st.tuples(_SOURCES, _IDS), st.tuples(_SOURCES, _IDS))
@example(("s#1", "2"), ("s", "1#2"))
@example(("s", "1%232"), ("s", "1#2"))
@example(("s" * 300, "1"), ("s" * 301, "1"))
@example(("s\n", "1"), ("s\r", "1"))
@example(("", "s#1"), ("s", "1"))
def test_events_of_two_sources_never_share_an_id(one: tuple[str, str], other: tuple[str, str]) -> None:
    def named(source: str, event_id: str) -> str | None:
        headers = [("ce_source", source.encode()), ("ce_id", event_id.encode())]
        return decode(ToolCallError, received(NAMELESS, headers)).event_id

    assert (named(*one) == named(*other)) == (one == other)


def test_a_long_source_gives_an_id_of_ordinary_length() -> None:
    event = decode(ToolCallError, received(NAMELESS, [("ce_source", b"s" * 900), ("ce_id", b"1")]))
    assert event.event_id == "sha256:" + hashlib.sha256(b"s" * 900 + b"#1").hexdigest()


@pytest.mark.parametrize("source", [7, None, "", {}, []])
def test_what_is_no_source_leaves_the_id_alone(source: Any) -> None:
    value = ENVELOPE | {"data": NAMELESS, "source": source}
    assert decode(ToolCallError, received(value)).event_id == "ce-1"


def test_a_field_by_its_python_name_is_unknown() -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received({**without("tenantId"), "tenant_id": "acme"}))
    assert refused.value.detail == "tenantId: missing"
    assert decode(ToolCallError, received({**EVENT, "error": {"http_status": 503}})).error.http_status is None


def test_a_field_by_its_python_name_is_unknown_to_a_repair_too() -> None:
    value = {**EVENT, "transport": "pigeon", "error": {"http_status": 503}}
    assert decode(ToolCallError, received(value)).error.http_status is None


def test_an_error_that_stands_for_several_happened_when_the_last_of_them_did() -> None:
    times = {"firstAt": "2026-05-23T11:00:00Z", "lastAt": "2026-05-23T14:00:00+02:00"}
    headers = [("ce_time", b"1999-01-01T00:00:00Z")]
    event = decode(ToolCallError, received({**NAMELESS, **times}, headers))
    assert event.occurred_at == NOW
    assert event.occurred_at is not None
    assert event.occurred_at.utcoffset() == timedelta(0)
    assert decode(ToolCallError, received({**EVENT, "lastAt": "1999-01-01T00:00:00Z"})).occurred_at == NOW


def test_the_event_itself_has_the_last_word_on_its_id_and_time() -> None:
    event = decode(ToolCallError, received(EVENT, [("ce_id", b"ce-1"), ("ce_time", b"1999-01-01T00:00:00Z")]))
    assert (event.event_id, event.occurred_at) == ("event-1", NOW)


@pytest.mark.parametrize("ce_id", [b"", b"\xff\x00", b"two\nlines", b"x" * 257, None])
def test_a_header_that_is_no_id_gives_way_to_the_place_of_the_record(ce_id: bytes | None) -> None:
    event = decode(ToolCallError, received(NAMELESS, [("ce_id", ce_id)], partition=3, offset=41))
    assert event.event_id == f"{TOPIC}-3-41"


@pytest.mark.parametrize(
    "ce_time", [b"", b"yesterday", b"2026-05-23T12:00:00", b"\xff", b"99999-01-01T00:00:00Z"]
)
def test_a_header_that_is_no_time_is_ignored_and_counted(ce_time: bytes) -> None:
    with counting(REPAIRS, kind=RepairKind.CE_TIME_IGNORED) as counted:
        event = decode(ToolCallError, received(NAMELESS, [("ce_time", ce_time)]))
    assert event.occurred_at is None
    assert counted() == 1


def test_an_event_without_any_id_is_named_by_its_origin() -> None:
    origin = Origin(TOPIC, 7, 900)
    assert decode(ToolCallError, received(NAMELESS), origin).event_id == f"{TOPIC}-7-900"


@pytest.mark.parametrize("headers", [[("content-type", b"application/cloudevents+json; charset=utf-8")], []])
@pytest.mark.parametrize(
    "data", [{"data": NAMELESS}, {"data_base64": base64.b64encode(json.dumps(NAMELESS).encode()).decode()}]
)
def test_an_envelope_is_opened_whatever_it_holds_its_event_in(
    headers: list[tuple[str, bytes]], data: dict[str, Any]
) -> None:
    event = decode(ToolCallError, received(ENVELOPE | data, headers))
    assert (event.event_id, event.occurred_at, event.tool_name) == ("s#ce-1", NOW, "search")


def test_what_is_inside_an_envelope_is_mended_like_anything_else() -> None:
    event = decode(ToolCallError, received(ENVELOPE | {"data": {**NAMELESS, "transport": "pigeon"}}))
    assert event.transport == "other"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (ENVELOPE, DeadLetterReason.BAD_ENVELOPE),
        (ENVELOPE | {"data_base64": "###"}, DeadLetterReason.BAD_ENVELOPE),
        (ENVELOPE | {"data_base64": "ü"}, DeadLetterReason.BAD_ENVELOPE),
        (ENVELOPE | {"data_base64": 7}, DeadLetterReason.BAD_ENVELOPE),
        (ENVELOPE | {"data_base64": base64.b64encode(b"{").decode()}, DeadLetterReason.NOT_JSON),
        (ENVELOPE | {"data": "text"}, DeadLetterReason.NOT_AN_OBJECT),
        (ENVELOPE | {"data": None}, DeadLetterReason.NOT_AN_OBJECT),
        (ENVELOPE | {"data": {}}, DeadLetterReason.MISSING_FIELD),
        (ENVELOPE | {"data": ENVELOPE | {"data": EVENT}}, DeadLetterReason.MISSING_FIELD),
    ],
)
def test_an_envelope_without_a_readable_event_is_refused(
    value: dict[str, Any], reason: DeadLetterReason
) -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(value, [("content-type", b"application/cloudevents+json")]))
    assert refused.value.reason == reason


def test_times_of_any_zone_are_told_in_utc() -> None:
    event = decode(
        ToolCallError,
        received({**EVENT, "occurredAt": "2026-05-23T14:00:00+02:00", "lastAt": "2026-05-23T07:00:00-05:00"}),
    )
    assert event.occurred_at == event.last_at == NOW
    assert event.occurred_at is not None
    assert event.occurred_at.utcoffset() == timedelta(0)
    assert event.to_json().count(b"2026-05-23T12:00:00Z") == 2


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_does_not_exist_in_utc_is_refused(time: str) -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received({**EVENT, "firstAt": time}))
    assert refused.value.reason == DeadLetterReason.INVALID_FIELD


def test_the_last_day_of_year_9999_is_read() -> None:
    event = decode(ToolCallError, received({**EVENT, "occurredAt": "9999-12-31T23:59:59Z"}))
    assert event.occurred_at == datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def test_the_system_user_means_no_user_and_is_counted() -> None:
    with counting(SYSTEM_USERS) as counted:
        event = decode(
            ToolCallError, received(json.dumps(EVENT).replace('"alice"', '"\\u005fsystem"').encode())
        )
    assert event.user_id is None
    assert counted() == 1


def test_the_system_user_means_no_user_deep_inside_a_diagnosis_too() -> None:
    result = DiagnosisResult(
        job_id="job-1",
        process_id="process-1",
        tenant_id="acme",
        scope=Scope.PROJECT,
        scope_id="essays",
        tool_name="search",
        error_signature="http-5xx",
        originating_user_id="_system",
        trigger=Trigger.TOOL_CALL_ERROR,
        by="agrajag",
        diagnosis=Diagnosis(
            classification=Classification.INTERMITTENT,
            scope=Scope.PROJECT,
            human_note="now and then",
            cooldown_adjustments=(
                CooldownAdjustment(
                    error_signature="timeout", user_id="_system", duration=timedelta(minutes=5)
                ),
                CooldownAdjustment(error_signature="timeout", user_id="alice", duration=timedelta(minutes=5)),
            ),
        ),
        evidence=(
            Evidence(
                identity=ProbeIdentity.SYSTEM, had_credentials=False, success=False, duration_ms=1, at=NOW
            ),
        ),
        started_at=NOW,
        finished_at=NOW,
    )
    with counting(SYSTEM_USERS) as counted:
        decoded = decode(DiagnosisResult, received(result.to_json()))
    assert decoded.originating_user_id is None
    assert decoded.diagnosis is not None
    assert [adjustment.user_id for adjustment in decoded.diagnosis.cooldown_adjustments] == [None, "alice"]
    assert decoded.evidence == result.evidence
    assert counted() == 2


def test_a_command_about_the_system_user_is_refused() -> None:
    command = {
        "commandId": "c-1", "kind": "recheck", "tenantId": "acme", "scope": "USER", "scopeId": "_system",
        "toolName": "search", "by": "admin",
    }  # fmt: skip
    with pytest.raises(InputError, match="scopeId"):
        decode(HealthCommand, received(command))
    assert decode(HealthCommand, received({**command, "scope": "SESSION"})).scope_id == "_system"


def test_a_record_with_a_null_value_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(None))
    assert refused.value.reason == DeadLetterReason.NO_VALUE


def test_a_value_above_the_limit_is_refused_unread() -> None:
    padded = json.dumps({**EVENT, "padding": ""}).encode()
    room = MAX_VALUE_BYTES - len(padded)
    assert (
        decode(ToolCallError, received(padded.replace(b'""', b'"' + b"x" * room + b'"'))).event_id
        == "event-1"
    )
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, received(padded.replace(b'""', b'"' + b"x" * (room + 1) + b'"')))
    assert refused.value.reason == DeadLetterReason.TOO_LARGE


def test_unknown_fields_of_a_newer_producer_are_ignored() -> None:
    event = decode(
        SystemEvent, received({**json.loads(a_system_event().to_json()), "kindOfWeather": ["rain"]})
    )
    assert event.kind is LinkKind.MCP_CLOSED

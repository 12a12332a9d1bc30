"""What every record promises: camelCase JSON that comes back equal, bounds, zones, patience with newer producers."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agrajag.model import answers, events, health, jobs
from agrajag.model.enums import Scope, Status
from agrajag.model.events import ErrorReport, SystemEvent, ToolCallError
from agrajag.model.health import Cooldown, OverrideFacet, ToolHealth
from agrajag.model.jobs import CooldownAdjustment, DiagnosisJob
from agrajag.model.wire_model import WireModel
from tests.builders import NOW, a_cooldown, a_health, a_job, a_system_event, an_error
from tests.model.wire_strategies import record_types, records


def _problems(record: type[WireModel], data: object) -> list[tuple[Any, ...]]:
    """The places that are refused in this JSON, none if it is a good record."""
    try:
        record.from_json(json.dumps(data).encode())
    except ValidationError as refused:
        return [problem["loc"] for problem in refused.errors()]
    return []


def _wire(record: WireModel) -> Any:
    return json.loads(record.to_json())


def test_the_records_under_test_are_all_there_are() -> None:
    modules = (answers, events, health, jobs)
    defined = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, WireModel) and value is not WireModel
    }
    assert defined <= set(record_types())
    assert len(defined) >= 25


@pytest.mark.parametrize("record", record_types(), ids=lambda record: record.__name__)
def test_a_record_comes_back_from_json_as_it_was(record: type[WireModel]) -> None:
    @settings(
        max_examples=10, suppress_health_check=list(HealthCheck), deadline=None, phases=[Phase.generate]
    )
    @given(records(record))
    def comes_back(value: WireModel) -> None:
        assert record.from_json(value.to_json()) == value

    comes_back()


@pytest.mark.parametrize("record", record_types(), ids=lambda record: record.__name__)
def test_a_name_on_the_wire_is_the_python_name_in_camel_case(record: type[WireModel]) -> None:
    for name, field in record.model_fields.items():
        first, *others = name.split("_")
        assert field.alias == first + "".join(part.capitalize() for part in others)


def test_a_record_is_written_in_camel_case_and_without_its_nulls() -> None:
    wire = _wire(a_cooldown())
    assert wire["errorSignature"] == "http-5xx"
    assert wire["nextSpawnAllowedAt"] == "2026-05-23T12:00:30Z"
    assert "userId" not in wire
    assert not any("_" in name for name in wire)


def test_a_document_carries_its_computed_status_and_ignores_it_on_the_way_back() -> None:
    wire = _wire(a_health(status=Status.DOWN))
    assert wire["status"] == "DOWN"
    assert ToolHealth.from_json(json.dumps(wire | {"status": "OK"}).encode()).status is Status.DOWN


def test_an_unknown_field_is_ignored_at_any_depth() -> None:
    wire = _wire(an_error(http_status=500))
    newer = wire | {"novelty": [1], "error": wire["error"] | {"novelty": {"a": None}}}
    assert ToolCallError.from_json(json.dumps(newer).encode()) == an_error(http_status=500)


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        an_error().tool_name = "other"  # type: ignore[misc]


def test_a_changed_copy_leaves_the_record_as_it_was() -> None:
    error = an_error()
    assert error.with_changes(tool_name="other").tool_name == "other"
    assert error.tool_name == "search"


@pytest.mark.parametrize("field", ["occurredAt", "firstAt", "lastAt"])
@pytest.mark.parametrize(
    "time", ["2026-05-23T12:00:00", "2026-05-23", "yesterday", "", 1_748_001_600, True, [], {}]
)
def test_a_time_without_a_zone_or_of_another_type_is_refused(field: str, time: object) -> None:
    assert _problems(ToolCallError, _wire(an_error()) | {field: time}) == [(field,)]


def test_a_time_in_any_zone_is_the_same_moment() -> None:
    wire = _wire(an_error()) | {"occurredAt": "2026-05-23T14:00:00+02:00"}
    assert ToolCallError.from_json(json.dumps(wire).encode()).occurred_at == NOW


def test_a_naive_time_is_refused_from_our_own_code_too() -> None:
    with pytest.raises(ValidationError):
        an_error(occurred_at=datetime(2026, 5, 23, 12, 0))  # noqa: DTZ001 - the very thing to refuse


_LONG_ID = "x" * 257


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tenantId", ""), ("tenantId", _LONG_ID), ("tenantId", "a\nb"), ("tenantId", "a\x00b"), ("tenantId", "a\x7f"),
        ("tenantId", 7), ("tenantId", None), ("tenantId", ["a"]), ("toolName", ""), ("toolName", _LONG_ID),
        ("userId", ""), ("eventId", _LONG_ID), ("locale", "de_DE!"), ("locale", "x" * 36), ("transport", "carrier"),
        ("credentialKind", "USER"), ("count", 0), ("count", -1), ("count", 1_000_001), ("count", "3"), ("count", 1.5),
        ("probe", "yes"), ("probe", 1), ("error", None), ("error", []), ("otel", {"k" * 65: "v"}),
        ("otel", {"k": "v" * 513}), ("otel", {str(i): "v" for i in range(9)}), ("replyTo", ""),
    ],
)  # fmt: skip
def test_an_error_with_a_field_out_of_bounds_is_refused_there(field: str, value: object) -> None:
    assert {place[0] for place in _problems(ToolCallError, _wire(an_error()) | {field: value})} == {field}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("httpStatus", 99), ("httpStatus", 1000), ("httpStatus", "500"), ("httpStatus", True), ("exceptionType", ""),
        ("exceptionType", "x" * 257), ("exceptionChain", ["x"] * 17), ("exceptionChain", "x"), ("message", "x" * 8_193),
        ("body", "x" * 65_537), ("headers", {str(i): "v" for i in range(65)}), ("headers", {"n" * 257: "v"}),
        ("headers", {"n": "v" * 4_097}), ("headers", {"n": None}), ("errorCode", "x" * 121), ("errorCode", 42),
    ],
)  # fmt: skip
def test_a_report_with_a_field_out_of_bounds_is_refused_there(field: str, value: object) -> None:
    assert {place[0] for place in _problems(ErrorReport, {field: value})} == {field}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tenantId", "x" * 256), ("tenantId", "a|b%7C c"), ("toolName", "größe 🔧"), ("count", 1_000_000),
        ("locale", ""), ("projectId", None), ("sessionId", "مستخدم"), ("userId", "ア\u3099\u00a0b"),
    ],
)  # fmt: skip
def test_an_error_at_its_bounds_is_a_good_record(field: str, value: object) -> None:
    assert _problems(ToolCallError, _wire(an_error()) | {field: value}) == []


_UNSEEN = [
    "\x00", "\n", "\x1b", "\x7f", "\x80", "\x85", "\x9b", "\x9f", "\xad", "\u061c",
    "\u200b", "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2060", "\u2066",
    "\u2069", "\ufeff", "\U000e0041",
]  # fmt: skip


@pytest.mark.parametrize("character", _UNSEEN, ids=ascii)
def test_an_id_holds_nothing_that_cannot_be_seen(character: str) -> None:
    unseen = f"a{character}b"
    for field in ("tenantId", "toolName", "userId", "eventId", "replyTo"):
        assert _problems(ToolCallError, _wire(an_error()) | {field: unseen}) == [(field,)]
    assert _problems(ToolHealth, _wire(a_health()) | {"scopeId": unseen}) == [("scopeId",)]
    assert _problems(Cooldown, _wire(a_cooldown()) | {"errorSignature": unseen}) == [("errorSignature",)]


def test_a_field_has_one_name_on_the_wire() -> None:
    wire = _wire(an_error())
    snake = {name: value for name, value in wire.items() if name != "tenantId"} | {"tenant_id": "acme"}
    assert _problems(ToolCallError, snake) == [("tenantId",)]
    both = wire | {"tenant_id": "other", "error": {"http_status": 500}}
    assert ToolCallError.from_json(json.dumps(both).encode()) == an_error()


def test_our_own_code_may_use_either_name() -> None:
    cooldown = _wire(a_cooldown())
    assert Cooldown.model_validate(cooldown, strict=False) == a_cooldown()


def test_text_at_its_bounds_is_a_good_report() -> None:
    report = {"message": "x" * 8_192, "body": "😀" * 65_536, "headers": {"n" * 256: "v" * 4_096}}
    assert _problems(ErrorReport, report) == []


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\xff"', b'"a', b"", b"NaN", b"null", b"[]", b"[" * 5_000])
def test_what_is_no_record_is_refused_and_nothing_else_happens(text: bytes) -> None:
    with pytest.raises(ValidationError):
        ErrorReport.from_json(text)
    with pytest.raises(ValidationError):
        ErrorReport.from_json(b'{"body":' + text + b"}" if text not in (b"null", b"") else b"")


def test_a_link_event_names_at_least_one_tool_and_at_most_five_hundred() -> None:
    wire = _wire(a_system_event())
    assert _problems(SystemEvent, wire | {"toolNames": []}) == [("toolNames",)]
    assert _problems(SystemEvent, wire | {"toolNames": ["t"] * 501}) == [("toolNames",)]
    assert _problems(SystemEvent, wire | {"toolNames": ["t"] * 500}) == []


def test_a_counter_is_one_that_every_json_reader_holds_exactly() -> None:
    wire = _wire(a_system_event())
    assert _problems(SystemEvent, wire | {"seq": 2**53}) == []
    assert _problems(SystemEvent, wire | {"seq": 2**53 + 1}) == [("seq",)]
    assert _problems(SystemEvent, wire | {"seq": -1}) == [("seq",)]


def test_a_duration_is_iso_8601_and_at_most_a_year() -> None:
    wire = {"errorSignature": "http-5xx", "duration": "PT5M"}
    assert CooldownAdjustment.from_json(json.dumps(wire).encode()).duration == timedelta(minutes=5)
    assert _wire(CooldownAdjustment(error_signature="x", duration=timedelta(minutes=5)))["duration"] == "PT5M"
    assert _problems(CooldownAdjustment, wire | {"duration": "-PT5M"}) == [("duration",)]
    assert _problems(CooldownAdjustment, wire | {"duration": "P367D"}) == [("duration",)]


def test_lists_of_a_document_and_a_job_are_bounded() -> None:
    cooldown = _wire(a_cooldown())
    assert _problems(ToolHealth, _wire(a_health()) | {"cooldowns": [cooldown] * 65}) == [("cooldowns",)]
    assert _problems(DiagnosisJob, _wire(a_job()) | {"signals": ["x"] * 6}) == [("signals",)]
    assert _problems(DiagnosisJob, _wire(a_job()) | {"errorDetail": "x" * 1_001}) == [("errorDetail",)]


def test_a_note_is_at_most_five_hundred_characters() -> None:
    assert _problems(Cooldown, _wire(a_cooldown()) | {"note": "x" * 500}) == []
    assert _problems(Cooldown, _wire(a_cooldown()) | {"note": "x" * 501}) == [("note",)]


def test_a_global_document_has_an_empty_scope_id() -> None:
    assert a_health(scope=Scope.GLOBAL, scope_id="").scope_id == ""


@pytest.mark.parametrize(
    ("seconds", "status"), [(-1, Status.DOWN), (0, Status.OK), (1, Status.OK)], ids=["before", "at", "after"]
)
def test_an_override_holds_until_its_end_and_not_at_it(seconds: int, status: Status) -> None:
    override = OverrideFacet(status=Status.DOWN, reason="maintenance", by="bob", at=NOW, until=NOW)
    assert a_health(override=override).status_at(NOW + timedelta(seconds=seconds)) is status


@given(st.integers(min_value=0, max_value=10**9))
def test_an_override_without_an_end_always_holds(seconds: int) -> None:
    override = OverrideFacet(status=Status.OK, reason="we know", by="bob", at=NOW)
    document = a_health(status=Status.DOWN, override=override)
    assert document.status_at(NOW + timedelta(seconds=seconds)) is Status.OK


def test_a_closed_link_is_down_whatever_the_verdict_says() -> None:
    closed = health.LinkFacet(down_since=NOW)
    assert a_health(status=Status.DEGRADED, link=closed).status is Status.DOWN
    assert a_health(link=closed).status is Status.DOWN

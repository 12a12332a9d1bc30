"""`decode` is total: any bytes and any headers give a value or an InputError, and nothing else."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.errors import InputError
from agrajag.model.answers import Document, HealthCommand
from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded, ToolLink
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.wire_model import WireModel
from agrajag.wire.codec import SYSTEM_USER, decode
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.reasons import DeadLetterReason
from tests.wire.records import EVENT, received

MODELS = st.sampled_from(
    (
        *(ToolCallError, ToolCallSucceeded, SystemEvent, ToolLink, HealthCommand, DiagnosisResult),
        *(DiagnosisJob, ToolHealth, Document),
    )
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(("ce_id", "ce_time", "ce_specversion", "content-type", "agrajag-origin", "x")),
        st.none()
        | st.binary(max_size=40)
        | st.sampled_from((b"application/cloudevents+json", b"2026-05-23T12:00:00Z")),
    ),
    max_size=5,
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(
        (
            "_system",
            "http",
            "USER",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-12:00",
            "\ud800",
            "\x00",
            "P1D",
        )
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted(field.alias or name for name, field in ToolCallError.model_fields.items())
REPORT_FIELDS = (
    "exceptionType",
    "exceptionChain",
    "message",
    "httpStatus",
    "headers",
    "body",
    "errorCode",
    "truncated",
)


def decoded_or_refused(model: type[WireModel], value: bytes | None, headers: Any) -> WireModel | InputError:
    record = received(value, headers)
    outcome: WireModel | InputError
    try:
        outcome = decode(model, record)
    except InputError as refused:
        outcome = refused
    if isinstance(outcome, InputError):
        assert outcome.reason in set(DeadLetterReason)
        letter = dead_letter(record, outcome, "dlq")
        assert (letter.key, letter.value) == (record.key, record.value)
    return outcome


@given(MODELS, st.none() | st.binary(max_size=300), HEADERS)
@example(ToolCallError, b"\xef\xbb\xbf{}", [])
@example(ToolCallError, b'{"a":1,"a":2}', [])
def test_any_bytes_are_a_value_or_an_input_error(
    model: type[WireModel], value: bytes | None, headers: Any
) -> None:
    decoded_or_refused(model, value, headers)


@given(MODELS, JSON, HEADERS)
def test_any_json_is_a_value_or_an_input_error(model: type[WireModel], tree: Any, headers: Any) -> None:
    decoded_or_refused(model, json.dumps(tree).encode(), headers)


@given(
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3),
    st.dictionaries(st.sampled_from(REPORT_FIELDS), JSON, max_size=3),
    st.booleans(),
    HEADERS,
)
def test_a_damaged_event_is_a_usable_value_or_an_input_error(
    fields: dict[str, Any], report: dict[str, Any], wrapped: bool, headers: Any
) -> None:
    event: Any = EVENT | {"error": EVENT["error"] | report} | fields
    value = json.dumps({"specversion": "1.0", "data": event} if wrapped else event).encode()
    outcome = decoded_or_refused(ToolCallError, value, headers)
    if isinstance(outcome, ToolCallError):
        assert outcome.event_id
        assert outcome.user_id != SYSTEM_USER
        # What was read can be written, and reads the same: nothing half valid is passed on.
        assert decode(ToolCallError, received(outcome.to_json())) == outcome


@given(st.integers(0, 400), st.integers(0, 255), st.integers(0, 400))
def test_an_event_with_a_flipped_byte_or_a_missing_end_is_a_value_or_an_input_error(
    place: int, byte: int, end: int
) -> None:
    damaged = bytearray(json.dumps(EVENT).encode())
    damaged[place % len(damaged)] = byte
    decoded_or_refused(ToolCallError, bytes(damaged), ())
    decoded_or_refused(ToolCallError, bytes(damaged[:end]), ())

"""What is understood of one line of a log."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.logs.lines import MAX_FIELDS, LogFields, dated, instant, level_of, read_record
from agrajag.investigation.requests import LogLevel

NAMES = LogFields()
AT = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)


def item(raw: bytes, names: LogFields = NAMES) -> Any:
    record = dated(raw, names)
    return None if record is None else read_record(record, names, "file").as_item()


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T12:00:00.123456Z",
        "2026-11-30 12:00:00,123456",
        "2026-11-30T20:00:00.123456789+0800",
        1_796_040_000_123_456_000,
        1_796_040_000_123_456,
        "1796040000123456000",
        1_796_040_000.123456,
        " 1796040000.123456 ",
    ],
)
def test_a_time_is_understood_as_text_and_as_a_number_of_any_unit(value: Any) -> None:
    found = instant(value, UTC)

    assert found is not None
    assert abs(found - AT) < timedelta(milliseconds=1)


def test_a_time_without_a_zone_is_one_of_the_zone_of_the_source() -> None:
    assert instant("2026-11-30T20:00:00.123456", timezone(timedelta(hours=8))) == AT


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        [],
        {},
        "",
        "soon",
        "12:00",
        "9999-12-31T23:59:59-23:00",
        "0001-01-01T00:00:00+10:00",
        10**300,
        -(10**30),
        1e308,
    ],
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert instant(value, UTC) is None


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("warning", LogLevel.WARN), (" FATAL ", LogLevel.ERROR), ("trace", LogLevel.DEBUG), ("Notice", LogLevel.INFO),
        (10, LogLevel.DEBUG), (20, LogLevel.DEBUG), (30, LogLevel.INFO), (40, LogLevel.WARN), (50, LogLevel.ERROR),
        (60, LogLevel.ERROR), ("30", LogLevel.INFO), (3, LogLevel.ERROR), (4, LogLevel.WARN), (7, LogLevel.DEBUG),
        (8, None), (61, None), (-1, None), (True, None), ("loud", None), (None, None), ({}, None),
    ],
)  # fmt: skip
def test_a_level_is_understood_by_its_name_or_its_number(value: Any, level: LogLevel | None) -> None:
    assert level_of(value) is level


def test_a_line_says_when_how_bad_whose_and_what_and_keeps_the_rest() -> None:
    raw = b'{"@timestamp":"2026-11-30T12:00:00Z","severity":"WARN","app":"orders","msg":"slow","ms":9,"user":{"id":7}}'

    assert item(raw) == {
        "time": "2026-11-30T12:00:00Z",
        "level": "WARN",
        "service": "orders",
        "message": "slow",
        "fields": {"ms": 9, "user.id": 7},
    }


def test_the_first_field_that_says_it_counts_and_a_dot_leads_into_an_object() -> None:
    raw = b'{"ts":1796040000,"level":{"n":1},"log":{"level":"error"},"service":{"name":"pay"},"message":{"a":[1]}}'

    found = item(raw)

    assert (found["level"], found["service"], found["message"]) == ("ERROR", "pay", '{"a.0":1}')


def test_fields_can_be_named() -> None:
    names = LogFields(time=("when",), level=("how.bad",), service=("who",), message=("what",))

    found = item(b'{"when":1796040000,"time":"never","how.bad":"E","who":"a","what":"b"}', names)

    assert (found["time"], found["level"], found["service"], found["message"]) == (
        "2026-11-30T12:00:00Z", "ERROR", "a", "b"
    )  # fmt: skip
    assert found["fields"] == {"time": "never"}


@pytest.mark.parametrize("service", ["", " ", "x" * 121, "a\\u001b[31m", 7, None, ["a"]])
def test_what_cannot_be_a_service_is_that_of_the_file(service: Any) -> None:
    assert item(b'{"ts":1,"service":%s}' % orjson.dumps(service).replace(b"\\\\", b"\\"))["service"] == "file"


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"null", b"[1]", b'"text"', b"plain text", b"{", b'{"level":"INFO"}', b'{"ts":NaN}', b'{"ts":1,"a":NaN}',
        b'{"ts":1}{"ts":2}', b'{"ts":1,"a":"\xff"}', b'{"ts":1,"a":"\\ud800"}', b'{"ts":1,"a":' + b"[" * 5_000,
        b'{"ts":1,"a":' + b"9" * 5_000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_object_with_a_time_is_no_line(raw: bytes) -> None:
    assert item(raw) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["time", "ts", "level", "log", "service", "message", "msg", "x"])


@given(st.one_of(st.binary(), st.dictionaries(KEYS, JSON, max_size=5).map(orjson.dumps)))
def test_a_line_is_always_evidence_that_can_be_written_as_json_or_none(raw: bytes) -> None:
    found = item(raw)

    if found is not None:
        assert orjson.loads(orjson.dumps(found))["time"] == found["time"]
        assert isinstance(found["message"], str)


DEEP = b'{"ts":1,"msg":"top","a":' + b'{"a":' * 500 + b'["deep",502,true,null]' + b"}" * 500 + b"}"


def test_all_texts_of_a_line_are_told_however_deep_they_stand() -> None:
    record = dated(DEEP, NAMES)

    assert record is not None
    assert set(read_record(record, NAMES).texts()) == {"top", "deep", "502", "true"}


@pytest.mark.parametrize("raw", [DEEP, DEEP.replace(b'"msg":"top","a"', b'"msg"')])
def test_what_stands_deep_is_evidence_by_the_names_that_lead_there(raw: bytes) -> None:
    written = orjson.dumps(item(raw)).decode().replace("\\", "")

    assert 'a.a.a.a.0":"deep"' in written
    assert 'a.a.a.a.1":502' in written


def test_the_first_fields_of_a_line_are_evidence_and_empty_ones_are_values() -> None:
    many = {
        "ts": 1,
        "error": {"code": 7, "causes": [{"at": "db"}, {}], "none": []},
        **{f"f{n}": n for n in range(99)},
    }

    found = item(orjson.dumps(many))["fields"]

    assert list(found.items())[:5] == [
        ("error.code", 7), ("error.causes.0.at", "db"), ("error.causes.1", {}), ("error.none", []), ("f0", 0)
    ]  # fmt: skip
    assert len(found) == MAX_FIELDS

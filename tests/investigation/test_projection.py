"""What a model may see of a source: nothing that is not listed, no secret, and never more than the limit."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.errors import PermanentError
from agrajag.investigation.evidence import Found, Scope
from agrajag.investigation.projection import MIN_BYTES, Projection, project
from agrajag.investigation.requests import ToolName
from tests.core.secrets import PLANTED, Planted
from tests.investigation.records import NOW

LIMIT = 8_192
SCOPE = Scope(source="logs", subjects=("checkout",), since=NOW - timedelta(hours=1), until=NOW)
LISTED = {
    ToolName.LOOKUP_KNOWLEDGE: {"document", "heading", "text"},
    ToolName.QUERY_LOGS: {"time", "level", "service", "message", "fields"},
}


def shown(tool: ToolName, *items: dict[str, Any], limit: int = LIMIT, **changes: Any) -> dict[str, Any]:
    return project(tool, Found(items, changes.pop("scope", SCOPE), **changes), limit).content


def cell(value: Any, name: str = "c") -> Any:
    (row,) = shown(ToolName.QUERY_MYSQL, {name: value})["items"]
    return row[name]


texts = st.one_of(
    st.text(max_size=60),
    st.text(st.sampled_from('x"\\\n\t\x00\u202e\ud800é界😀'), max_size=3_000),
    st.sampled_from(PLANTED).map(lambda planted: planted.leaking),
)
values = st.one_of(
    texts,
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.decimals(),
    st.datetimes(timezones=st.just(UTC)),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.binary(max_size=40),
    st.lists(texts, max_size=2),
    st.dictionaries(texts, texts, max_size=2),
)
names = st.one_of(texts, st.sampled_from(["password", "id", "token", "secret"]))
named = st.dictionaries(names, values, min_size=1, max_size=50)
listed = st.fixed_dictionaries(
    {"message": values.filter(lambda value: value is not None), "text": texts},
    optional={
        "time": values,
        "level": values,
        "service": values,
        "fields": st.one_of(named, values),
        "document": values,
        "heading": values,
        "raw": values,
    },
)
scopes = st.builds(
    Scope,
    source=texts,
    subjects=st.lists(texts, max_size=40).map(tuple),
    since=st.none() | st.datetimes(timezones=st.just(UTC)),
    until=st.none() | st.datetimes(timezones=st.just(UTC)),
)


@st.composite
def findings(draw: st.DrawFn) -> tuple[ToolName, Found]:
    tool = draw(st.sampled_from(ToolName))
    item = named if tool is ToolName.QUERY_MYSQL else listed
    items = draw(st.lists(item, max_size=12))
    return tool, Found(items, draw(scopes), truncated=bool(items) and draw(st.booleans()))


@settings(max_examples=60)
@given(finding=findings(), limit=st.integers(MIN_BYTES, 20_000))
def test_an_observation_never_exceeds_its_limit_and_never_shows_nothing_of_what_was_found(
    finding: tuple[ToolName, Found], limit: int
) -> None:
    tool, found = finding
    projection = project(tool, found, limit)
    content = projection.content
    assert len(orjson.dumps(content)) <= limit
    assert set(content) == ({"items", "scope", "truncated"} if found.items else {"scope"})
    assert projection.is_empty is (not found.items)
    if found.items:
        assert all(content["items"])
        assert len(content["items"]) >= min(len(found.items), 4)
        assert content["truncated"] or len(content["items"]) == len(found.items)
        assert content["truncated"] >= found.truncated


@settings(max_examples=60)
@given(finding=findings(), limit=st.integers(MIN_BYTES, 20_000))
def test_an_observation_holds_listed_fields_and_single_values_alone(
    finding: tuple[ToolName, Found], limit: int
) -> None:
    tool, found = finding
    for item in project(tool, found, limit).content.get("items", ()):
        single = dict(item)
        if tool in LISTED:
            assert set(item) <= LISTED[tool]
            single.update(single.pop("fields", {}))
        for value in single.values():
            assert value is None or isinstance(value, str | int | float | bool)
            assert not isinstance(value, str) or "\x00" not in value


@settings(max_examples=60)
@given(finding=findings(), limit=st.integers(MIN_BYTES, 20_000))
def test_projecting_a_projection_changes_nothing(finding: tuple[ToolName, Found], limit: int) -> None:
    tool, found = finding
    once = project(tool, found, limit)
    items, truncated = once.content.get("items", ()), once.content.get("truncated", False)
    assert project(tool, Found(items, once.scope, truncated), limit) == once


def places(text: str) -> list[Projection]:
    """The text in every place where a source can put one."""
    scope = Scope(source=text, subjects=(text,))
    return [
        *(
            project(ToolName.LOOKUP_KNOWLEDGE, Found([{name: text}], scope), LIMIT)
            for name in ("document", "text")
        ),
        *(
            project(ToolName.QUERY_LOGS, Found([{name: text}], SCOPE), LIMIT)
            for name in ("time", "level", "service", "message")
        ),
        project(ToolName.QUERY_LOGS, Found([{"message": "m", "fields": {text: text}}], SCOPE), LIMIT),
        project(ToolName.QUERY_MYSQL, Found([{text: text, "note": text}], SCOPE), LIMIT),
        project(ToolName.QUERY_MYSQL, Found([{"note": text}] * 20, SCOPE), MIN_BYTES),
    ]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_no_secret_is_shown_wherever_a_source_has_it_nor_put_on_record(planted: Planted) -> None:
    for padded in (planted.leaking, "x" * 150 + " " + planted.leaking, planted.leaking + "\n" + "y" * 9_000):
        for projection in places(padded):
            told = orjson.dumps(projection.content).decode() + repr(projection)
            assert planted.secret not in told
            assert orjson.dumps(planted.secret).decode()[1:-1] not in told


def test_a_value_is_a_secret_where_only_its_name_says_so() -> None:
    row = {"user": "alice", "password": "hunter2", "api_key": "abcdef", "pin": 1234, "attempts": 3}
    (told,) = shown(ToolName.QUERY_MYSQL, row)["items"]
    assert told == {**row, "password": "[redacted]", "api_key": "[redacted]", "pin": "[redacted]"}
    (line,) = shown(ToolName.QUERY_LOGS, {"message": "m", "fields": {"Authorization": "Bearer t0k"}})["items"]
    assert line["fields"] == {"Authorization": "[redacted]"}
    for hostile in ('"', "\\", "\n", "hun\nter2", 'a"b', "it's mine"):
        assert cell(f"{hostile}hunter2", "password") == "[redacted]"


def test_ordinary_names_and_values_stay_as_they_are() -> None:
    row = {"id": 7, "session_id": "sess_abc", "status": None, "ok": True, "ratio": 0.5, "token_count": 12}
    assert shown(ToolName.QUERY_MYSQL, row)["items"] == [row]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (datetime(2026, 5, 23, 12, tzinfo=UTC), "2026-05-23T12:00:00+00:00"),
        (date(2026, 5, 23), "2026-05-23"),
        (time(12, 30), "12:30:00"),
        (timedelta(minutes=3), "0:03:00"),
        (Decimal("10.50"), "10.50"),
        (UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (float("nan"), "nan"),
        (2**64 - 1, 2**64 - 1),
        (-(2**63), -(2**63)),
        (b"\xff\x00secret", "[8 bytes]"),
        ([1], "[list]"),
        ({"a": 1}, "[dict]"),
        (2**64, "[a number of 65 bits]"),
        pytest.param(10**5_000, "[a number of 16610 bits]", id="digits"),
        (4111111111111111, "[redacted]"),
        (Decimal("4111111111111111"), "[redacted]"),
        ("a\u202eb\x00c", "a\ufffdb\u2400c"),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_a_value_is_told_as_json_has_it_or_by_its_kind(value: Any, told: Any) -> None:
    assert cell(value) == told


def test_what_is_not_wholly_told_sets_truncated() -> None:
    for row in ({"c": b"1"}, {"c": [1]}, {"c": "x" * 1_001}, {f"c{number}": number for number in range(41)}):
        assert shown(ToolName.QUERY_MYSQL, row)["truncated"] is True
    assert shown(ToolName.QUERY_MYSQL, {"c": "x" * 1_000})["truncated"] is False
    assert shown(ToolName.QUERY_MYSQL, {"c": 1}, truncated=True)["truncated"] is True


def test_items_go_from_the_end_and_each_may_have_its_share() -> None:
    lines = [{"message": f"{number} " + "x" * 1_500} for number in range(10)]
    content = shown(ToolName.QUERY_LOGS, *lines)
    assert [line["message"].split()[0] for line in content["items"]] == ["0", "1", "2", "3", "4"]
    assert content["truncated"] is True
    (alone,) = shown(ToolName.LOOKUP_KNOWLEDGE, {"text": "界" * 4_000})["items"]
    assert 2_000 <= len(alone["text"].encode()) <= LIMIT


def test_of_an_item_that_is_too_large_the_longest_texts_are_cut_first() -> None:
    (line,) = shown(ToolName.QUERY_LOGS, {"service": "checkout", "message": "é" * 1_900}, limit=MIN_BYTES)[
        "items"
    ]
    assert line["service"] == "checkout"
    assert line["message"].endswith("…")


def test_a_cut_divides_no_marker() -> None:
    told = {cell("x" * length + " pwd=hunter2 " + "y" * 1_000)[-12:] for length in range(970, 1_000)}
    assert all("[" not in end or "[redacted]" in end for end in told)
    assert any("[redacted]" in end for end in told)


def test_columns_of_one_name_are_told_apart() -> None:
    long = "n" * 64
    (row,) = shown(ToolName.QUERY_MYSQL, {f"{long}1": 1, f"{long}2": 2, f"{long}3": 3, " ": 4, "": 5})[
        "items"
    ]
    assert list(row.values()) == [1, 2, 3, 4, 5]
    assert all(len(name) <= 64 for name in row)


def test_a_scope_says_that_it_has_more_subjects_than_are_told() -> None:
    scope = Scope(source="mysql", subjects=tuple(f"table_{number}" for number in range(100)))
    projection = project(ToolName.QUERY_MYSQL, Found([], scope), LIMIT)
    assert projection.scope.subjects[:2] == ("table_0", "table_1")
    assert projection.scope.subjects[-1] == "…"
    assert projection.content == {"scope": projection.scope.model_dump(mode="json", exclude_none=True)}


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (ToolName.LOOKUP_KNOWLEDGE, Found([{"message": "a line"}], SCOPE)),
        (ToolName.QUERY_LOGS, Found([{"message": None, "raw": "x"}], SCOPE)),
        (ToolName.QUERY_MYSQL, Found([{}], SCOPE)),
        (ToolName.QUERY_LOGS, Found([], SCOPE, truncated=True)),
    ],
)
def test_what_no_source_may_give_back_is_an_error_and_not_an_empty_observation(
    tool: ToolName, found: Found
) -> None:
    with pytest.raises(PermanentError, match=tool.value):
        project(tool, found, LIMIT)

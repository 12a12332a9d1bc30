"""Records of this release and of earlier ones are described so that each reads the other's."""

from typing import Any

import pytest

from agrajag.schemas.json_schema import record_schema
from agrajag.schemas.records import RECORDS
from tests.upgrades.compatible import lost, unread
from tests.upgrades.recording import recorded_schemas, releases

NOW = {record.file_name: record_schema(record) for record in RECORDS}


def an_object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize("release", releases())
def test_this_release_reads_what_an_earlier_one_wrote(release: str) -> None:
    before = recorded_schemas(release)
    found = {name: unread(schema, NOW[name]) for name, schema in before.items()}
    assert not any(found.values()), found


@pytest.mark.parametrize("release", releases())
def test_an_earlier_release_reads_what_this_one_writes_while_both_run(release: str) -> None:
    before = recorded_schemas(release)
    found = {name: unread(NOW[name], schema) for name, schema in before.items()}
    assert not any(found.values()), found


@pytest.mark.parametrize("release", releases())
def test_no_field_of_an_earlier_release_has_gone(release: str) -> None:
    before = recorded_schemas(release)
    found = {name: lost(schema, NOW[name]) for name, schema in before.items()}
    assert not any(found.values()), found


WORD = {"type": "string", "maxLength": 10}
KINDS = {"type": "string", "enum": ["a", "b"]}


@pytest.mark.parametrize(
    ("written", "readers", "why"),
    [
        (an_object(a=WORD), an_object(a={"type": "integer"}), "$.a: string where a reader knows integer"),
        (an_object(a=WORD), an_object(a={**WORD, "maxLength": 9}), "$.a: maxLength of a reader is 9"),
        (an_object(a=WORD), an_object(a={**WORD, "minLength": 1}), "$.a: minLength of a reader is 1"),
        (an_object(a=WORD), an_object(a={**WORD, "pattern": "^x"}), "$.a: another pattern"),
        (an_object(a=WORD), an_object(("a",), a=WORD), "$.a: a reader needs it"),
        (
            an_object(a=KINDS),
            an_object(a={**KINDS, "enum": ["a"]}),
            "$.a: values that a reader does not know",
        ),
        (an_object(a=WORD), an_object(a=KINDS), "$.a: values that a reader does not know"),
        (
            an_object(a={"type": "array", "items": WORD}),
            an_object(a={"type": "array", "items": KINDS}),
            "$.a: values that a reader does not know",
        ),
        (
            an_object(a={"anyOf": [WORD, {"type": "null"}]}),
            an_object(a=WORD),
            "$.a: null where a reader knows string",
        ),
    ],
)
def test_what_a_reader_would_refuse_is_told_with_its_place(
    written: dict[str, Any], readers: dict[str, Any], why: str
) -> None:
    assert unread(written, readers) == [why]


def test_a_new_field_a_wider_limit_and_another_choice_are_no_trouble() -> None:
    before = an_object(("a",), a=WORD, b=KINDS)
    wider = {"anyOf": [{**WORD, "maxLength": 20}, {"type": "null"}]}
    now = an_object(("a",), a=wider, b={**KINDS, "enum": ["a", "b", "c"]}, c=WORD)
    assert unread(before, now) == []
    assert lost(before, now) == []


def test_a_field_that_has_gone_is_told_wherever_it_stood() -> None:
    inner = {"type": "array", "items": an_object(b=WORD, c=WORD)}
    assert lost(an_object(a=inner), an_object(a={"type": "array", "items": an_object(b=WORD)})) == ["$.a.c"]
    assert lost(an_object(a=WORD), an_object()) == ["$.a"]


def test_a_schema_that_speaks_of_itself_comes_to_an_end() -> None:
    tree = {
        "$ref": "#/$defs/Tree",
        "$defs": {"Tree": an_object(inside={"$ref": "#/$defs/Tree"}, name=WORD)},
    }
    assert unread(tree, tree) == []
    assert lost(tree, tree) == []

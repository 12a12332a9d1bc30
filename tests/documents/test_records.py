"""The records of documents: written, read back, refused, and the newest of each kept."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.documents.cascade import RULES_PATH, DocumentName
from agrajag.documents.records import (
    MAX_RECORD_BYTES,
    DocumentChange,
    DocumentTable,
    a_document,
    content_hash,
    document_change,
    document_output,
    removal_output,
)
from agrajag.errors import InputError
from agrajag.model.answers import MAX_CONTENT
from agrajag.wire.outputs import Output
from tests.builders import NOW
from tests.documents.texts import rules_at
from tests.wire.records import received

_PARTS = st.sampled_from(["acme", "-", "a|b", "%2D", "é"])
_NAMES = st.builds(DocumentName, _PARTS, st.none() | _PARTS, st.sampled_from([RULES_PATH, "_vance/a|b.yaml"]))


def _received(output: Output, **changes: Any) -> Any:
    given = {"value": output.value, "key": output.key, "headers": output.headers} | changes
    return received(**given)


@given(_NAMES, st.text(max_size=20), st.integers(0, 2**53))
def test_what_is_written_is_read_back(name: DocumentName, content: str, revision: int) -> None:
    document = a_document(name, content, revision, datetime(2026, 1, 1, tzinfo=UTC))
    written = document_change(_received(document_output("documents", document)))
    assert written == DocumentChange(name, revision, document)
    removed = document_change(_received(removal_output("documents", name, revision)))
    assert removed == DocumentChange(name, revision, None)


_GOOD = document_output("documents", a_document(rules_at("acme"), "patterns: []", 7, NOW))
_GONE = removal_output("documents", rules_at("acme"), 7)
_LIE = a_document(rules_at("acme"), "patterns: []", 7, NOW).with_changes(content_hash=content_hash("other"))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (_received(_GOOD, key=b"globex|-|" + RULES_PATH.encode()), "invalid_field"),
        (_received(_GOOD, key=None), "invalid_field"),
        (_received(_GOOD, value=b"{"), "not_json"),
        (_received(_GOOD, value=b'{"tenantId": "acme"}'), "missing_field"),
        (_received(_GOOD, value=_LIE.to_json()), "invalid_field"),
        (_received(_GOOD, value=b" " * (MAX_RECORD_BYTES + 1)), "too_large"),
        (_received(_GONE, headers=()), "missing_field"),
        (_received(_GONE, headers=(("revision", b"soon"),)), "invalid_field"),
        (_received(_GONE, key=b"acme"), "invalid_field"),
        (_received(_GONE, key=b"acme|%2Dx|p"), "invalid_field"),
        (_received(_GONE, key=b"acme||p"), "invalid_field"),
        (_received(_GONE, key=b"\xff|-|p"), "invalid_field"),
        (_received(_GONE, key=None), "invalid_field"),
    ],
)
def test_a_record_that_says_nothing_usable_is_refused(record: Any, reason: str) -> None:
    with pytest.raises(InputError) as refused:
        document_change(record)
    assert refused.value.reason == reason


def test_the_longest_document_is_one_record_whatever_its_signs_and_one_that_is_none_is_refused() -> None:
    for sign in ("a", "\n", '"', "é"):
        document = a_document(
            rules_at("acme"), sign * MAX_CONTENT if sign == "a" else sign * 1_900_000, 1, NOW
        )
        assert document_change(_received(document_output("documents", document))).document == document
    with pytest.raises(InputError, match="makes a record of"):
        a_document(rules_at("acme"), "語" * MAX_CONTENT, 1, NOW)


_CHANGES = st.lists(
    st.builds(
        lambda tenant, revision, gone: DocumentChange(
            rules_at(tenant),
            revision,
            None if gone else a_document(rules_at(tenant), str(revision), revision, NOW),
        ),
        st.sampled_from(["acme", "globex"]),
        st.integers(0, 5),
        st.booleans(),
    ),
    max_size=10,
    unique_by=lambda change: (change.name, change.revision),
)


@given(_CHANGES, st.randoms(), st.booleans())
def test_the_order_and_the_number_of_times_of_changes_do_not_matter(
    changes: list[DocumentChange], chance: Any, twice: bool
) -> None:
    first, second = DocumentTable(), DocumentTable()
    for change in changes:
        first.apply(change)
    shuffled = [*changes, *changes] if twice else [*changes]
    chance.shuffle(shuffled)
    for change in shuffled:
        second.apply(change)
    assert first.documents == second.documents
    newest = {change.name: change for change in sorted(changes, key=lambda change: change.revision)}
    assert first.documents == {name: change.document for name, change in newest.items() if change.document}
    assert all(first.revision(name) == change.revision for name, change in newest.items())


def test_a_change_that_is_not_newer_is_told() -> None:
    table = DocumentTable()
    change = DocumentChange(rules_at("acme"), 3, a_document(rules_at("acme"), "a", 3, NOW))
    assert [table.apply(change), table.apply(change), table.apply(change._replace(revision=2))] == [
        True,
        False,
        False,
    ]

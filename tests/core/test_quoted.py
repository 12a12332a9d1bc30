"""What is quoted in the midst of a sentence is found, whatever the marks; what belongs to a structure is not."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.quoted import MAX_QUOTED, without_quotations


@pytest.mark.parametrize(
    "text",
    [
        "Page 'connection refused' does not exist",
        'no results for "connection refused"',
        "no results for “connection refused”",
        "Keine Treffer für „connection refused“",
        "aucun résultat pour «connection refused»",
        "old text `connection refused` was not found",
        "title must be unique: 'connection refused'",
        "You asked: 'it's connection refused'",
        '{"error": "title must be unique: \'connection refused\'"}',
        json.dumps({"message": 'note "connection refused" is gone'}),
    ],
)
def test_a_quotation_is_left_out_and_the_length_stays(text: str) -> None:
    left = without_quotations(text)
    assert "connection refused" not in left
    assert len(left) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"error": "connection refused"}',
        '{\n  "errors": [\n    "connection refused"\n  ]\n}',
        "{'message': 'connection refused'}",
        "('connection refused', ConnectionRefusedError(111, 'connection refused'))",
        'level=error err="connection refused" host=a',
        'rpc error: code = Unavailable desc = "connection refused"',
        'Error: "connection refused"',
        "Command failed with error 6 (HostUnreachable): 'connection refused'",
        "Client error '503 connection refused' for url 'x'",
        "the users' connection refused, and it's theirs",
        "can't connect: connection refused",
        "connection refused",
        "'" + "x" * MAX_QUOTED + " connection refused'",
    ],
)
def test_what_stands_in_no_quotation_stays(text: str) -> None:
    assert "connection refused" in without_quotations(text)


def test_text_without_marks_is_the_very_same() -> None:
    text = "connection refused"
    assert without_quotations(text) is text


@given(st.text("'\"`\\ab{}:, \n“”", max_size=60))
def test_nothing_but_what_stands_between_marks_changes(text: str) -> None:
    left = without_quotations(text)
    assert len(left) == len(text)
    assert all(now in (before, "_") for before, now in zip(text, left, strict=True))


@pytest.mark.parametrize("piece", ["'", '"', "`", '\\"', "' ", "'a ", '"a', "a'b", " 'a'b", "\\", "“", "“a"])
def test_the_longest_text_of_marks_costs_little(piece: str) -> None:
    text = piece * (65_536 // len(piece))
    started = time.process_time()
    without_quotations(text)
    assert time.process_time() - started < 1.0

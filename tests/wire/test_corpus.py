"""A line of a corpus becomes the error that a reporter would send; a bad one is named by file and line."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from agrajag.core.score import Labelled
from agrajag.model.enums import Classification, Transport
from agrajag.wire.corpus import read_corpus
from tests.builders import NOW

_LINE: dict[str, Any] = {
    "id": "slack-archived",
    "source": "somewhere",
    "family": "slack-web-api",
    "transport": "http",
    "toolName": "post_message",
    "exceptionType": "slack_sdk.errors.SlackApiError",
    "httpStatus": 200,
    "headers": {"Retry-After": "7"},
    "body": '{"ok": false, "error": "is_archived"}',
    "bodyPadBefore": 0,
    "errorCode": "is_archived",
    "errorCodePath": "error",
    "expectedClassification": "USER_INPUT",
    "expectedCooldownSeconds": 7,
    "ambiguous": True,
    "alternatives": ["UNCLEAR"],
    "fidelity": "documented",
}


def line(**changes: Any) -> bytes:
    return orjson.dumps(_LINE | changes)


def read(*lines: bytes) -> tuple[Labelled, ...]:
    corpus = read_corpus(lines, "open.jsonl", NOW)
    assert corpus.problems == ()
    return corpus.records


def test_a_line_is_the_error_that_a_reporter_of_the_failure_sends() -> None:
    (record,) = read(line())
    event = record.arrival.event
    assert (event.tool_name, event.transport, event.event_id) == ("post_message", Transport.HTTP, record.id)
    assert (event.error.http_status, event.error.error_code) == (200, "is_archived")
    assert (event.error.exception_type, event.error.body) == (_LINE["exceptionType"], _LINE["body"])
    assert event.error.headers == _LINE["headers"]
    assert (record.family, record.fidelity, record.cooldown_seconds) == ("slack-web-api", "documented", 7.0)
    assert record.expected is Classification.USER_INPUT
    assert record.alternatives == {Classification.UNCLEAR}


def test_a_failure_without_a_tools_name_is_of_a_tool_of_its_family() -> None:
    (record,) = read(line(toolName=None, transport="telepathy"))
    assert record.arrival.event.tool_name == "slack-web-api"
    assert record.arrival.event.transport is Transport.OTHER


def test_filler_stands_before_the_body_and_is_cut_as_on_arrival() -> None:
    short, long = read(line(bodyPadBefore=9_000), line(id="long", bodyPadBefore=70_000))
    assert (short.arrival.event.error.body or "").endswith("." + _LINE["body"])
    assert len(short.arrival.event.error.body or "") == 9_000 + len(_LINE["body"])
    assert len(long.arrival.event.error.body or "") == 65_536
    assert long.arrival.event.error.truncated


@pytest.mark.parametrize(
    ("date", "at"),
    [
        ("Thu, 01 Jan 2026 00:00:15 GMT", datetime(2026, 1, 1, 0, 0, 15, tzinfo=UTC)),
        ("soon", NOW),
        (None, NOW),
    ],
)
def test_it_happened_when_the_response_says_else_now(date: str | None, at: datetime) -> None:
    (record,) = read(line(headers={} if date is None else {"DATE": date}))
    assert abs(record.arrival.appended_at - at) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "Invalid JSON"),
        (line(expectedClassification="BROKEN"), "expectedClassification: "),
        (line(httpStatus=7), "httpStatus"),
        (line(ambiguous=False), "ambiguous must be true exactly where there are alternatives"),
        (line(family=None), "family: "),
        (line(bodyPadBefore=-1), "bodyPadBefore: "),
        (line(), "'slack-archived' stands twice"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(bad: bytes, reason: str) -> None:
    corpus = read_corpus([line(), b"", bad, line(id="next")], "open.jsonl", NOW)
    assert [record.id for record in corpus.records] == ["slack-archived", "next"]
    (problem,) = corpus.problems
    assert str(problem).startswith("open.jsonl: line 3: ")
    assert reason in str(problem)

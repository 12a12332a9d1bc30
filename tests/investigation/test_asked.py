"""What makes two requests the same, and what of one stands on record."""

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.asked import MAX_CHARACTERS, canonical, input_hash, recorded_input
from agrajag.investigation.requests import KnowledgeRequest, LogLevel, LogRequest, MysqlRequest, ToolName
from tests.core.secrets import PLANTED, Planted

SINCE = datetime(2026, 5, 23, 12, tzinfo=UTC)
UNTIL = SINCE + timedelta(hours=1)


def test_what_is_left_out_is_the_same_as_its_default_spelled_out() -> None:
    short = KnowledgeRequest.model_validate_json('{"query": "pool"}')
    long = KnowledgeRequest.model_validate_json('{"limit": 5, "query": "pool"}')
    tool = ToolName.LOOKUP_KNOWLEDGE
    assert canonical(tool, short) == canonical(tool, long)
    assert input_hash(short) == input_hash(long)


def test_the_hash_is_that_of_json_in_the_order_of_its_names_without_spaces() -> None:
    assert input_hash(KnowledgeRequest(query="池")) == sha256('{"limit":5,"query":"池"}'.encode()).hexdigest()


@given(hours=st.integers(-14, 14))
def test_one_moment_is_the_same_in_every_zone(hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    here, there = LogRequest(since=SINCE, until=UNTIL), LogRequest(since=SINCE.astimezone(zone), until=UNTIL)
    assert canonical(ToolName.QUERY_LOGS, here) == canonical(ToolName.QUERY_LOGS, there)


def test_requests_that_differ_in_one_field_or_in_their_tool_are_different() -> None:
    asked = LogRequest(since=SINCE, until=UNTIL)
    others = [
        asked.model_copy(update=change)
        for change in (
            {"level": LogLevel.WARN},
            {"contains": "a"},
            {"pattern": "a"},
            {"limit": 21},
            {"service": "a"},
        )
    ]
    assert len({canonical(ToolName.QUERY_LOGS, each) for each in [asked, *others]}) == 6
    assert len({input_hash(each) for each in [asked, *others]}) == 6
    request = KnowledgeRequest(query="a")
    assert len({canonical(tool, request) for tool in ToolName}) == 3


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_no_secret_of_a_request_stands_on_record(planted: Planted) -> None:
    recorded = recorded_input(MysqlRequest(sql=planted.leaking))
    assert planted.secret not in recorded["sql"]


def test_what_stands_on_record_is_bounded_and_has_no_text_that_cannot_be_seen() -> None:
    # A request is bounded by its own type; what redaction makes of it may be longer.
    long = MysqlRequest(sql="pwd=a1 " * 570)
    assert len(recorded_input(long)["sql"]) == MAX_CHARACTERS
    assert recorded_input(KnowledgeRequest(query="a\u202eb\x00")) == {"query": "a\ufffdb\u2400", "limit": 5}


def test_what_is_no_text_stands_as_json() -> None:
    recorded = recorded_input(LogRequest(since=SINCE, until=UNTIL, level=LogLevel.WARN))
    assert (recorded["since"], recorded["level"], recorded["limit"]) == ("2026-05-23T12:00:00Z", "WARN", 20)
    assert recorded["service"] is None

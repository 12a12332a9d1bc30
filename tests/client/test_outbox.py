from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from agrajag.client.call import Call
from agrajag.client.drops import Drops
from agrajag.client.failures import Facts
from agrajag.client.outbox import Limits, Outbox, Report
from agrajag.metrics import DropReason
from agrajag.model.events import ToolCallError, ToolCallSucceeded

BEGAN = datetime(2026, 12, 1, 12, tzinfo=UTC)
CALL = Call("acme", "search", user_id="alice")
TIMEOUT = Facts("TimeoutError", message="late")


def _outbox(**limits: float) -> tuple[Outbox, Drops]:
    drops = Drops()
    return Outbox(Limits(**limits), drops, "box"), drops  # type: ignore[arg-type]


def _fail(outbox: Outbox, at: float, facts: Facts = TIMEOUT, call: Call = CALL) -> str | None:
    return outbox.failed(call, facts, BEGAN + timedelta(seconds=at), at)


def _taken(outbox: Outbox) -> list[Report]:
    while (report := outbox.next_unredacted()) is not None:
        report.redact()
    taken = outbox.take(1_000_000)
    outbox.done()
    return taken


def test_the_first_failure_is_told_at_once_and_those_like_it_as_one_when_the_window_ends() -> None:
    outbox, _ = _outbox(window_seconds=5)
    ids = [_fail(outbox, at) for at in (0, 1, 2.5, 4)]
    (first,) = _taken(outbox)
    assert (first.event_id, first.count) == (ids[0], 1)
    assert outbox.end_windows(4.9) == 5 - 4.9
    assert _taken(outbox) == []
    assert outbox.end_windows(5) is None
    (repeats,) = _taken(outbox)
    event = repeats.event()
    assert isinstance(event, ToolCallError)
    assert set(ids[1:]) == {event.event_id}
    assert ids[0] != ids[1]
    assert event.count == 3
    assert (event.first_at, event.last_at) == (BEGAN + timedelta(seconds=1), BEGAN + timedelta(seconds=4))
    assert event.occurred_at == event.last_at


def test_a_failure_after_the_window_is_told_at_once_again_with_what_was_gathered_before_it() -> None:
    outbox, _ = _outbox(window_seconds=5)
    for at in (0, 1, 6):
        _fail(outbox, at)
    assert [report.count for report in _taken(outbox)] == [1, 1, 1]


def test_failures_of_another_call_or_another_kind_are_told_apart() -> None:
    outbox, _ = _outbox(window_seconds=5)
    _fail(outbox, 0)
    _fail(outbox, 0, call=Call("acme", "search", user_id="bob"))
    _fail(outbox, 0, Facts("TimeoutError", message="later"))
    assert [report.count for report in _taken(outbox)] == [1, 1, 1]


def test_nothing_is_taken_that_is_not_redacted() -> None:
    outbox, _ = _outbox()
    _fail(outbox, 0, Facts("E", message="password=hunter2hunter2"))
    assert outbox.take(10) == []
    (report,) = _taken(outbox)
    assert report.facts is None
    event = report.event()
    assert isinstance(event, ToolCallError)
    assert "hunter2" not in event.to_json().decode()


def test_the_oldest_goes_where_there_is_no_more_room_and_counts_with_all_that_it_stood_for() -> None:
    outbox, drops = _outbox(reports=2, window_seconds=5)
    _fail(outbox, 0)
    _fail(outbox, 1)
    _fail(outbox, 1.5)
    outbox.end_windows(5)
    newer = [_fail(outbox, 6 + at, Facts(message=str(at))) for at in range(2)]
    assert [report.event_id for report in _taken(outbox)] == newer
    assert drops.counts() == {DropReason.FULL: 3}


def test_long_texts_take_more_of_the_room() -> None:
    outbox, drops = _outbox(characters=1_000)
    for number in range(4):
        _fail(outbox, 0, Facts(message=str(number), body="b" * 400))
    assert [report.error.message for report in _taken(outbox) if report.error] == ["2", "3"]
    assert drops.counts() == {DropReason.FULL: 2}


def test_a_flood_that_cannot_be_redacted_in_time_is_counted() -> None:
    outbox, drops = _outbox()
    ids = [_fail(outbox, 0, Facts(message=str(number))) for number in range(2_010)]
    assert ids[1_999] is not None
    assert ids[2_000:] == [None] * 10
    assert drops.counts() == {DropReason.FLOODED: 10}


def test_what_is_taken_is_the_same_until_it_is_done_and_no_longer_dropped() -> None:
    outbox, drops = _outbox(reports=1)
    _fail(outbox, 0)
    (report,) = (outbox.next_unredacted(),)
    assert report is not None
    report.redact()
    assert outbox.take(5) == outbox.take(5) == [report]
    _fail(outbox, 1, Facts(message="other"))
    assert drops.counts() == {}
    assert outbox.holds_until(report.serial)
    outbox.done()
    assert not outbox.holds_until(report.serial)
    assert len(outbox) == 1


def test_a_success_is_told_as_one() -> None:
    outbox, _ = _outbox()
    event_id = outbox.succeeded(CALL, BEGAN)
    (report,) = _taken(outbox)
    assert report.event() == ToolCallSucceeded(
        event_id=event_id, occurred_at=BEGAN, tenant_id="acme", tool_name="search", user_id="alice"
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 3), st.booleans()), max_size=60),
    st.integers(1, 8),
    st.sampled_from([0.0, 1.0, 5.0]),
)
def test_every_failure_is_always_told_or_counted_as_dropped_exactly_once(
    steps: list[tuple[int, float, bool]], room: int, window_seconds: float
) -> None:
    outbox, drops = _outbox(reports=room, window_seconds=window_seconds)
    now, told = 0.0, 0
    for kind, pause, is_taken in steps:
        now += pause
        _fail(outbox, now, Facts(message=str(kind)))
        if is_taken:
            outbox.end_windows(now)
            told += sum(report.count for report in _taken(outbox))
    left = outbox.close()
    assert told + left + sum(drops.counts().values()) == len(steps)
    assert len(outbox) == 0

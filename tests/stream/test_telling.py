"""What is told at once and what is held back, and that nothing that was held back stays untold."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.core.health import only_counts_on
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import (
    HealthCounters,
    HealthEntry,
    HistoryEntry,
    LastDiagnosis,
    OverrideFacet,
    ToolHealth,
)
from agrajag.model.keys import health_key
from agrajag.stream.memory import UNTOLD_HEADER
from agrajag.stream.reemission import written_again
from agrajag.stream.steps import StepResult
from agrajag.stream.telling import Telling
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_cooldown, a_health, an_error
from tests.stream.counting import Count
from tests.stream.in_process import HOME, KEY, Counting
from tests.stream.test_triaging import REFUSED, Partition, of
from tests.stream.workers import Run

SEARCH = health_key("acme", Scope.PROJECT, "essays", "search").encode()


def fail(partition: Partition, number: int, seconds: float, **report: Any) -> StepResult[HealthEntry]:
    """One error, so many seconds after now."""
    partition.now = NOW + timedelta(seconds=seconds)
    event = an_error(event_id=f"e{number}", occurred_at=partition.now, **({"http_status": 503} | report))
    return partition.take([partition.record(event.to_json(), partition.now)])


def told(result: StepResult[HealthEntry]) -> list[int]:
    """The error counts of the documents that the result tells."""
    values = [output.value for output in of(Topic.HEALTH_CHANGED, result.outputs)]
    return [ToolHealth.model_validate_json(value or b"").counters.errors for value in values]


def test_a_change_of_counters_alone_is_told_at_most_once_in_ten_seconds() -> None:
    partition = Partition()
    results = [fail(partition, number, number * 2.5) for number in range(9)]
    assert [told(result) for result in results] == [[1], [], [], [], [5], [], [], [], [9]]
    assert [set(result.untold) for result in results[:5]] == [set(), {SEARCH}, {SEARCH}, {SEARCH}, set()]


def test_a_status_a_job_and_a_cooldown_are_told_at_once() -> None:
    partition = Partition()
    assert told(fail(partition, 1, 0.0)) == [1]
    assert told(fail(partition, 2, 0.1, http_status=404)) == [2]
    assert told(fail(partition, 3, 0.2, http_status=429)) == [3]
    assert told(fail(partition, 4, 0.3, http_status=None, **REFUSED)) == [4]
    assert told(fail(partition, 5, 0.4, http_status=None, **REFUSED)) == []


def test_a_repeat_tells_what_was_held_back() -> None:
    partition = Partition()
    fail(partition, 1, 0.0)
    record = partition.record(an_error(event_id="e2", http_status=503).to_json())
    assert told(partition.take([record])) == []
    assert told(partition.take([record])) == [2]


def test_what_was_held_back_is_due_when_its_interval_is_over_and_not_any_more_once_it_was_told() -> None:
    partition = Partition()
    fail(partition, 1, 0.0)
    fail(partition, 2, 4.0)
    view = partition.memory.view(partition.number)
    assert view.untold((NOW - timedelta(milliseconds=1)).timestamp()) == []
    assert view.untold(NOW.timestamp()) == [SEARCH]

    def publish(partition_number: int, key: bytes, entry: HealthEntry) -> list[Any]:
        return partition.around.published("test", partition_number, key, entry)

    partition.now = NOW + timedelta(seconds=10)
    result = written_again(publish, partition.number, [SEARCH], view)
    partition.keep(result)
    assert told(result) == [2]
    assert view.untold(partition.now.timestamp()) == []
    assert told(fail(partition, 3, 12.0)) == []


def test_a_worker_that_takes_the_partition_up_knows_what_was_not_told() -> None:
    partition = Partition()
    raw = partition.codec.encode(HealthEntry(revision=7, health=a_health(revision=7)))
    partition.memory.recover(partition.number, SEARCH, raw, [(UNTOLD_HEADER, b"1")], NOW.timestamp())
    assert partition.memory.view(partition.number).untold(0.0) == [SEARCH]
    partition.memory.recover(partition.number, SEARCH, raw, [], NOW.timestamp())
    assert partition.memory.view(partition.number).untold(NOW.timestamp()) == []


def test_what_a_partition_that_left_had_not_told_leaves_with_it() -> None:
    partition = Partition()
    fail(partition, 1, 0.0)
    fail(partition, 2, 4.0)
    partition.memory.keep_only([])
    assert partition.memory.view(partition.number).untold(partition.now.timestamp()) == []


BASE = a_health(status=Status.DOWN, cooldowns=(a_cooldown(),))


@pytest.mark.parametrize(
    "more",
    [
        {"revision": 2, "updated_at": NOW + timedelta(seconds=1), "counters": HealthCounters(errors=9)},
        {"verdict": BASE.verdict.with_changes(evidence_at=NOW + timedelta(seconds=1))},
        {"cooldowns": (a_cooldown(last_triggered_at=NOW + timedelta(seconds=1)),)},
    ],
    ids=["counters", "newest evidence", "newest failure of a cooldown"],
)
def test_more_of_the_same_only_counts_on(more: dict[str, Any]) -> None:
    assert only_counts_on(BASE, BASE.with_changes(**more))


NEWS: dict[str, Any] = {
    "link": BASE.link.with_changes(down_since=NOW),
    "verdict": BASE.verdict.with_changes(note="another"),
    "override": OverrideFacet(status=Status.OK, reason="checked", by="ford", at=NOW),
    "last_diagnosis": LastDiagnosis(
        classification=Classification.UNCLEAR, by="agrajag", at=NOW, error_signature="s", job_id="j"
    ),
    "last_checked_at": NOW,
    "last_success_at": NOW,
    "cooldowns": (a_cooldown(hits=2),),
    "history": (HistoryEntry(at=NOW, last_at=NOW, status=Status.DOWN, by="agrajag-checker"),),
}


@pytest.mark.parametrize("field", NEWS)
def test_any_other_change_says_something_new(field: str) -> None:
    assert not only_counts_on(BASE, BASE.with_changes(**{field: NEWS[field]}))


def test_every_part_of_a_document_that_can_change_is_news_or_counts() -> None:
    never_change = {"tenant_id", "scope", "scope_id", "tool_name", "created_at"}
    counts = {"revision", "counters", "updated_at"}
    assert set(ToolHealth.model_fields) == never_change | counts | set(NEWS)


async def test_a_worker_that_ends_in_order_tells_what_was_held_back_and_was_marked_in_the_log_till_then(
    run: Run,
) -> None:
    counting = Counting(run.plan)
    outputs = []

    def publish(_partition: int, key: bytes, value: Count) -> list[Any]:
        outputs.append((key, value))
        return []

    telling = Telling(counting.order, interval_seconds=0.0, publish=publish)
    counting.app.last_words.append(telling.tell_all)
    async with counting.running():
        held_back = StepResult[Count]([{KEY: Count(7, 1, 0)}], [], untold={KEY})
        assert await counting.order.run_timer(HOME, lambda _view: held_back)
        assert counting.table.view(HOME).untold(0.0) == [KEY]
        assert outputs == []
    assert outputs == [(KEY, Count(7, 1, 0))]
    marks = [
        UNTOLD_HEADER in dict(record.headers) for record in await run.read("changelog") if record.key == KEY
    ]
    assert marks == [True, False]

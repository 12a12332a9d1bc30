"""The history of a document: newest first, bounded, repeats counted and nothing lost before its end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.health import Marking, accepts, marked, remembered
from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, Status
from agrajag.model.health import MAX_HISTORY, HistoryEntry, VerdictFacet
from tests.builders import NOW

MINUTE = timedelta(minutes=1)
_NOTES = ("connection refused", "upstream answers 503", "certificate expired", None)
_MARKINGS = st.builds(
    Marking,
    status=st.sampled_from([Status.DOWN, Status.DEGRADED, Status.OK]),
    classification=st.sampled_from([Classification.TECHNICALLY_BROKEN, Classification.INTERMITTENT]),
    expected_recovery_at=st.none() | st.just(NOW + timedelta(hours=1)),
    note=st.sampled_from(_NOTES),
    by=st.sampled_from(["agrajag-checker", "agrajag", "bob"]),
)
# Runs of the same marking are what a flapping tool looks like; single draws would hardly ever repeat.
_RUNS = st.lists(st.tuples(_MARKINGS, st.integers(1, 5)), max_size=15).map(
    lambda runs: [marking for marking, times in runs for _ in range(times)]
)
_SIZES = st.integers(1, 12)


def a_marking(note: str | None = "connection refused", **fields: object) -> Marking:
    """DOWN by the checker, without a recovery time."""
    given: dict[str, object] = {
        "status": Status.DOWN,
        "classification": Classification.TECHNICALLY_BROKEN,
        "expected_recovery_at": None,
        "note": note,
    }
    return Marking(**(given | fields))  # type: ignore[arg-type]


def history_of(
    markings: Sequence[Marking], size: int = 20, times: Sequence[datetime] | None = None
) -> tuple[HistoryEntry, ...]:
    """The history after these, one a minute where no times are given."""
    history: tuple[HistoryEntry, ...] = ()
    moments = times or [NOW + minute * MINUTE for minute in range(len(markings))]
    for marking, now in zip(markings, moments, strict=True):
        history = remembered(history, marking, now, Policy(history_size=size))
    return history


def what(said: Marking | HistoryEntry) -> tuple[object, ...]:
    """What makes two of them a repeat of each other."""
    return (said.status, said.classification, said.note, said.by)


@given(_RUNS, _SIZES)
def test_a_history_is_never_longer_than_its_size_and_always_newest_first(
    markings: list[Marking], size: int
) -> None:
    history = history_of(markings, size)
    assert len(history) <= size
    assert all(newer.at > older.last_at for newer, older in pairwise(history))
    if markings:
        assert what(history[0]) == what(markings[-1])


@given(_RUNS, _SIZES)
def test_each_run_of_equal_markings_is_one_entry_that_counts_them(markings: list[Marking], size: int) -> None:
    runs = [(said, len(list(run))) for said, run in groupby(markings, key=what)]
    expected = list(reversed(runs))[:size]
    assert [(what(entry), entry.count) for entry in history_of(markings, size)] == expected


@given(_RUNS)
def test_all_markings_are_counted_as_long_as_none_had_to_go(markings: list[Marking]) -> None:
    history = history_of(markings, MAX_HISTORY)
    assert sum(entry.count for entry in history) == len(markings)
    assert not any(what(newer) == what(older) for newer, older in pairwise(history))


@given(_RUNS, _SIZES)
def test_an_entry_spans_its_first_and_its_last_repeat(markings: list[Marking], size: int) -> None:
    end = NOW + len(markings) * MINUTE
    for entry in history_of(markings, size):
        assert entry.last_at - entry.at == (entry.count - 1) * MINUTE
        assert entry.last_at == end - MINUTE
        end = entry.at


@given(st.lists(st.integers(0, 600), min_size=1, max_size=12))
def test_a_repeat_that_happened_earlier_never_turns_the_time_back(minutes: list[int]) -> None:
    times = [NOW + minute * MINUTE for minute in minutes]
    (entry,) = history_of([a_marking()] * len(times), times=times)
    assert (entry.at, entry.last_at, entry.count) == (times[0], max(times), len(times))


@given(_RUNS, _SIZES, _SIZES)
def test_a_smaller_history_is_the_newest_part_of_a_larger_one(
    markings: list[Marking], one: int, other: int
) -> None:
    small, large = sorted((one, other))
    assert history_of(markings, small) == history_of(markings, large)[:small]


def test_a_rule_of_many_notes_pushes_out_the_oldest_first() -> None:
    history = history_of([a_marking(note=f"note {number}") for number in range(50)], size=3)
    assert [entry.note for entry in history] == ["note 49", "note 48", "note 47"]


def test_a_repeat_has_the_newest_recovery_time() -> None:
    later = NOW + timedelta(hours=2)
    (entry,) = history_of([a_marking(expected_recovery_at=NOW), a_marking(expected_recovery_at=later)])
    assert entry.expected_recovery_at == later


def test_the_history_that_was_is_left_as_it_was() -> None:
    before = history_of([a_marking()])
    after = remembered(before, a_marking(), NOW + MINUTE, Policy())
    assert (before[0].count, after[0].count) == (1, 2)


@pytest.mark.parametrize(
    "other",
    [
        a_marking(status=Status.DEGRADED),
        a_marking(classification=Classification.INTERMITTENT),
        a_marking(note=None),
        a_marking(by="bob"),
    ],
)
def test_another_status_class_note_or_author_is_no_repeat(other: Marking) -> None:
    assert [entry.count for entry in history_of([a_marking(), other, a_marking()])] == [1, 1, 1]


@given(_RUNS)
def test_a_status_is_told_since_it_really_changed(markings: list[Marking]) -> None:
    verdict = VerdictFacet()
    since = NOW
    for minute, marking in enumerate(markings):
        now = NOW + minute * MINUTE
        if verdict.since is None or verdict.status is not marking.status:
            since = now
        verdict = marked(verdict, marking, now)
        assert (verdict.since, verdict.evidence_at, verdict.status) == (since, now, marking.status)


@pytest.mark.parametrize("recovery_in", [None, -1, 0, 1, 2])
@pytest.mark.parametrize("minutes", [-1, 0, 1, 2, 3])
def test_older_evidence_never_marks_and_a_weaker_status_never_replaces_an_unexpired_down(
    minutes: int, recovery_in: int | None
) -> None:
    recovery = None if recovery_in is None else NOW + recovery_in * MINUTE
    older = minutes < 0
    for standing, status in product((Status.DOWN, Status.DEGRADED, Status.OK), repeat=2):
        verdict = VerdictFacet(status=standing, expected_recovery_at=recovery, evidence_at=NOW)
        stands = standing is Status.DOWN and (recovery_in is None or minutes < recovery_in)
        weaker = status is Status.DEGRADED
        accepted = accepts(verdict, a_marking(status=status), NOW + minutes * MINUTE)
        assert accepted == (not older and not (weaker and stands))

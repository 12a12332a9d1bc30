"""What a night is judged by: each way in which it must fail, and that its plan fits whatever its length."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind
from tests.night.books import Found, Sent, problems_in, repeated_reports
from tests.night.load import events_of, share_due
from tests.night.memory import Sample, growth, growth_problems
from tests.night.plan import Fault, Span, night_of
from tests.night.watch import Look, seen_at, signs_left, values_of

MIB = 1024 * 1024

SENT = Sent(errors=Counter({"e1": 1, "spoilt": 1}), commands={"c1"}, reported=Counter({"r1": 3}))
FOUND = Found(
    received={"e1": 1, "spoilt": 1, "r1": 1},
    verdicts=("e1", "r1"),
    dead_letters=("spoilt",),
    failures={"e1": 1, "r1": 3},
    counted_errors=4,
    results=("c1",),
    documents={"acme|search": 7},
    told={"acme|search": 7},
    told_backwards=0,
    store_differences=(),
    lag_records=0,
)


def test_books_in_which_everything_has_come_out_balance() -> None:
    assert list(problems_in(SENT, FOUND)) == []


def test_a_report_that_the_client_has_sent_again_is_counted_and_is_no_loss() -> None:
    twice = replace(
        FOUND,
        received={"e1": 1, "spoilt": 1, "r1": 2},
        failures={"e1": 1, "r1": 6},
        counted_errors=7,
    )
    assert list(problems_in(SENT, twice)) == []
    assert [repeated_reports(SENT, found) for found in (FOUND, twice)] == [0, 1]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (replace(FOUND, verdicts=("r1",)), "1 errors without verdict or dead letter: e1"),
        (
            replace(FOUND, dead_letters=("spoilt", "e1"), counted_errors=3),
            "both a verdict and a dead letter: e1",
        ),
        (replace(FOUND, verdicts=("e1", "r1", "e2")), "never sent: e2"),
        (replace(FOUND, received={"e1": 2, "spoilt": 1, "r1": 1}), "not as often in the topic: e1"),
        (replace(FOUND, failures={"e1": 1, "r1": 2}, counted_errors=3), "another number of failures .* r1"),
        (replace(FOUND, counted_errors=5), "the documents count 5 errors, 4 were sent"),
        (replace(FOUND, results=()), "1 commands without a result: c1"),
        (replace(FOUND, told={"acme|search": 6}), "not told the last revision: acme"),
        (replace(FOUND, documents={}), "documents told that are gone: acme"),
        (replace(FOUND, told_backwards=1), "told 1 revisions again or backwards"),
        (replace(FOUND, lag_records=2), "2 records are not done"),
        (replace(FOUND, store_differences=("the store's x is missing",)), "the store's x is missing"),
    ],
)
def test_each_promise_that_is_broken_is_a_line(found: Found, told: str) -> None:
    (problem,) = problems_in(SENT, found)
    with pytest.raises(AssertionError, match=told):
        raise AssertionError(problem)


@given(st.floats(min_value=2.0, max_value=600.0))
def test_faults_never_run_into_each_other_and_are_always_over_before_the_second_half(minutes: float) -> None:
    night = night_of(minutes)
    assert [span.fault for span in night.spans] == list(Fault)
    assert all(one.ends_seconds < following.begins_seconds for one, following in pairwise(night.spans))
    assert night.spans[-1].ends_seconds <= night.lasts_seconds / 2


@given(st.floats(min_value=0, max_value=1), st.floats(min_value=0, max_value=1))
def test_every_event_is_due_once_and_half_of_them_in_the_first_quarter(one: float, other: float) -> None:
    assert share_due(min(one, other)) <= share_due(max(one, other))
    assert [share_due(passed) for passed in (0, 0.25, 1)] == [0, 0.5, 1]


def test_no_event_of_a_night_has_the_id_of_another_and_none_deletes_what_counts() -> None:
    events = events_of(60)
    ids = [event.command_id if isinstance(event, HealthCommand) else event.event_id for event in events]
    assert len(ids) == len(set(ids))
    kinds = {event.kind for event in events if isinstance(event, HealthCommand)}
    assert CommandKind.RECHECK in kinds
    assert CommandKind.DELETE not in kinds


def test_a_night_that_is_too_short_for_its_faults_is_refused() -> None:
    with pytest.raises(
        ValueError, match="1 minutes are too short: rules file broken lasts into store stopped"
    ):
        night_of(1)


def test_thirty_minutes_leave_the_store_away_for_three_and_five_for_thirty_seconds() -> None:
    assert [night_of(minutes).spans[-1].lasts_seconds for minutes in (30, 5)] == [180, 30]


def _samples(*mib: int, pid: int = 1) -> list[Sample]:
    return [Sample(float(second), pid, each * MIB) for second, each in enumerate(mib)]


def test_memory_is_compared_within_the_last_half_alone() -> None:
    assert growth(_samples(10, 20, 40, 80, 100, 100, 100, 100), 8) == 0
    assert growth(_samples(10, 10, 10, 10, 100, 100, 110, 110), 8) == pytest.approx(0.1)


def test_one_sample_that_is_large_is_no_growth() -> None:
    assert growth(_samples(1, 1, 1, 1, 1, 1, 100, 100, 100, 100, 500, 100), 12) == 0


def test_of_a_process_that_began_anew_in_the_last_half_nothing_is_said_and_that_is_a_problem() -> None:
    mixed = [*_samples(100, 100, 100, 100, 100, 100, 100), Sample(7.0, 2, 50 * MIB)]
    assert growth(mixed, 8) is None
    assert list(growth_problems({"sink": None, "api": 0.05, "worker": 0.049})) == [
        "sink: did not live through the last half, its memory is not known",
        "api: memory grew by 5.0% in the last half",
    ]


def test_a_fault_is_seen_by_its_own_sign_in_its_own_time() -> None:
    span = Span(Fault.STORE_STOPPED, 10.0, 5.0)
    early, away = Look(9.0, "sink", {}, ("store_away",)), Look(12.5, "sink", {}, ("store_away",))
    others = [Look(13.0, "sink", {}, ("kafka_away",)), Look(13.0, "api", {}, ("store_away",)), early]
    assert seen_at(span, others) is None
    assert seen_at(span, [*others, away]) == 2.5


def test_a_sign_that_the_last_look_still_shows_is_told() -> None:
    broken = Look(1.0, "worker", {"agrajag_document_faults:rejected": 1.0})
    mended = Look(2.0, "worker", {"agrajag_document_faults:rejected": 0.0})
    assert [line.partition(":")[0] for line in signs_left([broken])] == ["rules file broken"]
    assert list(signs_left([broken, mended])) == []


def test_values_are_added_up_over_labels_but_for_kind_and_result() -> None:
    text = (
        '# TYPE lag gauge\nlag{topic="a"} 2\nlag{topic="b"} 3\n'
        '# TYPE faults gauge\nfaults{kind="rejected"} 1\nfaults{kind="warning"} 4\n'
    )
    assert values_of(text) == {"lag": 5, "faults:rejected": 1, "faults:warning": 4}

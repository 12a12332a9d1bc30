"""The demo's books can fail: each thing that can go wrong is found, and nothing is found where all is well."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.cli.demo.balance import Readings, Trouble, balance, identity_of, unanswered
from agrajag.model.health import HealthCounters
from tests.builders import a_health

STORM = Trouble("acme", "search", "http-5xx")


def readings(**changes: Any) -> Readings:
    """Three events, one of them sent twice, and a broken record; everything is in order."""
    sent = Counter({"e1": 1, "e2": 1, "twice": 2, "topic-0-7": 1})
    in_order = Readings(
        sent=sent,
        received=sent,
        republished=1,
        verdicts=Counter({"e1": 1, "e2": 1, "twice": 2}),
        dead_letters=Counter({"topic-0-7": 1}),
        documents={
            "one": a_health(counters=HealthCounters(errors=3)),
            "other": a_health(counters=HealthCounters(errors=1)),
        },
        job_ids={STORM: frozenset({"job-1"})},
        storms=frozenset({STORM}),
    )
    return replace(in_order, **changes)


def problem_of(**changes: Any) -> str:
    """The only problem of these books."""
    (problem,) = balance(readings(**changes)).problems
    return problem


def test_books_in_order_balance_and_say_so_in_one_line() -> None:
    result = balance(readings())
    assert result.balanced
    assert result.closing_line == "4 in, 3 verdicts, 1 dead-lettered, 0 lost"


def test_an_event_without_verdict_or_letter_is_lost() -> None:
    result = balance(readings(verdicts=Counter({"e1": 1, "twice": 2})))
    assert not result.balanced
    assert result.closing_line == "4 in, 2 verdicts, 1 dead-lettered, 1 lost"
    assert "1 lost, neither verdict nor dead letter: e2" in result.problems


def test_a_broken_record_without_letter_is_lost() -> None:
    result = balance(readings(dead_letters=Counter()))
    assert result.lost == 1
    assert not result.balanced


def test_an_event_that_the_broker_acknowledged_and_the_topic_does_not_have_is_lost() -> None:
    received = Counter({"e1": 1, "twice": 2, "topic-0-7": 1})
    result = balance(readings(received=received, verdicts=Counter({"e1": 1, "twice": 2})))
    assert result.lost == 1
    assert "1 acknowledged by the broker and not as often in the topic: e2" in result.problems


def test_a_repeated_event_that_was_decided_about_once_only_is_found() -> None:
    assert (
        problem_of(verdicts=Counter({"e1": 1, "e2": 1, "twice": 1}))
        == "1 decided or set aside less often than sent: twice"
    )


def test_a_verdict_about_an_event_that_nobody_sent_is_found() -> None:
    verdicts = Counter({"e1": 1, "e2": 1, "twice": 2, "ghost": 1})
    assert problem_of(verdicts=verdicts) == "1 with a verdict or dead letter but never sent: ghost"


def test_an_event_that_was_decided_about_and_set_aside_too_is_found() -> None:
    dead_letters = Counter({"topic-0-7": 1, "e1": 1})
    problems = balance(readings(dead_letters=dead_letters)).problems
    assert "1 with both a verdict and a dead letter: e1" in problems


def test_a_verdict_that_was_sent_again_after_a_crash_is_no_problem() -> None:
    assert balance(readings(verdicts=Counter({"e1": 3, "e2": 1, "twice": 2}))).balanced


@pytest.mark.parametrize("errors", [2, 4])
def test_documents_that_count_an_error_too_few_or_too_many_are_found(errors: int) -> None:
    documents = {
        "one": a_health(counters=HealthCounters(errors=errors)),
        "other": a_health(counters=HealthCounters(errors=1)),
    }
    told = f"the documents have {errors + 1} errors behind them, 4 were decided about"
    assert problem_of(documents=documents) == told


def test_a_document_of_the_store_that_is_not_the_topics_is_a_problem() -> None:
    assert problem_of(store_differences=("the store's k is older",)) == "the store's k is older"


def test_a_document_whose_link_is_not_as_it_must_be_is_found() -> None:
    assert problem_of(link_problems=("the link of k is up",)) == "the link of k is up"
    assert problem_of(healing_problems=("k is DOWN",)) == "k is DOWN"


def test_a_rule_of_a_tenant_that_nothing_was_judged_by_is_found() -> None:
    assert problem_of(ruling_problems=("search was judged by fallback",)) == "search was judged by fallback"


@pytest.mark.parametrize("jobs", [frozenset(), frozenset({"job-1", "job-2"})])
def test_a_storm_with_no_job_or_two_is_found(jobs: frozenset[str]) -> None:
    told = f"the storm on search of acme has {len(jobs)} diagnosis jobs instead of 1"
    assert problem_of(job_ids={STORM: jobs}) == told


def test_other_troubles_may_have_any_number_of_jobs() -> None:
    other = Trouble("acme", "search", "http-401")
    assert balance(readings(job_ids={STORM: frozenset({"job-1"}), other: frozenset({"a", "b"})})).balanced


def test_long_lists_of_ids_are_cut() -> None:
    verdicts = Counter({"e1": 1, "e2": 1, "twice": 2} | {f"ghost-{number}": 1 for number in range(9)})
    assert problem_of(verdicts=verdicts).endswith("ghost-0, ghost-1, ghost-2, ...")


IDS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.integers(1, 3), min_size=1, max_size=20)


def without_one(counts: Mapping[str, int], identity: str) -> dict[str, int]:
    """The counts with one of `identity` less, if it has any."""
    return dict(Counter(counts) - Counter([identity]))


@given(IDS, st.data())
def test_whatever_single_answer_is_withheld_the_books_never_balance(
    sent: dict[str, int], data: st.DataObject
) -> None:
    letters = data.draw(st.sets(st.sampled_from(sorted(sent))))
    verdicts = {identity: times for identity, times in sent.items() if identity not in letters}
    whole = readings(
        sent=sent,
        received=sent,
        verdicts=verdicts,
        dead_letters={identity: sent[identity] for identity in letters},
        documents={"one": a_health(counters=HealthCounters(errors=sum(verdicts.values())))},
    )
    assert balance(whole).balanced
    withheld = data.draw(st.sampled_from(sorted(sent)))
    short = replace(
        whole,
        verdicts=without_one(whole.verdicts, withheld),
        dead_letters=without_one(whole.dead_letters, withheld),
    )
    assert not balance(short).balanced
    assert unanswered(sent, short.verdicts, short.dead_letters) == 1


@pytest.mark.parametrize(
    ("value", "identity"),
    [
        (b'{"eventId": "e1", "error": {}}', "e1"),
        (b'{"error": {}}', "place"),
        (b'{"eventId": 7}', "place"),
        (b'["e1"]', "place"),
        (b"not JSON", "place"),
        (b"", "place"),
        (None, "place"),
    ],
)
def test_a_record_is_called_by_its_event_id_or_else_by_its_place(value: bytes | None, identity: str) -> None:
    assert identity_of(value, "place") == identity

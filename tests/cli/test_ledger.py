"""What the demo's ledger makes of the records that it reads."""

from collections import Counter
from typing import Any

import pytest

from agrajag.cli.demo.balance import Trouble
from agrajag.cli.demo.reading import Ledger
from agrajag.core.check import check_result
from agrajag.core.drafts import Drafts
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Verdict
from agrajag.documents.rule_files import bundled_rules
from agrajag.errors import InputError
from agrajag.model.health import HealthCounters
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_health, a_job, an_error
from tests.cli.records import Received

TOPICS = Topics("agrajag", 4)
ERRORS = TOPICS.name(Topic.TOOL_CALL_ERRORS)
KEY = b"acme|PROJECT|essays|search"
DLQ = TOPICS.dead_letters(Topic.TOOL_CALL_ERRORS)


def ledger_of(*records: Received) -> Ledger:
    ledger = Ledger(TOPICS)
    for record in records:
        ledger.take(record)
    return ledger


def error(event_id: str, **place: Any) -> Received:
    return Received(an_error(event_id=event_id).to_json(), topic=ERRORS, **place)


def verdict(event_id: str) -> Received:
    arrival = Arrival(an_error(event_id=event_id), event_id, "topic-0", 1, NOW, 1)
    decided = triage(arrival, Drafts(lambda _key: None), bundled_rules(), Policy(), NOW)
    assert isinstance(decided, Verdict)
    answer = check_result(arrival, decided, "hash", (), Policy())
    return Received(answer.to_json(), topic=TOPICS.name(Topic.CHECK_RESULTS))


def letter(record: Received) -> Received:
    output = dead_letter(record, InputError("not_json", "no JSON"), DLQ)
    return Received(output.value or b"", topic=DLQ, headers=list(output.headers))


def document(errors: int, revision: int = 1) -> Received:
    health = a_health(revision=revision, counters=HealthCounters(errors=errors))
    return Received(health.to_json(), KEY, topic=TOPICS.name(Topic.HEALTH_CHANGED))


def test_a_copy_on_the_right_partition_is_not_a_second_event() -> None:
    first = error("e1", partition=3, offset=9)
    output = Origins(4).republished(first, b"acme|search", 1)
    copy = Received(output.value or b"", topic=ERRORS, partition=1, headers=list(output.headers))
    ledger = ledger_of(first, copy)
    assert (ledger.received, ledger.republished) == (Counter(["e1"]), 1)


def test_an_event_without_id_is_the_same_in_the_topic_and_in_the_dead_letters() -> None:
    broken = Received(b"no JSON", topic=ERRORS, partition=2, offset=5)
    ledger = ledger_of(broken, letter(broken))
    assert ledger.received == ledger.dead_letters == Counter([f"{ERRORS}-2-5"])


def test_a_letter_that_was_written_twice_is_one() -> None:
    broken = Received(b"no JSON", topic=ERRORS)
    assert ledger_of(letter(broken), letter(broken)).dead_letters.total() == 1


def test_two_broken_records_with_one_id_are_two_letters() -> None:
    letters = [letter(error("same", offset=offset)) for offset in (1, 2)]
    assert ledger_of(*letters).dead_letters == Counter({"same": 2})


def test_a_job_that_is_sent_again_is_one_job() -> None:
    jobs = [
        Received(a_job(error_count=count).to_json(), topic=TOPICS.name(Topic.DIAGNOSIS_JOBS))
        for count in (1, 2)
    ]
    ledger = ledger_of(*jobs)
    assert ledger.jobs == 1
    assert ledger.job_ids == {Trouble("acme", "search", "http-5xx"): {"job-1"}}


def test_the_highest_revision_of_a_document_counts_whatever_arrives_last() -> None:
    ledger = ledger_of(document(1, revision=1), document(3, revision=3), document(2, revision=2))
    assert ledger.documents[KEY.decode()].counters.errors == 3


def test_whoever_holds_the_documents_sees_them_change() -> None:
    ledger = ledger_of()
    held = ledger.documents
    ledger.take(document(1, revision=1))
    assert held[KEY.decode()].revision == 1
    ledger.take(document(1, revision=2))
    assert held[KEY.decode()].revision == 2


def test_a_document_that_is_gone_comes_back_by_a_higher_revision_only() -> None:
    tombstone = Received(
        None, KEY, topic=TOPICS.name(Topic.HEALTH_CHANGED), headers=[(REVISION_HEADER, b"3")]
    )
    assert ledger_of(document(1, revision=2), tombstone, document(1, revision=2)).documents == {}
    assert ledger_of(tombstone, document(1, revision=4)).documents[KEY.decode()].revision == 4


@pytest.mark.parametrize(
    ("records", "complete"),
    [
        ([verdict("e1"), document(1)], True),
        ([document(1)], False),
        ([verdict("e1")], False),
        ([verdict("e1"), document(0)], False),
    ],
    ids=["all", "no verdict", "no document", "document behind"],
)
def test_a_run_is_complete_when_every_verdict_stands_in_a_document_too(
    records: list[Received], complete: bool
) -> None:
    assert ledger_of(error("e1"), *records).is_complete(Counter(["e1"])) is complete


def test_a_repeated_event_has_to_be_answered_as_often_as_it_was_sent() -> None:
    sent = Counter({"e1": 2})
    assert not ledger_of(verdict("e1"), document(2)).is_complete(sent)
    assert ledger_of(verdict("e1"), verdict("e1"), document(2)).is_complete(sent)

"""Decides whether the books of a run balance: every error that went in has come out, in exactly the right places.

A pure function of what was read from the topics and the store, so that each way in which it must fail has a test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from agrajag.model.health import ToolHealth

_NAMED = 3


class Trouble(NamedTuple):
    """What one diagnosis is about: of one tool, one kind of failure."""

    tenant_id: str
    tool_name: str
    signature: str


@dataclass(frozen=True, kw_only=True)
class Readings:
    """What was read. Events and letters are counted by identity (`identity_of`).

    `sent` is what the broker acknowledged to the producer, `received` what stands in the input topic, `republished` how
    many copies to the right partition stand beside it. `job_ids` are those of each trouble on the jobs topic, `storms`
    the troubles that must have one job. `link_problems` has a line for each document whose link is not as it must be,
    `healing_problems` for each that a success or a person has not changed as they should, `ruling_problems` where a
    tenant's rule was not followed, `diagnosis_problems` where a job was not answered as it must be, `store_differences`
    for each document that is not the topic's.
    """

    sent: Mapping[str, int]
    received: Mapping[str, int]
    republished: int
    verdicts: Mapping[str, int]
    dead_letters: Mapping[str, int]
    documents: Mapping[str, ToolHealth]
    job_ids: Mapping[Trouble, frozenset[str]]
    storms: frozenset[Trouble]
    link_problems: tuple[str, ...] = ()
    healing_problems: tuple[str, ...] = ()
    ruling_problems: tuple[str, ...] = ()
    diagnosis_problems: tuple[str, ...] = ()
    store_differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Balance:
    """The result. `problems` has one line for everything that is not as it must be."""

    ids_in: int
    with_verdict: int
    dead_lettered: int
    lost: int
    problems: tuple[str, ...]

    @property
    def balanced(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def closing_line(self) -> str:
        """The whole run in one line."""
        return (
            f"{self.ids_in:,} in, {self.with_verdict:,} verdicts, "
            f"{self.dead_lettered:,} dead-lettered, {self.lost:,} lost"
        )


def identity_of(value: bytes | None, place: str) -> str:
    """What an error record is called in the books: its event id, else the place (`topic-partition-offset`) it has.

    A value that cannot be read has its place too.
    """
    try:
        event = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return place
    event_id = event.get("eventId") if isinstance(event, dict) else None
    return event_id if isinstance(event_id, str) else place


def unanswered(sent: Mapping[str, int], verdicts: Mapping[str, int], dead_letters: Mapping[str, int]) -> int:
    """How many records that were sent have neither a verdict nor a dead letter yet."""
    return sum(
        max(0, times - verdicts.get(identity, 0) - dead_letters.get(identity, 0))
        for identity, times in sent.items()
    )


def errors_in_documents(documents: Mapping[str, ToolHealth]) -> int:
    """How many errors the documents say are behind them."""
    return sum(document.counters.errors for document in documents.values())


def balance(readings: Readings) -> Balance:
    """The books of one run, on topics that had nothing else."""
    ids_in = readings.sent.keys() | readings.received.keys()
    decided, letters = readings.verdicts.keys(), readings.dead_letters.keys()
    return Balance(
        ids_in=len(ids_in),
        with_verdict=len(decided & ids_in),
        dead_lettered=len(letters & ids_in),
        lost=len(ids_in - decided - letters),
        problems=tuple(_problems(readings)),
    )


def _problems(readings: Readings) -> Iterator[str]:
    sent, received = readings.sent, readings.received
    ids_in = sent.keys() | received.keys()
    decided, letters = readings.verdicts.keys(), readings.dead_letters.keys()
    yield from _named("lost, neither verdict nor dead letter", ids_in - decided - letters)
    yield from _named("with a verdict or dead letter but never sent", (decided | letters) - ids_in)
    yield from _named("with both a verdict and a dead letter", decided & letters)
    yield from _named(
        "acknowledged by the broker and not as often in the topic",
        {identity for identity in ids_in if sent.get(identity, 0) != received.get(identity, 0)},
    )
    yield from _named(
        "decided or set aside less often than sent",
        {
            identity
            for identity in (decided | letters) & ids_in
            if unanswered({identity: sent.get(identity, 0)}, readings.verdicts, readings.dead_letters)
        },
    )
    wanted = sum(times for identity, times in received.items() if identity not in letters)
    counted = errors_in_documents(readings.documents)
    if counted != wanted:
        yield f"the documents have {counted:,} errors behind them, {wanted:,} were decided about"
    yield from readings.link_problems
    yield from readings.healing_problems
    yield from readings.ruling_problems
    yield from readings.diagnosis_problems
    yield from readings.store_differences
    for storm in sorted(readings.storms):
        jobs = len(readings.job_ids.get(storm, ()))
        if jobs != 1:
            yield f"the storm on {storm.tool_name} of {storm.tenant_id} has {jobs} diagnosis jobs instead of 1"


def _named(what: str, identities: set[str]) -> Iterator[str]:
    if identities:
        shown = sorted(identities)[:_NAMED]
        more = ", ..." if len(identities) > _NAMED else ""
        yield f"{len(identities):,} {what}: {', '.join(shown)}{more}"

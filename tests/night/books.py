"""Decides whether a night has lost anything: what was handed over against what stands there at its end."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_NAMED = 3


@dataclass
class Sent:
    """What the load has handed over, entered once the other side has taken it."""

    errors: Counter[str] = field(default_factory=Counter)
    """Acknowledged by the brokers, by identity (cli.demo.balance.identity_of)."""
    commands: set[str] = field(default_factory=set)
    others: int = 0
    reported: Counter[str] = field(default_factory=Counter)
    """Failures that the client's reporter took, by the event that will say so."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What stands in the topics at the end; errors and dead letters by identity.

    `failures` has how many failures each error record stands for, `told` the newest revision of each document that
    a subscriber of the changes was told, `documents` that of the topic; both of one tenant.
    """

    received: Mapping[str, int]
    verdicts: Iterable[str]
    dead_letters: Iterable[str]
    failures: Mapping[str, int]
    counted_errors: int
    results: Iterable[str]
    documents: Mapping[str, int]
    told: Mapping[str, int]
    told_backwards: int
    store_differences: tuple[str, ...]
    lag_records: int


def problems_in(sent: Sent, found: Found) -> Iterator[str]:
    """A line for everything that is not as it must be."""
    decided, letters = set(found.verdicts), set(found.dead_letters)
    ids_in = sent.errors.keys() | sent.reported.keys() | found.received.keys()
    yield from _named("errors without verdict or dead letter", ids_in - decided - letters)
    yield from _named("errors with both a verdict and a dead letter", decided & letters)
    yield from _named("verdicts and dead letters of what was never sent", (decided | letters) - ids_in)
    yield from _named(
        "errors acknowledged by the brokers and not as often in the topic",
        {name for name, times in sent.errors.items() if found.received.get(name, 0) != times},
    )
    yield from _named(
        "reports of the client that stand for another number of failures than it took",
        {name for name, times in sent.reported.items() if not _stands_for(found, name, times)},
    )
    wanted = sum(times for name, times in found.failures.items() if name not in letters)
    if found.counted_errors != wanted:
        yield f"the documents count {found.counted_errors:,} errors, {wanted:,} were sent"
    yield from _named("commands without a result", sent.commands - set(found.results))
    yield from _named(
        "documents of which the subscriber was not told the last revision",
        {key for key, revision in found.documents.items() if found.told.get(key) != revision},
    )
    yield from _named("documents told that are gone", found.told.keys() - found.documents.keys())
    if found.told_backwards:
        yield f"the subscriber was told {found.told_backwards:,} revisions again or backwards"
    if found.lag_records:
        yield f"{found.lag_records:,} records are not done at the end"
    yield from found.store_differences


def repeated_reports(sent: Sent, found: Found) -> int:
    """How many reports the client has sent more than once, as it may where no answer came."""
    return sum(1 for name in sent.reported if found.received.get(name, 0) > 1)


def _stands_for(found: Found, name: str, times: int) -> bool:
    """Whether there is a record of that id, and each of them says `times`."""
    records = found.received.get(name, 0)
    return records > 0 and found.failures.get(name, 0) == records * times


def _named(what: str, names: set[str]) -> Iterator[str]:
    if names:
        shown = ", ".join(sorted(names)[:_NAMED])
        yield f"{len(names):,} {what}: {shown}{', ...' if len(names) > _NAMED else ''}"

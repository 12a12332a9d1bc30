"""Reads what stands in the topics and the store at the end of a night, once everything is through or time is over."""

import time
from collections import Counter

from agrajag import bootstrap
from agrajag.cli.demo.reading import Follower, following
from agrajag.model.answers import CommandResult
from agrajag.model.events import ToolCallError
from agrajag.settings import Settings
from agrajag.wire.origin import ORIGIN
from agrajag.wire.topics import Topic
from tests.kafka_reading import read_all
from tests.night.books import Found, Sent
from tests.night.faults import TENANT
from tests.night.load import Subscriber
from tests.night.watch import Watch

_THROUGH_SECONDS = 90.0
_STORE_SECONDS = 30.0


async def read_at_end(settings: Settings, sent: Sent, subscriber: Subscriber, watch: Watch) -> Found:
    """What there is. Whatever is not through after a minute and a half is missing in it."""
    connection, topics = settings.kafka.connection(), settings.topics.topics()
    async with following(connection, topics) as follower:
        await _follow(follower, sent, subscriber, watch)
        books = await bootstrap.compare_store(settings, _STORE_SECONDS)
        ledger = follower.ledger
    servers = connection.bootstrap_servers
    results = await read_all(servers, topics.name(Topic.COMMAND_RESULTS))
    return Found(
        received=ledger.received,
        verdicts=ledger.verdicts,
        dead_letters=ledger.dead_letters,
        failures=await _failures(servers, topics.name(Topic.TOOL_CALL_ERRORS)),
        counted_errors=sum(document.counters.errors for document in ledger.documents.values()),
        results={CommandResult.from_json(record.value).command_id for record in results},
        documents=_revisions(follower),
        told=subscriber.told,
        told_backwards=subscriber.backwards,
        store_differences=tuple(
            f"the store's {one.key} is {one.fault}: {one.store_revision}, the topic has {one.topic_revision}"
            for one in books.differences
        ),
        lag_records=_lag(watch),
    )


async def _follow(follower: Follower, sent: Sent, subscriber: Subscriber, watch: Watch) -> None:
    """Read until nothing is on its way: all answered, no lag, and the subscriber told what the topic has."""
    deadline = time.monotonic() + _THROUGH_SECONDS
    while time.monotonic() < deadline:
        await follower.read_to_end()
        await follower.read_on()
        answered = follower.ledger.is_complete(sent.errors)
        if answered and not _lag(watch) and subscriber.told == _revisions(follower):
            return


def _revisions(follower: Follower) -> dict[str, int]:
    documents = follower.ledger.documents
    return {key: health.revision for key, health in documents.items() if health.tenant_id == TENANT}


def _lag(watch: Watch) -> int:
    """Of the newest look at each role."""
    newest = {look.role: look.values or {} for look in watch.looks}
    return int(sum(values.get("agrajag_lag_records", 0) for values in newest.values()))


async def _failures(bootstrap_servers: str, topic: str) -> Counter[str]:
    """How many failures each error record stands for; what cannot be read stands for none, copies are left out."""
    counts: Counter[str] = Counter()
    for record in await read_all(bootstrap_servers, topic):
        if any(name == ORIGIN for name, _ in record.headers):
            continue
        try:
            event = ToolCallError.from_json(record.value)
        except ValueError:
            continue
        if event.event_id is not None:
            counts[event.event_id] += event.count
    return counts

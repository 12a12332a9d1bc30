"""Follows the topics of a run and keeps count of what stands in them."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord

from agrajag.cli.demo.balance import Trouble, errors_in_documents, identity_of, unanswered
from agrajag.core.newest import Newest
from agrajag.model.answers import CheckResult, InboxItem
from agrajag.model.enums import ProcessStatus
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.processes import ProcessEvent
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import ID
from agrajag.wire.health_records import health_change
from agrajag.wire.origin import ORIGIN, own_place
from agrajag.wire.process_records import read_process_record
from agrajag.wire.topics import Topic, Topics

_POLL_MS = 200


class Ledger:
    """What was read so far, each record once. Only `take` changes it, and whoever holds a part of it sees that."""

    def __init__(self, topics: Topics) -> None:
        self._entries = {
            topics.name(Topic.TOOL_CALL_ERRORS): self._take_error,
            topics.dead_letters(Topic.TOOL_CALL_ERRORS): self._take_letter,
            topics.name(Topic.CHECK_RESULTS): self._take_verdict,
            topics.name(Topic.DIAGNOSIS_JOBS): self._take_job,
            topics.name(Topic.HEALTH_CHANGED): self._take_document,
            topics.name(Topic.PROCESS_EVENTS): self._take_step,
            topics.name(Topic.INBOX_ITEMS): self._take_item,
        }
        self._letter_places: set[str] = set()
        self.received: Counter[str] = Counter()
        self.republished = 0
        self.verdicts: Counter[str] = Counter()
        self.rule_ids: dict[str, str] = {}
        self.dead_letters: Counter[str] = Counter()
        self.job_ids: dict[Trouble, set[str]] = defaultdict(set)
        self.jobs_sent: set[str] = set()
        self.closed: dict[str, ProcessEvent] = {}
        self.inbox: dict[str, InboxItem] = {}
        self.documents: dict[str, ToolHealth] = {}
        self._newest: Newest[str, ToolHealth] = Newest()

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The topics that it keeps count of."""
        return tuple(self._entries)

    @property
    def jobs(self) -> int:
        """How many diagnosis jobs there are; the same job sent again is one."""
        return sum(map(len, self.job_ids.values()))

    def take(self, record: ConsumerRecord) -> None:
        """Enter one record of one of the topics."""
        self._entries[record.topic](record)

    def is_complete(self, sent: Counter[str]) -> bool:
        """Whether every record sent is answered and every answered error stands in a document."""
        if unanswered(sent, self.verdicts, self.dead_letters):
            return False
        return errors_in_documents(self.documents) >= sent.total() - self.dead_letters.total()

    def _take_error(self, record: ConsumerRecord) -> None:
        if any(name == ORIGIN for name, _ in record.headers):
            self.republished += 1
        else:
            self.received[identity_of(record.value, str(own_place(record)))] += 1

    def _take_letter(self, record: ConsumerRecord) -> None:
        place = dict(record.headers)[ID].decode()
        if place not in self._letter_places:  # a letter that was written twice has its place twice
            self._letter_places.add(place)
            self.dead_letters[identity_of(record.value, place)] += 1

    def _take_verdict(self, record: ConsumerRecord) -> None:
        result = decode(CheckResult, record)
        self.verdicts[result.event_id] += 1
        self.rule_ids[result.event_id] = result.rule_id

    def _take_job(self, record: ConsumerRecord) -> None:
        job = decode(DiagnosisJob, record)
        self.job_ids[Trouble(job.tenant_id, job.tool_name, job.error_signature)].add(job.job_id)
        self.jobs_sent.add(job.job_id)

    def _take_step(self, record: ConsumerRecord) -> None:
        step = read_process_record(record)
        if not isinstance(step, ProcessEvent) or step.is_superseded:
            return
        if step.status is ProcessStatus.CLOSED:
            self.closed[step.job_id] = step

    def _take_item(self, record: ConsumerRecord) -> None:
        item = decode(InboxItem, record)
        self.inbox[item.item_id] = item

    def _take_document(self, record: ConsumerRecord) -> None:
        change = health_change(record)
        if not self._newest.take(*change):
            return
        if change.health is None:
            self.documents.pop(change.key, None)
        else:
            self.documents[change.key] = change.health


class Follower:
    """Reads the topics of a ledger from their beginning, outside of any group."""

    def __init__(self, consumer: Any, ledger: Ledger) -> None:
        self._consumer = consumer
        self.ledger = ledger

    async def read_on(self) -> None:
        """Enter what has come, waiting a moment where nothing has."""
        fetched = await self._consumer.getmany(timeout_ms=_POLL_MS)
        for records in fetched.values():
            for record in records:
                self.ledger.take(record)

    async def read_to_end(self) -> None:
        """Enter everything that stands in the topics now."""
        ends = await self._consumer.end_offsets(self._consumer.assignment())
        while [place for place, end in ends.items() if await self._consumer.position(place) < end]:
            await self.read_on()


@asynccontextmanager
async def following(connection: KafkaConnection, topics: Topics) -> AsyncIterator[Follower]:
    """A follower of the topics, with an empty ledger."""
    ledger = Ledger(topics)
    consumer = AIOKafkaConsumer(
        *ledger.topic_names, **connection.client_options(), group_id=None, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        yield Follower(consumer, ledger)
    finally:
        await consumer.stop()

"""What every agent does around its decisions: a fetch of raw records becomes changes, outputs and dead letters.

Every record ends in exactly one way: decided, sent on to its right partition, or set aside with a reason.
What goes wrong with one record is that record's; the others of its fetch are decided as if it had not been
there. What an agent is about is an `Attempt` of its own: how a record is read, and what it decides.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

import structlog
from aiokafka import ConsumerRecord

from agrajag import metrics
from agrajag.core.drafts import Drafts
from agrajag.core.verdicts import Arrival
from agrajag.errors import InputError
from agrajag.model.answers import InboxItem
from agrajag.model.health import HealthEntry
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import lane_key, parts, tool_key
from agrajag.model.wire_model import WireModel
from agrajag.stream.batches import BATCH_BYTES
from agrajag.stream.memory import PartitionView
from agrajag.stream.steps import StepResult
from agrajag.stream.surroundings import Surroundings
from agrajag.stream.telling import is_told_later
from agrajag.wire.arrivals import arrived
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.origin import Origin
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic

log = structlog.get_logger(__name__)

_GROUP_BYTES = BATCH_BYTES - 4_096
_ROW_BYTES = 64  # what the record format adds to key and value, and a little more

E = TypeVar("E", bound=WireModel)


class TooMuchError(Exception):
    """It does not fit: the changes of one tool into a record batch, or all that is to be sent into a step."""


class _UndecidableError(Exception):
    """The record at `position` made our own code raise."""

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.position = position


class Attempt(ABC, Generic[E]):
    """One try at a run of records by one agent. Nothing outside it changes before `result`."""

    source: ClassVar[Topic]
    """The topic that the agent reads."""
    model: type[E]
    """What its records hold."""
    emitter: ClassVar[str]
    """The CloudEvents source of what the agent sends."""
    may_tell_later: ClassVar[bool] = False
    """Whether a change that only counts on may be told later; nobody waits for its revision then."""

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        self.around = around
        self.drafts = Drafts(lambda key: view.get(key.encode()))
        self.clock = around.clock()
        self._view = view
        self._partition = -1
        self._jobs: dict[str, DiagnosisJob] = {}
        self._began: set[str] = set()
        self._repeats: dict[str, None] = {}
        self._aside: list[Output] = []
        self._news: dict[str, InboxItem] = {}
        self._changes: dict[str, dict[bytes, HealthEntry | None]] = defaultdict(dict)
        self._republished = self._repeated = 0
        self._set_aside: dict[DeadLetterReason, list[int]] = defaultdict(list)

    # --- what an agent is about ---

    def decode(self, record: ConsumerRecord, origin: Origin) -> E:
        """The event that a record holds. InputError with a DeadLetterReason where it holds none."""
        return decode(self.model, record, origin)

    @abstractmethod
    def key(self, event: E) -> str:
        """The key under which the event's record belongs; it says on which partition."""

    @abstractmethod
    def event_id(self, event: E) -> str | None:
        """What names the event, if it says so itself."""

    @abstractmethod
    def decide(self, arrival: Arrival[E]) -> None:
        """Move the drafts as the event asks, and remember what is to be answered."""

    @abstractmethod
    def answers(self) -> Iterable[Output]:
        """What is to be told about the decisions; called when all documents stand as they will."""

    def count(self) -> None:
        """Count what was decided, now that it is certain."""

    # --- for its decisions ---

    def repeat(self, keys: Iterable[str], job: DiagnosisJob | None) -> None:
        """The event was applied before: publish the documents of `keys` as they stand, and its own job again."""
        self._repeated += 1
        self._repeats.update(dict.fromkeys(keys))
        if job is not None:
            self._jobs[job.job_id] = job

    def send_job(self, job: DiagnosisJob, *, first: bool) -> None:
        """Send a job, new or again; one that the fetch would send several times goes out once, as it was last."""
        self._jobs[job.job_id] = job
        if first:
            self._began.add(job.job_id)

    def entry(self, tool: str, key: bytes) -> HealthEntry | None:
        """What the table will hold under `key`, a document of the tool of that `tool_key`, after the step."""
        changed = self._changes.get(tool)
        return (changed.get(key) if changed else None) or self._view.get(key)

    # --- the run ---

    def take(self, records: Sequence[ConsumerRecord], first_refused: DeadLetterReason | None) -> None:
        """Decide about `records`; the first goes to the dead letters where a reason is given."""
        for position, record in enumerate(records):
            self._partition = record.partition
            try:
                if position == 0 and first_refused is not None:
                    raise InputError(first_refused, "this record alone cannot be applied")
                self._take(record)
            except InputError as error:
                self._set_aside[DeadLetterReason(error.reason)].append(record.offset)
                self._aside.append(dead_letter(record, error, self.around.topics.dead_letters(self.source)))
            except Exception as error:
                raise _UndecidableError(position, error) from error

    def _take(self, record: ConsumerRecord) -> None:
        around = self.around
        origin = around.origins.of(record)
        event = self.decode(record, origin)
        key = self.key(event).encode()
        right = partition_for(key, around.topics.partitions)
        if right != record.partition:
            self._republished += 1
            self._aside.append(around.origins.republished(record, key, right))
            return
        self.decide(arrived(event, self.event_id(event), origin, record.timestamp))

    def _freeze(self) -> None:
        """Turn the drafts into changes. Raises where those of one tool do not fit into one record batch."""
        sizes: Counter[str] = Counter()
        for draft in self.drafts.touched():
            entry = draft.frozen()
            tenant_id, _, _, tool_name = parts(draft.key)
            tool = tool_key(tenant_id, tool_name)
            key = draft.key.encode()
            self._changes[tool][key] = entry
            self._news |= draft.inbox.news
            sizes[tool] += len(self.around.codec.encode(entry)) + len(key) + _ROW_BYTES
        if any(size > _GROUP_BYTES for size in sizes.values()):
            raise TooMuchError

    def result(self, handled: int) -> StepResult[HealthEntry]:
        """What is to be sent and changed, counted once it is certain."""
        self._freeze()
        outputs = [*self._aside, *self.answers(), *map(self._job_output, self._jobs.values())]
        outputs += self.around.inbox_outputs(self.emitter, self._news.values())
        untold: set[bytes] = set()
        for changes in self._changes.values():
            for key, entry in changes.items():
                if entry is not None and self._is_told_later(key, entry):
                    untold.add(key)
                elif entry is not None:
                    outputs += self.around.published(self.emitter, self._partition, key, entry)
        for repeated in self._repeats:
            key = repeated.encode()
            standing = self._view.get(key)
            if standing is not None and self.drafts.make(repeated).touched_at is None:
                outputs += self.around.standing(self.emitter, self._partition, key, standing)
        self._count(handled)
        metrics.TOLD_LATER.inc(len(untold))
        return StepResult(list(self._changes.values()), outputs, handled, untold)

    def _is_told_later(self, key: bytes, entry: HealthEntry) -> bool:
        if not self.may_tell_later:
            return False
        age_seconds = self.clock.timestamp() - self._view.told_at(key)
        return is_told_later(self._view.get(key), entry, age_seconds, self.around.told_interval_seconds)

    def _job_output(self, job: DiagnosisJob) -> Output:
        headers = binary_headers(EventType.DIAGNOSIS_JOB, self.emitter, job.job_id)
        key = lane_key(job.tenant_id, job.project_id).encode()
        return Output(self.around.topics.name(Topic.DIAGNOSIS_JOBS), key, job.to_json(), headers)

    def _count(self, handled: int) -> None:
        topic = self.source
        metrics.EVENTS.labels(topic).inc(handled)
        metrics.FETCH_RECORDS.observe(handled)
        metrics.REPUBLISHED.labels(topic).inc(self._republished)
        metrics.REPEATS.labels(topic).inc(self._repeated)
        metrics.JOBS.labels(metrics.JobKind.EMITTED).inc(len(self._began))
        metrics.JOBS.labels(metrics.JobKind.REEMITTED).inc(len(self._jobs.keys() - self._began))
        for item in self._news.values():
            metrics.INBOX_ITEMS.labels(item.status).inc()
        for reason, offsets in self._set_aside.items():
            metrics.DEAD_LETTERS.labels(topic, reason).inc(len(offsets))
            log.warning(
                "records_set_aside",
                topic=topic,
                partition=self._partition,
                reason=reason,
                count=len(offsets),
                first_offset=offsets[0],
                last_offset=offsets[-1],
            )
        self.count()


class AboutATool(Protocol):
    """What every record says that is about one tool."""

    @property
    def tenant_id(self) -> str: ...
    @property
    def tool_name(self) -> str: ...


class KeyedByTool:
    """An attempt over records about one tool each."""

    def key(self, event: AboutATool) -> str:
        """That of its tool."""
        return tool_key(event.tenant_id, event.tool_name)


class Deciding:
    """The step of one agent over fetches of its topic; to be given to `StrictOrder.run`."""

    def __init__(self, around: Surroundings, attempt: "type[Attempt[E]]") -> None:
        self._around = around
        self._attempt = attempt
        self._traced: set[type[BaseException]] = set()

    def __call__(
        self, records: Sequence[ConsumerRecord], view: PartitionView[HealthEntry]
    ) -> StepResult[HealthEntry]:
        """The result of as many records, from the first, as can be decided together.

        A record that cannot be decided, or whose change fits into no batch, ends the run before it; when it is the
        first, it is set aside. So one record costs one more try, however many of them there are.
        """
        limit = len(records)
        first_refused: DeadLetterReason | None = None
        while True:
            attempt = self._attempt(self._around, view)
            try:
                attempt.take(records[:limit], first_refused)
                return attempt.result(limit)
            except Exception as error:
                if limit > 1:
                    limit = (error.position or 1) if isinstance(error, _UndecidableError) else limit // 2
                    continue
                if first_refused is not None:
                    raise
                first_refused = DeadLetterReason.PROCESSING_FAILED
                if isinstance(error, TooMuchError):
                    first_refused = DeadLetterReason.TOO_LARGE
                self._tell_undecidable(records[0], first_refused, error)

    def _tell_undecidable(self, record: ConsumerRecord, reason: DeadLetterReason, error: Exception) -> None:
        """One line for each record, with a trace the first time that an error of this kind is met."""
        cause = error.__cause__ or error
        trace = None if type(cause) in self._traced else cause
        self._traced.add(type(cause))
        log.error(
            "record_undecidable", reason=reason, error=type(cause).__name__, exc_info=trace, **_place(record)
        )


def _place(record: ConsumerRecord) -> dict[str, object]:
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}

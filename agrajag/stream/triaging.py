"""The step of the triage agent: a fetch of raw error records becomes documents, jobs, answers and dead letters.

Every record ends in exactly one way: decided, sent on to its right partition, or set aside with a reason.
What goes wrong with one record is that record's; the others of its fetch are decided as if it had not been there.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias

import structlog
from aiokafka import ConsumerRecord

from agrajag import metrics
from agrajag.core.check import check_result
from agrajag.core.draft import Drafts
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.errors import InputError
from agrajag.model.enums import Classification, Outcome
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import lane_key, parts, tool_key
from agrajag.stream.batches import BATCH_BYTES
from agrajag.stream.entries import EntryCodec
from agrajag.stream.memory import PartitionView
from agrajag.stream.steps import StepResult
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic, Topics

log = structlog.get_logger(__name__)

SOURCE = "agrajag/triage"
_GROUP_BYTES = BATCH_BYTES - 4_096
_ROW_BYTES = 64  # what the record format adds to key and value, and a little more
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Effective: TypeAlias = Callable[[str, str | None], tuple[RuleSet, Policy]]
"""The rules and the policy in force for a tenant and project."""


class _Decided(NamedTuple):
    arrival: Arrival
    verdict: Verdict
    rules: RuleSet
    policy: Policy


class _UndecidableError(Exception):
    """The record at `position` made our own code raise."""

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(str(cause))
        self.position = position


class TriageStep:
    """Decides about fetches of `tool-call-errors`; to be given to `StrictOrder.run`."""

    def __init__(
        self,
        topics: Topics,
        effective: Effective,
        origins: Origins,
        codec: EntryCodec,
        clock: Callable[[], datetime],
    ) -> None:
        self.topics = topics
        self.effective = effective
        self.origins = origins
        self.codec = codec
        self.clock = clock

    def __call__(
        self, records: Sequence[ConsumerRecord], view: PartitionView[HealthEntry]
    ) -> StepResult[HealthEntry]:
        """The result of as many records, from the first, as fit into one change of each tool."""
        refused: dict[int, DeadLetterReason] = {}
        limit = len(records)
        while True:
            step = _Step(self, view)
            try:
                step.take(records[:limit], refused)
                oversized = step.freeze()
            except _UndecidableError as error:
                log.exception("record_undecidable", **_place(records[error.position]))
                refused[error.position] = DeadLetterReason.PROCESSING_FAILED
                continue
            if not oversized:
                return step.result(limit)
            if limit == 1:
                refused[0] = DeadLetterReason.TOO_LARGE
            limit = max(1, limit // 2)

    def published(self, partition: int, key: bytes, entry: HealthEntry) -> list[Output]:
        """The record on `health-changed` that says what `entry` says; none for a document that is gone."""
        health = entry.health
        if health is None:
            return []
        headers = binary_headers(EventType.HEALTH_CHANGED, SOURCE, f"{key.decode()}|{entry.revision}")
        name = self.topics.name(Topic.HEALTH_CHANGED)
        return [Output(name, key, self.codec.document(health), headers, partition)]


class _Step:
    """One try at a run of records. Nothing outside it changes before `result`."""

    def __init__(self, owner: TriageStep, view: PartitionView[HealthEntry]) -> None:
        self._owner = owner
        self._view = view
        self._drafts = Drafts(lambda key: view.get(key.encode()))
        self._clock = owner.clock()
        self._decided: list[_Decided] = []
        self._repeats: dict[str, None] = {}
        self._jobs: dict[str, DiagnosisJob] = {}
        self._began: set[str] = set()
        self._aside: list[Output] = []
        self._changes: dict[str, dict[bytes, HealthEntry | None]] = defaultdict(dict)
        self._counts: Counter[object] = Counter()
        self._partition = -1

    def take(self, records: Sequence[ConsumerRecord], refused: Mapping[int, DeadLetterReason]) -> None:
        for position, record in enumerate(records):
            self._partition = record.partition
            reason = refused.get(position)
            try:
                if reason is not None:
                    raise InputError(reason, "this record alone cannot be applied")
                self._take(record)
            except InputError as error:
                self._set_aside(record, error)
            except Exception as error:
                raise _UndecidableError(position, error) from error

    def _take(self, record: ConsumerRecord) -> None:
        owner = self._owner
        origin = owner.origins.of(record)
        event = decode(ToolCallError, record, origin)
        key = tool_key(event.tenant_id, event.tool_name).encode()
        right = partition_for(key, owner.topics.partitions)
        if right != record.partition:
            self._counts[metrics.REPUBLISHED] += 1
            self._aside.append(owner.origins.republished(record, key, right))
            return
        arrival = Arrival(
            event,
            event.event_id or str(origin),
            origin.topic_partition,
            origin.offset,
            _EPOCH + timedelta(milliseconds=record.timestamp),
            record.timestamp,
        )
        rules, policy = owner.effective(event.tenant_id, event.project_id)
        decided = triage(arrival, self._drafts, rules, policy, self._clock)
        if isinstance(decided, Repeat):
            self._counts[metrics.REPEATS] += 1
            self._repeats.update(dict.fromkeys(decided.keys))
        else:
            self._decided.append(_Decided(arrival, decided, rules, policy))
        self._send_job(decided)

    def _send_job(self, decided: Verdict | Repeat) -> None:
        """Send a job, new or again; one that the fetch would send several times goes out once, as it was last."""
        if decided.job is None:
            return
        self._jobs[decided.job.job_id] = decided.job
        if isinstance(decided, Verdict) and decided.outcome is Outcome.ENQUEUED:
            self._began.add(decided.job.job_id)

    def _set_aside(self, record: ConsumerRecord, error: InputError) -> None:
        self._counts[DeadLetterReason(error.reason)] += 1
        log.warning("record_set_aside", reason=error.reason, detail=error.detail, **_place(record))
        self._aside.append(
            dead_letter(record, error, self._owner.topics.dead_letters(Topic.TOOL_CALL_ERRORS))
        )

    def freeze(self) -> bool:
        """Turn the drafts into changes; True where those of one tool do not fit into one record batch."""
        sizes: Counter[str] = Counter()
        for draft in self._drafts.touched():
            entry = draft.frozen()
            tenant_id, _, _, tool_name = parts(draft.key)
            tool = tool_key(tenant_id, tool_name)
            key = draft.key.encode()
            self._changes[tool][key] = entry
            sizes[tool] += len(self._owner.codec.encode(entry)) + len(key) + _ROW_BYTES
        return any(size > _GROUP_BYTES for size in sizes.values())

    def result(self, handled: int) -> StepResult[HealthEntry]:
        outputs = [*self._aside, *self._answers(), *map(self._job_output, self._jobs.values())]
        for changes in self._changes.values():
            for key, entry in changes.items():
                if entry is not None:
                    outputs += self._owner.published(self._partition, key, entry)
        for repeated in self._repeats:
            key = repeated.encode()
            standing = self._view.get(key)
            if standing is not None and self._drafts.make(repeated).touched_at is None:
                outputs += self._owner.published(self._partition, key, standing)
        self._count(handled)
        return StepResult(list(self._changes.values()), outputs, handled)

    def _job_output(self, job: DiagnosisJob) -> Output:
        headers = binary_headers(EventType.DIAGNOSIS_JOB, SOURCE, job.job_id)
        key = lane_key(job.tenant_id, job.project_id).encode()
        return Output(self._owner.topics.name(Topic.DIAGNOSIS_JOBS), key, job.to_json(), headers)

    def _answers(self) -> list[Output]:
        name = self._owner.topics.name(Topic.CHECK_RESULTS)
        outputs = []
        for arrival, verdict, rules, policy in self._decided:
            if arrival.event.reply_to is None and not policy.answer_all:
                continue
            tool = tool_key(arrival.event.tenant_id, arrival.event.tool_name)
            entry = self._changes[tool].get(verdict.key.encode())
            result = check_result(arrival, verdict, rules.hash, entry.health if entry else None)
            headers = binary_headers(EventType.CHECK_RESULT, SOURCE, arrival.event_id)
            outputs.append(Output(name, tool.encode(), result.to_json(), headers))
        return outputs

    def _count(self, handled: int) -> None:
        errors = Topic.TOOL_CALL_ERRORS
        metrics.EVENTS.labels(errors).inc(handled)
        metrics.FETCH_RECORDS.observe(handled)
        verdicts: Counter[tuple[Outcome, Classification]] = Counter()
        for one in self._decided:
            rule = one.verdict.rule
            verdicts[one.verdict.outcome, rule.classification if rule else Classification.UNCLEAR] += 1
        for (outcome, classification), count in verdicts.items():
            metrics.VERDICTS.labels(outcome, classification).inc(count)
            if outcome is Outcome.NO_ROOM:
                metrics.COOLDOWNS_REFUSED.inc(count)
        metrics.JOBS.labels(metrics.JobKind.EMITTED).inc(len(self._began))
        metrics.JOBS.labels(metrics.JobKind.REEMITTED).inc(len(self._jobs.keys() - self._began))
        for what, count in self._counts.items():
            if isinstance(what, DeadLetterReason):
                metrics.DEAD_LETTERS.labels(errors, what).inc(count)
            elif what is metrics.REPUBLISHED or what is metrics.REPEATS:
                what.labels(errors).inc(count)


def _place(record: ConsumerRecord) -> dict[str, object]:
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}

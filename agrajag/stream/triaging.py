"""The step of the triage agent: a fetch of raw error records becomes documents, jobs, answers and dead letters.

Every record ends in exactly one way: decided, sent on to its right partition, or set aside with a reason.
What goes wrong with one record is that record's; the others of its fetch are decided as if it had not been there.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import structlog
from aiokafka import ConsumerRecord

from agrajag import metrics
from agrajag.core.check import check_result
from agrajag.core.draft import Drafts
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.errors import InputError
from agrajag.model.enums import Classification, Outcome
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry, ToolHealth
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


class _TooMuchError(Exception):
    """The changes of one tool do not fit into one record batch."""


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
            step = _Step(self, view)
            try:
                step.take(records[:limit], first_refused)
                return step.result(limit)
            except Exception as error:
                if limit > 1:
                    limit = (error.position or 1) if isinstance(error, _UndecidableError) else limit // 2
                    continue
                if first_refused is not None:
                    raise
                first_refused = DeadLetterReason.PROCESSING_FAILED
                if isinstance(error, _TooMuchError):
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
        self._republished = self._repeated = 0
        self._set_aside: dict[DeadLetterReason, list[int]] = defaultdict(list)
        self._partition = -1

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
                letters = self._owner.topics.dead_letters(Topic.TOOL_CALL_ERRORS)
                self._aside.append(dead_letter(record, error, letters))
            except Exception as error:
                raise _UndecidableError(position, error) from error

    def _take(self, record: ConsumerRecord) -> None:
        owner = self._owner
        origin = owner.origins.of(record)
        event = decode(ToolCallError, record, origin)
        key = tool_key(event.tenant_id, event.tool_name).encode()
        right = partition_for(key, owner.topics.partitions)
        if right != record.partition:
            self._republished += 1
            self._aside.append(owner.origins.republished(record, key, right))
            return
        arrival = Arrival(
            event,
            event.event_id or str(origin),
            origin.topic_partition,
            origin.offset,
            _moment(record.timestamp),
            record.timestamp,
        )
        rules, policy = owner.effective(event.tenant_id, event.project_id)
        decided = triage(arrival, self._drafts, rules, policy, self._clock)
        if isinstance(decided, Repeat):
            self._repeated += 1
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

    def _freeze(self) -> None:
        """Turn the drafts into changes. Raises where those of one tool do not fit into one record batch."""
        sizes: Counter[str] = Counter()
        for draft in self._drafts.touched():
            entry = draft.frozen()
            tenant_id, _, _, tool_name = parts(draft.key)
            tool = tool_key(tenant_id, tool_name)
            key = draft.key.encode()
            self._changes[tool][key] = entry
            sizes[tool] += len(self._owner.codec.encode(entry)) + len(key) + _ROW_BYTES
        if any(size > _GROUP_BYTES for size in sizes.values()):
            raise _TooMuchError

    def result(self, handled: int) -> StepResult[HealthEntry]:
        """What is to be sent and changed, counted once it is certain."""
        self._freeze()
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
            event = arrival.event
            if event.reply_to is None and not policy.answer_all:
                continue
            documents = self._standing(Caller.of(event), event.tool_name)
            result = check_result(arrival, verdict, rules.hash, documents, policy)
            headers = binary_headers(EventType.CHECK_RESULT, SOURCE, arrival.event_id)
            outputs.append(
                Output(name, tool_key(event.tenant_id, event.tool_name).encode(), result.to_json(), headers)
            )
        return outputs

    def _standing(self, caller: Caller, tool_name: str) -> list[ToolHealth]:
        """The documents that apply to a caller, narrowest first, as they stand after the step."""
        changed = self._changes.get(tool_key(caller.tenant_id, tool_name), {})
        entries = (changed.get(key) or self._view.get(key) for key in map(str.encode, caller.keys(tool_name)))
        return [entry.health for entry in entries if entry is not None and entry.health is not None]

    def _count(self, handled: int) -> None:
        errors = Topic.TOOL_CALL_ERRORS
        metrics.EVENTS.labels(errors).inc(handled)
        metrics.FETCH_RECORDS.observe(handled)
        metrics.REPUBLISHED.labels(errors).inc(self._republished)
        metrics.REPEATS.labels(errors).inc(self._repeated)
        metrics.JOBS.labels(metrics.JobKind.EMITTED).inc(len(self._began))
        metrics.JOBS.labels(metrics.JobKind.REEMITTED).inc(len(self._jobs.keys() - self._began))
        verdicts: Counter[tuple[Outcome, Classification]] = Counter()
        for one in self._decided:
            rule = one.verdict.rule
            verdicts[one.verdict.outcome, rule.classification if rule else Classification.UNCLEAR] += 1
        for (outcome, classification), count in verdicts.items():
            metrics.VERDICTS.labels(outcome, classification).inc(count)
            if outcome is Outcome.NO_ROOM:
                metrics.COOLDOWNS_REFUSED.inc(count)
        for reason, offsets in self._set_aside.items():
            metrics.DEAD_LETTERS.labels(errors, reason).inc(len(offsets))
            log.warning(
                "records_set_aside",
                topic=errors,
                partition=self._partition,
                reason=reason,
                count=len(offsets),
                first_offset=offsets[0],
                last_offset=offsets[-1],
            )


def _place(record: ConsumerRecord) -> dict[str, object]:
    return {"topic": record.topic, "partition": record.partition, "offset": record.offset}


@lru_cache(maxsize=64)
def _moment(timestamp_ms: int) -> datetime:
    """When the broker appended a record; those of one batch have it in common."""
    return _EPOCH + timedelta(milliseconds=timestamp_ms)

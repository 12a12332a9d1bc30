"""Stands between one run's model and the sources: which of its tool calls run, what it is told, what is on record.

The harness asks in its own order: each id once, budgets, a stop that was required. Then the rule of admission here: the
envelope, and how the run has gone (`progress`). What is admitted is written down as STARTED before its source is asked,
and counts as READY only once that is on record as well.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, NamedTuple

import structlog

from agrajag.harness import (
    Admission,
    Admitted,
    EvidenceStatus,
    Failed,
    NotAdmitted,
    Outcome,
    Ready,
    RunContext,
    Tool,
    ToolCall,
)
from agrajag.harness.audit import AUDIT_SECONDS
from agrajag.investigation.asked import canonical, input_hash, recorded_input
from agrajag.investigation.envelope import Envelope, Evaluation, Invalid, read_envelope
from agrajag.investigation.evidence import CallIds, EvidenceAdapter, Scope
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.ledger import InvocationLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.model_schema import schema_of
from agrajag.investigation.progress import (
    Call,
    Decided,
    Proceed,
    Progress,
    Repair,
    StopCollecting,
    decide,
    invalid,
    ready,
)
from agrajag.investigation.projection import project
from agrajag.investigation.records import InvocationRecord, InvocationState, ProgressSnapshot, snapshot_of
from agrajag.investigation.requests import KnowledgeRequest, LogRequest, MysqlRequest, ToolName
from agrajag.metrics import (
    INVESTIGATION_REPAIRS,
    INVESTIGATION_STOPS,
    INVESTIGATION_TRUNCATED,
    MODEL_AUDIT_FAILURES,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where each of the three tools looks."""

    knowledge: EvidenceAdapter[KnowledgeRequest]
    logs: EvidenceAdapter[LogRequest]
    mysql: EvidenceAdapter[MysqlRequest]


class _Definition(NamedTuple):
    name: ToolName
    envelope: type[Envelope[Any]]
    adapter: EvidenceAdapter[Any]


class InvestigationGate:
    """The tools and the audit of one run, for `run_agent`; `records` and `snapshot` say what it has checked so far."""

    def __init__(
        self,
        context: RunContext,
        limits: Limits,
        ledger: InvocationLedger,
        sources: Sources,
        clock: Callable[[], datetime],
        descriptions: Mapping[ToolName, str],
    ) -> None:
        self._context = context
        self._limits = limits
        self._ledger = ledger
        self._clock = clock
        self._progress = Progress()
        self._records: dict[str, InvocationRecord] = {}
        self._scopes: dict[str, Scope] = {}
        self.tools = tuple(self._tool(each, descriptions[each.name]) for each in _definitions(sources))

    @property
    def records(self) -> tuple[InvocationRecord, ...]:
        """The calls of this run that are on record, in the order in which they began."""
        return tuple(self._records.values())

    @property
    def snapshot(self) -> ProgressSnapshot:
        """What this run has checked so far."""
        return snapshot_of(self._context.run_id, self.records)

    async def started(self, call: ToolCall) -> None:
        """Write down that an admitted call is about to run. Raises where that failed, and nothing is on record here."""
        record = _started(call, self._clock())
        await self._ledger.write(record)
        self._records[call.call_id] = record

    async def ended(self, call: ToolCall, outcome: Outcome) -> None:
        """Write down how a call ended, and go on from there. Raises where it was not written: then nothing is READY."""
        # A call may be cut while it is written down that it starts.
        begun = self._records.get(call.call_id) or _started(call, self._clock())
        record = self._ended(begun, outcome)
        await self._ledger.write(record)
        self._records[call.call_id] = record
        if isinstance(outcome, Ready):
            asked = canonical(call.tool_name, call.arguments)
            self._progress = ready(self._progress, call.call_id, asked, outcome.status)

    def _ended(self, record: InvocationRecord, outcome: Outcome) -> InvocationRecord:
        at = self._clock()
        if isinstance(outcome, Failed):
            state, status = InvocationState.FAILED, EvidenceStatus.ERROR
            return record.ended(at, state=state, evidence_status=status, error_code=str(outcome.code))
        state, scope = InvocationState.READY, self._scopes.pop(record.tool_call_id)
        return record.ended(at, state=state, evidence_status=outcome.status, scope=scope)

    def _tool(self, definition: _Definition, description: str) -> Tool:
        return Tool(
            name=definition.name.value,
            description=description,
            input_schema=_input_schema(definition.envelope),
            run=partial(self._run, definition),
            admit=partial(self._admit, definition),
            seconds=self._limits.tool_seconds,
        )

    async def _admit(self, definition: _Definition, call: ToolCall) -> Admission:
        read = read_envelope(definition.envelope, call.arguments)
        if isinstance(read, Invalid):
            return await self._judged(invalid(self._progress, read.fields), None)
        asked = Call(canonical(call.tool_name, read.input), read.previous_observation)
        return await self._judged(decide(self._progress, asked, self._limits.progress), read.input)

    async def _judged(self, decided: Decided, request: FrozenModel | None) -> Admission:
        evaluated, self._progress = self._progress.pending, decided.progress
        if evaluated is not None and decided.taken is not None:
            await self._evaluate(evaluated, decided.taken)
        match decided.verdict:
            case Proceed():
                return Admitted(request)
            case Repair(code, fields, expected):
                INVESTIGATION_REPAIRS.labels(code).inc()
                told = {"code": code, "fields": fields, "expected_tool_call_id": expected}
                return NotAdmitted(EvidenceStatus.REPAIR, told)
            case StopCollecting(reason):
                if self._context.spent.stop_required is None:
                    INVESTIGATION_STOPS.labels(reason).inc()
                self._context.require_stop(reason)
                return NotAdmitted(EvidenceStatus.STOP_REQUIRED, {})

    async def _evaluate(self, call_id: str, evaluation: Evaluation) -> None:
        """Put what the model says of an observation on its record; where that is not written, the run goes on."""
        record = self._records[call_id].model_copy(update={"evaluation": evaluation})
        self._records[call_id] = record
        try:
            async with asyncio.timeout(AUDIT_SECONDS):
                await self._ledger.write(record)
        except Exception as error:  # whatever the ledger raises
            MODEL_AUDIT_FAILURES.inc()
            log.error(
                "evaluation_not_recorded",
                error=type(error).__name__,
                run_id=record.run_id,
                call_id=call_id,
            )

    async def _run(self, definition: _Definition, call: ToolCall) -> Outcome:
        ids = CallIds(call.session_id, call.run_id, call.call_id)
        found = await definition.adapter.look(ids, call.arguments)
        if isinstance(found, Failed):
            return found
        shown = project(definition.name, found, self._limits.observation_bytes)
        if shown.is_cut:
            INVESTIGATION_TRUNCATED.inc()
        self._scopes[call.call_id] = shown.scope
        return Ready(shown.content, empty=shown.is_empty)


def _started(call: ToolCall, at: datetime) -> InvocationRecord:
    return InvocationRecord(
        session_id=call.session_id,
        run_id=call.run_id,
        tool_call_id=call.call_id,
        tool_name=ToolName(call.tool_name),
        input=recorded_input(call.arguments),
        input_hash=input_hash(call.arguments),
        state=InvocationState.STARTED,
        started_at=at,
    )


@cache
def _input_schema(envelope: type[Envelope[Any]]) -> Mapping[str, Any]:
    """Made once: it is the same byte for byte in every round of every run, and costs more than a run has to do."""
    return schema_of(envelope)


def _definitions(sources: Sources) -> tuple[_Definition, ...]:
    return (
        _Definition(ToolName.LOOKUP_KNOWLEDGE, Envelope[KnowledgeRequest], sources.knowledge),
        _Definition(ToolName.QUERY_LOGS, Envelope[LogRequest], sources.logs),
        _Definition(ToolName.QUERY_MYSQL, Envelope[MysqlRequest], sources.mysql),
    )

"""Runs the one diagnosis agent once for a question, and says how that ended (spec single-react).

One question is one call of the harness, which starts the framework's loop once: nothing here asks a model or an agent
again, whatever comes back. Who the run is and what it may use stands in the RunContext, which the caller makes, holds
on to for cancelling, and uses once.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.errors import InputError
from agrajag.harness import Model, RunContext, RunResult, StepHook, StopReason, Task, run_agent
from agrajag.investigation.draft_guard import guard
from agrajag.investigation.draft_parsing import parse_draft
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError, DraftFault
from agrajag.investigation.gate import InvestigationGate, Sources
from agrajag.investigation.ledger import InvocationLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.model_schema import draft_output_config
from agrajag.investigation.prompt import FINAL_TEXT, SYSTEM_PROMPT
from agrajag.investigation.question import PreviousTurn, user_message
from agrajag.investigation.requests import ToolName
from agrajag.investigation.result import DiagnosisExecutionResult, ExecutionStop
from agrajag.investigation.tool_texts import TOOL_TEXTS
from agrajag.metrics import INVESTIGATIONS

log = structlog.get_logger(__name__)

Outcome = DiagnosisExecutionResult | DiagnosisAgentOutputError | DiagnosisAgentError

_UNANSWERED = {
    StopReason.TRUNCATED: DraftFault.NOT_ENDED,
    StopReason.REFUSED: DraftFault.REFUSED,
    StopReason.BYTES_EXHAUSTED: DraftFault.TOO_LARGE,  # of the answer: all else was measured before it was accepted
}
_BUG = "BUG"
_AGENT_ERROR = "AGENT_ERROR"
_INPUT_REFUSED = "INPUT_REFUSED"


@dataclass(frozen=True, slots=True)
class Investigator:
    """The diagnosis agent with its sources; many runs side by side may share one.

    `tool_texts` is what the model is told of each tool, with the tables that may be read, for example.
    `structured_output` also sends the schema of the draft as the format of the answer, for servers that know it. The
    answer is read as strictly either way.
    """

    model: Model
    sources: Sources
    ledger: InvocationLedger
    limits: Limits = field(default_factory=Limits)
    hook: StepHook | None = None
    tool_texts: Mapping[ToolName, str] = field(default_factory=lambda: TOOL_TEXTS)
    structured_output: bool = False
    clock: Clock = utc_now

    def run_context(self, session_id: str, run_id: str) -> RunContext:
        """The context of one run that begins now. Needs a running event loop."""
        deadline = asyncio.get_running_loop().time() + self.limits.run_seconds
        return RunContext(run_id, session_id, self.limits.budgets, deadline)

    async def investigate(
        self, query: str, previous_turn: PreviousTurn | None, context: RunContext
    ) -> DiagnosisExecutionResult:
        """Ask once. A controlled stop is a result.

        Raises InputError before anything is asked, RuntimeError for a context that was used, DiagnosisAgentOutputError
        for an answer that is no valid draft, DiagnosisAgentError for everything else.
        """
        if context.begun:
            raise RuntimeError(f"run {context.run_id}: its context was used before")
        try:
            task = self._task(user_message(query, previous_turn, self.limits))
        except InputError:
            INVESTIGATIONS.labels(_INPUT_REFUSED).inc()
            raise
        outcome = await self._outcome(task, context)
        if isinstance(outcome, DiagnosisExecutionResult):
            return outcome
        # Here, where neither this frame nor an exception that is being handled holds what the model has written.
        raise outcome

    def _task(self, user: str) -> Task:
        return Task(
            system=SYSTEM_PROMPT,
            user=user,
            final_text=FINAL_TEXT,
            max_tokens=self.limits.reply_tokens,
            output_config=draft_output_config() if self.structured_output else None,
            one_tool_at_a_time=True,
        )

    async def _outcome(self, task: Task, context: RunContext) -> Outcome:
        gate = InvestigationGate(context, self.limits, self.ledger, self.sources, self.clock, self.tool_texts)
        ids = {"run_id": context.run_id, "session_id": context.session_id}
        try:
            result = await run_agent(self.model, context, task, gate.tools, gate, self.hook)
        except Exception as error:  # whatever it is: the run has failed, and its text may quote the model
            log.error("investigation_failed", error=type(error).__name__, **ids)
            outcome: Outcome = DiagnosisAgentError(_BUG)
        else:
            outcome = concluded(result, gate, self.limits.draft_bytes)
        INVESTIGATIONS.labels(_end(outcome)).inc()
        code = outcome.stop_reason if isinstance(outcome, DiagnosisExecutionResult) else outcome.code
        log.info("investigation_ended", end=str(code), checks=len(gate.snapshot.checks), **ids)
        return outcome


def _end(outcome: Outcome) -> str:
    match outcome:
        case DiagnosisExecutionResult():
            return outcome.stop_reason
        case DiagnosisAgentOutputError():
            return outcome.code
    return _AGENT_ERROR


def concluded(result: RunResult, gate: InvestigationGate, draft_bytes: int) -> Outcome:
    """What the end of the agent's run means. Of an answer that is no valid draft nothing is kept."""
    snapshot = gate.snapshot
    if result.stop is StopReason.COMPLETED:
        draft = parse_draft(result.texts, draft_bytes)
        fault = draft if isinstance(draft, DraftFault) else guard(draft, gate.records)
        if not isinstance(draft, DraftFault) and fault is None:
            return DiagnosisExecutionResult(
                draft=draft, snapshot=snapshot, stop_reason=ExecutionStop.COMPLETED
            )
    elif result.stop.name in ExecutionStop.__members__:
        return DiagnosisExecutionResult(
            draft=None, snapshot=snapshot, stop_reason=ExecutionStop[result.stop.name]
        )
    else:
        fault = _UNANSWERED.get(result.stop)
    if fault is None:
        return DiagnosisAgentError(result.stop.name)
    return DiagnosisAgentOutputError(fault, snapshot if snapshot.is_publishable else None)

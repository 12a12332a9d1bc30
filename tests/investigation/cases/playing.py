"""Plays a case on a model, scripted or real, and keeps all that there is to judge it by."""

import copy
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from anthropic import APIRequest, AsyncAPIResponse, AsyncCallNext, Middleware

from agrajag.harness import Model, RunContext
from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError
from agrajag.investigation.investigator import Investigator
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import InvocationRecord, ProgressSnapshot
from agrajag.investigation.tool_texts import TOOL_TEXTS, texts_with
from tests.builders import NOW
from tests.investigation.cases.case import Case
from tests.investigation.cases.world import Answers, Rows, sources_of
from tests.investigation.records import a_ready

ELSEWHERE = "run-elsewhere"


@dataclass(frozen=True)
class Played:
    """A case that was played. `end` is a stop reason or the code of an error; `draft` was accepted."""

    case: Case
    end: str
    draft: DiagnosisDraft | None
    snapshot: ProgressSnapshot | None
    records: Sequence[InvocationRecord]
    answers: Answers
    bodies: Sequence[Any] = ()
    logged: Sequence[MutableMapping[str, Any]] = ()
    model_calls: int = 0
    tokens: int = 0
    cost_usd: Decimal | None = None


@dataclass
class _Bodies(Middleware):
    """Keeps what a run asks a model, whichever that is."""

    kept: list[Any] = field(default_factory=list)

    async def handle_async(self, request: APIRequest, call_next: AsyncCallNext) -> AsyncAPIResponse[Any]:
        self.kept.append(copy.deepcopy(request.json))
        return await call_next(request)


async def play(
    case: Case,
    folder: Path,
    model: Model,
    ledger: MemoryLedger,
    logged: Sequence[MutableMapping[str, Any]] = (),
) -> Played:
    """The case from its question to its end, once. `logged` is where the caller catches log lines."""
    bodies, answers = _Bodies(), Answers()
    watched = copy.copy(model)
    watched.sdk = model.sdk.with_middleware(bodies)
    for call_id in case.answered_elsewhere:
        await ledger.write(a_ready(run_id=ELSEWHERE, tool_call_id=call_id))
    with sources_of(case, folder, answers) as sources:
        columns = Rows(case).columns
        investigator = Investigator(
            watched,
            sources,
            ledger,
            Limits(**case.limits),
            tool_texts=texts_with(columns) if columns else TOOL_TEXTS,
            clock=lambda: NOW,
        )
        context = investigator.run_context("session-cases", case.run_id)
        end, draft, snapshot = await _ended(investigator, case, context)
    return Played(
        case,
        end,
        draft,
        snapshot,
        await ledger.of_run(case.run_id),
        answers,
        bodies.kept,
        logged,
        context.spent.model_calls,
        context.spent.tokens,
        context.cost_usd,
    )


async def _ended(
    investigator: Investigator, case: Case, context: RunContext
) -> tuple[str, DiagnosisDraft | None, ProgressSnapshot | None]:
    try:
        result = await investigator.investigate(case.question, case.previous_turn, context)
    except DiagnosisAgentOutputError as error:
        return error.code, None, error.snapshot
    except DiagnosisAgentError as error:
        return error.code, None, None
    return result.stop_reason, result.draft, result.snapshot

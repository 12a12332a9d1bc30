"""Runs of the real harness against a scripted model, with a gate, and sources that are told what to say."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agrajag.harness import Failed, RunContext, RunResult, run_agent
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.gate import InvestigationGate, Sources
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import InvocationRecord
from agrajag.investigation.requests import ToolName
from tests.harness.replies import Block, Reply, text, use
from tests.harness.runs import TASK, connected
from tests.harness.scripted_model import ScriptedModel
from tests.investigation.records import NOW

LIMITS = Limits(tool_attempts=8, no_gains=3, model_calls=10)
DESCRIPTIONS = {name: f"Look with {name.value}." for name in ToolName}
DONE = text("done")
NOTHING = Found([], Scope(source="nowhere"))
SOMETHING = Found(
    [{"document": "timeouts.md", "heading": "Pool", "text": "exhausted"}], Scope(source="runbooks")
)


def a_line(**changes: Any) -> Found:
    """One line of a log."""
    line = {"time": NOW, "level": "ERROR", "service": "checkout", "message": "timeout", **changes}
    return Found([line], Scope(source="logs", subjects=("checkout",)))


def look(call_id: str, query: Any = None, previous: Any = None, **extra: Any) -> Block:
    """A call of lookup_knowledge; `query` is a new one for each id. `previous`: (call id, evaluation) or as it is."""
    arguments: dict[str, Any] = {"input": {"query": f"about {call_id}" if query is None else query}, **extra}
    if previous is not None:
        pair = isinstance(previous, tuple)
        arguments["previous_observation"] = (
            {"tool_call_id": previous[0], "evaluation": previous[1]} if pair else previous
        )
    return use(call_id, ToolName.LOOKUP_KNOWLEDGE.value, **arguments)


Answer = Found | Failed | BaseException


@dataclass
class Source:
    """A source that answers by call id, and else with `usually`; it notes what it was asked."""

    usually: Answer = field(default_factory=lambda: SOMETHING)
    by_id: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[CallIds, Any]] = field(default_factory=list)
    before: Callable[[CallIds], Awaitable[Sequence[InvocationRecord]]] | None = None
    seen: list[InvocationRecord] = field(default_factory=list)

    async def look(self, ids: CallIds, asked: Any) -> Found | Failed:
        self.asked.append((ids, asked))
        if self.before is not None:
            self.seen += await self.before(ids)
        answer = self.by_id.get(ids.tool_call_id, self.usually)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def ids(self) -> list[str]:
        return [ids.tool_call_id for ids, _ in self.asked]


class FailingLedger(MemoryLedger):
    """A ledger that does not take the records that `fails` says: it raises, or never comes back."""

    def __init__(self, fails: Callable[[InvocationRecord], bool], *, hangs: bool = False) -> None:
        super().__init__()
        self._fails = fails
        self._hangs = hangs

    async def write(self, record: InvocationRecord) -> None:
        if self._hangs and self._fails(record):
            await asyncio.Event().wait()
        if self._fails(record):
            raise OSError("SECRET")
        await super().write(record)


@dataclass
class GateRun:
    """What a run has left behind. `observations`: all that the model was told, in order."""

    result: RunResult
    gate: InvestigationGate
    context: RunContext
    server: ScriptedModel

    @property
    def observations(self) -> list[dict[str, Any]]:
        return [found for request in self.server.requests[1:] for found in request.results]

    @property
    def told(self) -> list[tuple[str, str | None]]:
        """Status and code of each observation."""
        return [(found["evidence_status"], found.get("code")) for found in self.observations]


def a_context(limits: Limits = LIMITS) -> RunContext:
    """A context that has a minute left."""
    return RunContext("run-1", "session-1", limits.budgets, asyncio.get_running_loop().time() + 60)


async def gated(
    script: Sequence[Reply],
    source: Source | None = None,
    *,
    ledger: MemoryLedger | None = None,
    limits: Limits = LIMITS,
    context: RunContext | None = None,
    sources: Sources | None = None,
) -> GateRun:
    """One run with this script, all three tools leading to one source unless a test brings its own."""
    source = source or Source()
    context = context or a_context(limits)
    given = sources or Sources(source, source, source)
    gate = InvestigationGate(context, limits, ledger or MemoryLedger(), given, lambda: NOW, DESCRIPTIONS)
    async with ScriptedModel(script, checks=False) as server, connected(server.url) as model:
        task = replace(TASK, one_tool_at_a_time=True)
        result = await run_agent(model, context, task, gate.tools, gate)
    return GateRun(result, gate, context, server)

"""One investigation as it is played: a scripted model over a socket, sources that find what they were told to.

Afterwards a scene holds what the model was asked, what each source saw, every write of the ledger and every step that
the hook saw.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from agrajag.harness import AgentStep, Failed, RunContext, StepHook
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.gate import Sources
from agrajag.investigation.investigator import Investigator
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.question import PreviousTurn
from agrajag.investigation.records import InvocationRecord
from agrajag.investigation.requests import ToolName
from agrajag.investigation.result import DiagnosisExecutionResult
from tests.builders import NOW
from tests.harness.replies import Block, Message, Reply, text, use
from tests.harness.runs import connected
from tests.harness.scripted_model import Request, ScriptedModel

QUERY = "order-service 从 14:00 起返回 503，原因是什么？"
KNOWLEDGE, LOGS, MYSQL = ToolName
EMPTY = Found((), Scope(source="runbooks", subjects=("runbooks",)))
WINDOW = {"since": "2026-05-23T12:00:00Z", "until": "2026-05-23T13:00:00Z"}
NOTHING: dict[str, Any] = {"missing_info": ["故障的起止时间"], "checked_scope": []}
CHECKED: dict[str, Any] = {"missing_info": ["更早的日志"], "checked_scope": ["runbooks"]}


def found(*texts: str, **changes: Any) -> Found:
    """Sections of a runbook with these texts."""
    items = tuple({"document": "pools.md", "heading": "503", "text": text} for text in texts)
    return replace(Found(items, EMPTY.scope), **changes)


@dataclass
class Source:
    """A source of evidence that notes who asked what."""

    finds: Found | Failed | Exception = field(default_factory=lambda: found("连接池耗尽时返回 503。"))
    seen: list[tuple[CallIds, FrozenModel]] = field(default_factory=list)

    async def look(self, ids: CallIds, asked: FrozenModel) -> Found | Failed:
        self.seen.append((ids, asked))
        if isinstance(self.finds, Exception):
            raise self.finds
        return self.finds

    @property
    def ids(self) -> list[str]:
        """The ids of the calls, in their order."""
        return [ids.tool_call_id for ids, _ in self.seen]


@dataclass
class Hanging(Source):
    """A source that never answers."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, ids: CallIds, asked: FrozenModel) -> Found | Failed:
        self.seen.append((ids, asked))
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


class Ledger(MemoryLedger):
    """A ledger that also keeps each write as it came."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[InvocationRecord] = []

    async def write(self, record: InvocationRecord) -> None:
        self.writes.append(record)
        await super().write(record)


@dataclass
class Seen:
    """A hook that keeps what it sees."""

    steps: list[AgentStep] = field(default_factory=list)

    async def step(self, step: AgentStep) -> None:
        self.steps.append(step)


@dataclass
class Scene:
    """An investigator with everything around it; as a context manager it answers with the script."""

    script: Sequence[Reply] | Callable[[Request], Reply]
    limits: Limits = field(default_factory=Limits)
    knowledge: Source = field(default_factory=Source)
    logs: Source = field(default_factory=Source)
    mysql: Source = field(default_factory=Source)
    ledger: Ledger = field(default_factory=Ledger)
    hook: StepHook | None = None
    structured_output: bool = False
    lenient: bool = False
    """The server takes what the API would refuse, as some gateways do."""
    context: RunContext = field(init=False)

    async def __aenter__(self) -> Self:
        self.server = ScriptedModel(self.script, checks=not self.lenient)
        await self.server.__aenter__()
        self._model = connected(self.server.url)
        sources = Sources(self.knowledge, self.logs, self.mysql)
        self.investigator = Investigator(
            await self._model.__aenter__(),
            sources,
            self.ledger,
            self.limits,
            self.hook,
            structured_output=self.structured_output,
            clock=clock,
        )
        self.context = self.investigator.run_context("session-1", "run-1")
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._model.__aexit__(*error)
        await self.server.__aexit__(*error)

    async def ask(self, query: str = QUERY, turn: PreviousTurn | None = None) -> DiagnosisExecutionResult:
        """Ask in the context of the scene."""
        return await self.investigator.investigate(query, turn, self.context)

    @property
    def requests(self) -> list[Request]:
        """What the model was asked, over HTTP."""
        return self.server.requests

    @property
    def adapters_asked(self) -> list[str]:
        """The ids of all calls that reached a source."""
        return [*self.knowledge.ids, *self.logs.ids, *self.mysql.ids]

    def observation(self, number: int) -> dict[str, Any]:
        """The one observation in the request of this number, counted from 0."""
        [told] = self.requests[number].results
        return told

    async def records(self, run_id: str = "run-1") -> list[InvocationRecord]:
        """What is on record of a run in the end."""
        return await self.ledger.of_run(run_id)


async def played(
    scene: Scene, query: str = QUERY, turn: PreviousTurn | None = None
) -> DiagnosisExecutionResult:
    """The scene from its beginning to its end."""
    async with scene:
        return await scene.ask(query, turn)


async def told(scene: Scene, number: int = 1) -> dict[str, Any]:
    """The observation in the request of this number, once the scene is played."""
    await played(scene)
    return scene.observation(number)


def clock() -> datetime:
    """The time of all records."""
    return NOW


def lookup(
    call_id: str, query: str = "503", previous: str | None = None, worth: str = "GAINED", **more: Any
) -> Block:
    """A call of `lookup_knowledge`, with what it says of the observation before."""
    envelope: dict[str, Any] = {"input": {"query": query, **more}}
    if previous is not None:
        envelope["previous_observation"] = {"tool_call_id": previous, "evaluation": worth}
    return use(call_id, KNOWLEDGE.value, **envelope)


def observed(*call_ids: str, **changes: Any) -> dict[str, Any]:
    """An item of an analysis: something that was seen in these calls."""
    item = {
        "type": "OBSERVATION",
        "statement": "连接池耗尽。",
        "tool_call_ids": list(call_ids),
        "scope": None,
    }
    return {**item, **changes}


def not_found(*call_ids: str, scope: str | None = "runbooks") -> dict[str, Any]:
    """An item of an analysis: something that these calls did not find."""
    return observed(*call_ids, type="NEGATIVE_OBSERVATION", statement="手册中没有记载。", scope=scope)


def draft(*analysis: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A draft with a conclusion exactly if something was observed."""
    seen = any(item["type"] == "OBSERVATION" for item in analysis)
    whole = {
        "conclusion": {"summary": "连接池耗尽。", "root_cause": None} if seen else None,
        "analysis": list(analysis),
        "action_plan": ["扩大连接池。"],
        "recommendations": ["监控连接池。"],
        "limitations": CHECKED if analysis else NOTHING,
    }
    return {**whole, **changes}


def answer(written: dict[str, Any]) -> Message:
    """The draft as the model's last text."""
    return text(json.dumps(written, ensure_ascii=False))


ENDED = answer(draft())
"""An answer that is good where nothing was found out."""

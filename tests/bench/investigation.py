"""What an investigation costs, beside the same rounds on the SDK's own tool runner without any of our checks."""

import json
from typing import Any
from uuid import uuid4

import anthropic
from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool
from anthropic.types.beta import BetaToolParam

from agrajag.harness import Model, ModelAccess, connect
from agrajag.investigation.envelope import Envelope
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.gate import Sources
from agrajag.investigation.investigator import Investigator
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.model_schema import schema_of
from agrajag.investigation.prompt import SYSTEM_PROMPT
from agrajag.investigation.question import user_message
from agrajag.investigation.requests import KnowledgeRequest, LogRequest, MysqlRequest, ToolName
from agrajag.investigation.result import ExecutionStop
from agrajag.investigation.tool_texts import TOOL_TEXTS
from tests.bench.rounds import INVESTIGATES, median_of, model_process
from tests.harness.scripted_model import KEY

_ROUNDS = 4
_QUERY = "order-service 从 2026-11-03 14:00 (UTC) 起返回 503，原因是什么？"
_ITEMS = [
    {"document": "order-service.md", "heading": f"第 {number} 节", "text": "连接池耗尽时返回 503。" * 20}
    for number in range(5)
]


class _Ready:
    """A source that has its answer at hand."""

    async def look(self, ids: CallIds, asked: FrozenModel) -> Found:
        return Found(_ITEMS, Scope(source="bench", subjects=("order-service.md",)))


async def measure() -> dict[str, float]:
    """`investigation.run_over_sdk`: the CPU of a run of three tool calls and a draft, over that of the bare runner.

    Model and sources answer at once; prompt, tools and observations are equally large on both sides.
    """
    async with model_process(INVESTIGATES) as url:
        model = connect(ModelAccess("scripted", url, KEY))
        assert isinstance(model, Model)
        bare = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)
        ready = _Ready()
        investigator = Investigator(model, Sources(ready, ready, ready), MemoryLedger())
        async with model, bare:
            ours, sdk = await median_of(
                _ROUNDS, lambda: _investigated(investigator), lambda: _on_the_sdk(bare, investigator)
            )
    return {"investigation.run_us": ours * _ROUNDS, "investigation.run_over_sdk": ours / sdk}


async def _investigated(investigator: Investigator) -> None:
    result = await investigator.investigate(_QUERY, None, investigator.run_context("bench", uuid4().hex))
    assert result.stop_reason is ExecutionStop.COMPLETED
    assert len(result.snapshot.checks) == _ROUNDS - 1


class _BareTool(BetaAsyncBuiltinFunctionTool):
    """A tool of the same definition, which answers with an observation of the same length."""

    def __init__(self, definition: BetaToolParam) -> None:
        self._definition = definition

    def to_dict(self) -> BetaToolParam:
        return self._definition

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        return _OBSERVATION


_OBSERVATION = json.dumps(
    {
        "evidence_status": "EVIDENCE",
        "tool_call_id": "call-1",
        "items": _ITEMS,
        "scope": {"source": "bench", "subjects": ["order-service.md"]},
        "truncated": False,
    },
    ensure_ascii=False,
)


async def _on_the_sdk(client: anthropic.AsyncAnthropic, investigator: Investigator) -> None:
    runner = client.beta.messages.tool_runner(
        model="scripted",
        max_tokens=investigator.limits.reply_tokens,
        system=SYSTEM_PROMPT,
        messages=[{"role": "user", "content": user_message(_QUERY, None, investigator.limits)}],
        tools=_TOOLS,
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        thread=False,
    )
    reply = await runner.until_done()
    assert reply.stop_reason == "end_turn"


def _definition(name: ToolName, envelope: type[Envelope[Any]]) -> BetaToolParam:
    schema = dict(schema_of(envelope))
    return {"type": "custom", "name": name, "description": TOOL_TEXTS[name], "input_schema": schema}


_TOOLS = [
    _BareTool(_definition(name, envelope))
    for name, envelope in (
        (ToolName.LOOKUP_KNOWLEDGE, Envelope[KnowledgeRequest]),
        (ToolName.QUERY_LOGS, Envelope[LogRequest]),
        (ToolName.QUERY_MYSQL, Envelope[MysqlRequest]),
    )
]

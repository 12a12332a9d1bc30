"""One run: what is sent in each round, what comes back, and that nothing is sent that no round asked for."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from agrajag.errors import ConfigError, InputError
from agrajag.harness import NotAdmitted, Prices, StopReason, Usage, run_agent
from agrajag.harness.calls import Admission, Admitted, EvidenceStatus, ToolCall
from tests.harness.replies import Message, calls, text, use
from tests.harness.runs import TASK, Looking, Recorded, connected, context, run
from tests.harness.scripted_model import ScriptedModel


async def test_a_run_calls_its_tool_and_gives_back_the_answer() -> None:
    looking, audit = Looking(), Recorded()
    async with ScriptedModel([calls(use("call-1", place="Magrathea")), text("It is the token.")]) as server:
        result = await run(server, looking.tool(), audit=audit)
    assert (result.stop, result.texts, result.final) == (StopReason.COMPLETED, ("It is the token.",), None)
    assert (result.model_calls, result.tool_calls) == (2, 1)
    assert looking.calls == [ToolCall("session-1", "run-1", "call-1", "look", {"place": "Magrathea"})]
    assert server.requests[1].results == [
        {"evidence_status": "EVIDENCE", "tool_call_id": "call-1", "seen": "nothing unusual"}
    ]
    assert audit.lines == [("started", "call-1"), ("evidence", "call-1")]
    assert len(server.requests) == 2


async def test_every_round_carries_the_whole_history_and_the_same_tools() -> None:
    async with ScriptedModel([calls(use("a")), calls(use("b")), text("done")]) as server:
        await run(server, Looking().tool(), replace(Looking().tool(), name="listen"))
    assert [len(request.body["messages"]) for request in server.requests] == [1, 3, 5]
    assert len({request.tools for request in server.requests}) == 1
    assert [tool["name"] for tool in server.requests[0].body["tools"]] == ["look", "listen"]
    assert all("thread" not in request.body for request in server.requests)


async def test_the_final_round_keeps_the_tools_and_may_not_use_them() -> None:
    async with ScriptedModel([calls(use("a")), text("done")]) as server:
        result = await run(server, bounds=context(model_calls=2))
    first, last = (request.body for request in server.requests)
    assert first["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": False}
    assert last["tool_choice"] == {"type": "none"}
    assert json.dumps(first["tools"]) == json.dumps(last["tools"])
    assert [block["type"] for block in last["messages"][-1]["content"]] == ["tool_result", "text"]
    assert last["messages"][-1]["content"][-1]["text"] == TASK.final_text
    assert (result.stop, result.final) == (StopReason.COMPLETED, StopReason.MODEL_CALLS_EXHAUSTED)


async def test_a_run_without_tools_chooses_none() -> None:
    async with ScriptedModel([text("done")]) as server, connected(server.url) as model:
        result = await run_agent(model, context(model_calls=1), TASK, [], Recorded())
    assert result.stop is StopReason.COMPLETED
    assert "tool_choice" not in server.requests[0].body


async def test_the_question_and_the_format_of_the_answer_are_sent_as_they_are() -> None:
    config = {"format": {"type": "json_schema", "schema": {"type": "object"}}, "effort": "low"}
    task = replace(TASK, user="  wörtlich \n\t ", output_config=config, one_tool_at_a_time=True)
    async with ScriptedModel([text("done")]) as server:
        await run(server, task=task)
    body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": "  wörtlich \n\t "}]
    assert body["output_config"] == config
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["system"] == TASK.system


async def test_the_texts_of_an_answer_stay_apart() -> None:
    async with ScriptedModel([text("one", "two")]) as server:
        assert (await run(server)).texts == ("one", "two")


async def test_usage_and_cost_are_the_sum_of_all_rounds() -> None:
    usage = {
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 3,
    }
    prices = Prices(Decimal(100), Decimal(500), Decimal(125), Decimal(10), 15, Decimal(5))
    script = [calls(use("a"), usage=usage), text("done", usage={"input_tokens": 1, "output_tokens": 1})]
    async with ScriptedModel(script) as server:
        result = await run(server, prices=prices)
    assert result.usage == Usage(11, 3, 5, 3, complete=True)
    assert result.cost_usd == (Decimal(1_000 + 1_000 + 625 + 30) * 5 + 600) / 1_000_000


async def test_a_reply_without_usage_counts_nothing_and_says_so() -> None:
    async with ScriptedModel([calls(use("a"), usage=None), text("done")]) as server:
        result = await run(server)
    assert result.usage == Usage(100, 20, 0, 0, complete=False)
    assert not result.usage_complete


async def test_a_rule_of_admission_may_unwrap_the_arguments_or_answer_instead() -> None:
    async def admit(call: ToolCall) -> Admission:
        if "input" in call.arguments:
            return Admitted(call.arguments["input"])
        return NotAdmitted(EvidenceStatus.REPAIR, {"code": "MISSING", "fields": ["input"]})

    looking, audit = Looking(), Recorded()
    script = [calls(use("a", place="x")), calls(use("b", input={"place": "y"})), text("done")]
    async with ScriptedModel(script) as server:
        result = await run(server, looking.tool(admit=admit), audit=audit)
    assert server.requests[1].results == [
        {"evidence_status": "REPAIR", "tool_call_id": "a", "code": "MISSING", "fields": ["input"]}
    ]
    assert [(call.call_id, call.arguments) for call in looking.calls] == [("b", {"place": "y"})]
    assert audit.lines == [("started", "b"), ("evidence", "b")]
    assert result.tool_calls == 1


async def test_a_fault_in_a_rule_of_admission_ends_the_run_as_a_bug_and_tells_the_model_nothing() -> None:
    async def admit(call: ToolCall) -> Admission:
        raise KeyError("SECRET")

    async with ScriptedModel([calls(use("a")), text("done")]) as server:
        with pytest.raises(RuntimeError, match="run-1: call a of look"):
            await run(server, Looking().tool(admit=admit))
    assert len(server.requests) == 1


async def test_a_tool_that_does_not_exist_is_not_emulated_and_leaves_no_record() -> None:
    looking, audit = Looking(), Recorded()
    name = "rm\n-rf"
    async with ScriptedModel([calls(use("a", name=name), use("b")), text("done")]) as server:
        result = await run(server, looking.tool(), audit=audit)
    assert result.stop is StopReason.COMPLETED
    assert looking.ids == ["b"]
    assert {call_id for _, call_id in audit.lines} == {"b"}
    assert server.requests[1].body["messages"][-1]["content"][0]["is_error"] is True


async def test_a_context_is_used_once() -> None:
    bounds = context()
    async with ScriptedModel([text("done"), text("again")]) as server:
        await run(server, bounds=bounds)
        with pytest.raises(RuntimeError, match="run-1"):
            await run(server, bounds=bounds)
    assert len(server.requests) == 1


async def test_half_a_character_is_refused_before_anything_is_sent() -> None:
    async with ScriptedModel([text("done")]) as server:
        with pytest.raises(InputError, match="surrogate"):
            await run(server, task=replace(TASK, user="\ud800"))
    assert server.requests == []


async def test_two_tools_of_one_name_are_refused() -> None:
    async with ScriptedModel([text("done")]) as server:
        with pytest.raises(ConfigError, match="look, look"):
            await run(server, Looking().tool(), Looking().tool())
    assert server.requests == []


async def test_thoughts_go_back_to_the_model_and_are_no_part_of_the_answer() -> None:
    thought = {"type": "thinking", "thinking": "hmm", "signature": "s"}
    script = [calls(thought, use("a")), Message([thought, {"type": "text", "text": "done"}])]
    async with ScriptedModel(script) as server:
        assert (await run(server)).texts == ("done",)
    assert server.requests[1].body["messages"][1]["content"][0] == thought

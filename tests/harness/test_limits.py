"""Every bound of a run holds: on rounds, tokens, tool calls, text, observations, and on the size of one reply."""

from dataclasses import replace

import pytest

from agrajag.harness import Ready, StopReason
from tests.harness.replies import Block, Endless, Message, calls, text, use
from tests.harness.runs import TASK, Looking, context, run
from tests.harness.scripted_model import Request, ScriptedModel


def asking_for_ever(request: Request) -> Message:
    """A model that always wants one more look."""
    return calls(use(f"call-{len(request.body['messages'])}"))


async def test_a_model_that_never_stops_is_stopped_by_the_number_of_rounds() -> None:
    looking = Looking()
    async with ScriptedModel(asking_for_ever) as server:
        result = await run(server, looking.tool(), bounds=context(model_calls=3, tool_calls=100))
    assert result.stop is StopReason.MODEL_CALLS_EXHAUSTED
    assert (len(server.requests), result.model_calls) == (3, 3)
    assert len(looking.calls) == 2  # what it asked for in its final round could not have been read
    assert result.texts == ()


async def test_a_reply_paused_for_ever_is_stopped_by_the_number_of_rounds() -> None:
    paused = Message([{"type": "text", "text": "let me think"}], stop_reason="pause_turn")
    async with ScriptedModel(lambda _request: paused) as server:
        result = await run(server, bounds=context(model_calls=3))
    assert (result.stop, len(server.requests)) == (StopReason.MODEL_CALLS_EXHAUSTED, 3)
    assert server.requests[-1].body["tool_choice"] == {"type": "none"}


async def test_the_limit_of_tool_calls_leaves_one_round_to_answer() -> None:
    looking = Looking()
    script = [calls(use("a")), calls(use("b")), text("done")]
    async with ScriptedModel(script) as server:
        result = await run(server, looking.tool(), bounds=context(tool_calls=2))
    assert (result.stop, result.final) == (StopReason.COMPLETED, StopReason.TOOL_CALLS_EXHAUSTED)
    assert [request.body["tool_choice"]["type"] for request in server.requests] == ["auto", "auto", "none"]


async def test_calls_beyond_the_limit_in_one_reply_are_told_to_stop() -> None:
    looking = Looking()
    blocks: list[Block] = [use(f"call-{number}") for number in range(20)]
    async with ScriptedModel([calls(*blocks), text("done")]) as server:
        result = await run(server, looking.tool(), bounds=context(tool_calls=2))
    assert looking.ids == ["call-0", "call-1"]
    assert server.requests[1].results[2:] == [
        {"evidence_status": "STOP_REQUIRED", "tool_call_id": f"call-{number}"} for number in range(2, 20)
    ]
    assert (result.stop, result.tool_calls) == (StopReason.COMPLETED, 2)


async def test_a_model_that_ignores_its_final_round_ends_with_the_reason_that_made_it_final() -> None:
    looking = Looking()
    async with ScriptedModel(asking_for_ever) as server:
        result = await run(server, looking.tool(), bounds=context(tool_calls=1))
    assert (result.stop, len(server.requests)) == (StopReason.TOOL_CALLS_EXHAUSTED, 2)
    assert len(looking.calls) == 1


async def test_without_tool_calls_to_spend_the_first_round_is_the_final_one() -> None:
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, bounds=context(tool_calls=0))
    assert result.final is StopReason.TOOL_CALLS_EXHAUSTED
    assert server.requests[0].body["messages"][0]["content"] == [
        {"type": "text", "text": TASK.user},
        {"type": "text", "text": TASK.final_text},
    ]


async def test_a_tool_may_require_the_stop_for_want_of_news() -> None:
    bounds, looking = context(), Looking()

    async def saturated(call: object) -> Ready:
        bounds.require_stop(StopReason.INFORMATION_SATURATION)
        bounds.require_stop(StopReason.CANCELLED)  # the first one stays
        return Ready({}, empty=True)

    async with ScriptedModel([calls(use("a"), use("b")), calls(use("c"))]) as server:
        result = await run(server, replace(looking.tool(), run=saturated), bounds=bounds)
    assert [found["evidence_status"] for found in server.requests[1].results] == [
        "NO_EVIDENCE",
        "STOP_REQUIRED",
    ]
    assert result.stop is StopReason.INFORMATION_SATURATION


async def test_only_a_limit_can_require_a_stop() -> None:
    with pytest.raises(ValueError, match="overloaded"):
        context().require_stop(StopReason.OVERLOADED)


async def test_tokens_are_overdrawn_by_one_round_at_most_and_no_tool_runs_after() -> None:
    looking = Looking()
    usage = {"input_tokens": 900, "output_tokens": 700}
    async with ScriptedModel([calls(use("a"), usage=usage), text("done")]) as server:
        result = await run(server, looking.tool(), bounds=context(tokens=1_000))
    assert (result.stop, result.usage.total) == (StopReason.TOKENS_EXHAUSTED, 1_600)
    assert (len(server.requests), looking.calls) == (1, [])


async def test_a_paused_reply_is_not_resumed_without_tokens() -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 0}
    paused = Message([{"type": "text", "text": "…"}], stop_reason="pause_turn", usage=usage)
    async with ScriptedModel([paused, text("done")]) as server:
        result = await run(server, bounds=context(tokens=1_000))
    assert (result.stop, len(server.requests)) == (StopReason.TOKENS_EXHAUSTED, 1)


@pytest.mark.parametrize("tokens", [2**60, 10**300])
async def test_a_usage_beyond_all_measure_ends_the_run(tokens: int) -> None:
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    async with ScriptedModel([calls(use("a"), usage=usage), text("done")]) as server:
        result = await run(server)
    assert result.stop is StopReason.TOKENS_EXHAUSTED
    assert result.usage.total == 2**54


async def test_an_answer_has_no_more_room_than_there_are_tokens() -> None:
    script = [
        calls(use("a"), usage={"input_tokens": 500, "output_tokens": 100}),
        text("It", stop_reason="max_tokens"),
    ]
    async with ScriptedModel(script) as server:
        result = await run(server, bounds=context(tokens=900))
    assert [request.body["max_tokens"] for request in server.requests] == [900, 300]
    assert result.stop is StopReason.TOKENS_EXHAUSTED


async def test_an_answer_that_was_cut_with_tokens_left_is_truncated() -> None:
    async with ScriptedModel([text("It is", stop_reason="max_tokens")]) as server:
        result = await run(server)
    assert (result.stop, result.texts) == (StopReason.TRUNCATED, ())


async def test_an_input_beyond_its_bytes_is_refused_before_anything_is_sent() -> None:
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, task=replace(TASK, user="ü" * 6), bounds=context(text_bytes=11))
    assert (result.stop, server.requests) == (StopReason.BYTES_EXHAUSTED, [])


async def test_input_and_answer_are_counted_once_each() -> None:
    for allowed, stop in ((9, StopReason.COMPLETED), (8, StopReason.BYTES_EXHAUSTED)):
        async with ScriptedModel([calls(use("a")), text("äö", "s")]) as server:
            result = await run(server, task=replace(TASK, user="1234"), bounds=context(text_bytes=allowed))
        assert result.stop is stop
        assert bool(result.texts) == (stop is StopReason.COMPLETED)


async def test_an_observation_that_does_not_fit_is_kept_back_and_ends_the_collecting() -> None:
    looking = Looking(Ready({"seen": "x" * 100}))
    async with ScriptedModel([calls(use("a"), use("b")), text("done")]) as server:
        result = await run(server, looking.tool(), bounds=context(observation_bytes=150))
    assert [found.get("code", found["evidence_status"]) for found in server.requests[1].results] == [
        "EVIDENCE",
        "OBSERVATION_TOO_LARGE",
    ]
    assert (result.stop, result.final) == (StopReason.COMPLETED, StopReason.BYTES_EXHAUSTED)


async def test_of_a_reply_without_end_no_more_is_read_than_a_reply_may_have() -> None:
    async with ScriptedModel([Endless()]) as server:
        result = await run(server, max_reply_bytes=100_000)
        await server.abandoned.wait()
    assert result.stop is StopReason.REPLY_TOO_LARGE
    assert server.sent_bytes < 20_000_000  # what the sockets hold

"""Requirement: Diagnosis execution SHALL use one framework ReactAgent."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import agrajag
from agrajag.errors import ConfigError
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError
from tests.harness.replies import Body, Cut, Reply, Status, calls, text
from tests.harness.runs import access
from tests.investigation.scenarios.scene import Scene, answer, draft, lookup, observed, played
from tests.investigation.scenarios.titles import clause, scenario

PACKAGE = Path(agrajag.__file__).parent
TWO_CALLS = [
    calls(lookup("call-1")),
    calls(lookup("call-2", "连接池", previous="call-1")),
    answer(draft(observed("call-1", "call-2"))),
]


def sites(end: str, under: str = "") -> list[str]:
    """Where in the package something is called whose name ends so: the module of each call."""
    return [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted((PACKAGE / under).rglob("*.py"))
        for name in called(path.read_text("utf-8"), end)
        if name.endswith(end)
    ]


def called(source: str, word: str) -> Iterator[str]:
    """The names that a module with this word in it calls, with whatever stands before them."""
    nodes = ast.walk(ast.parse(source)) if word in source else ()
    return (ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call))


@clause("one agent is made, with the loop of the framework")
async def test_one_agent_is_made_with_the_loop_of_the_framework() -> None:
    assert sites("tool_runner") == ["harness/loop.py"]
    assert sites("run_agent", under="investigation") == ["investigation/investigator.py"]
    scene = Scene(TWO_CALLS)
    await played(scene)
    first, second, third = (request.body["messages"] for request in scene.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message["role"] for message in third] == ["user", "assistant", "user", "assistant", "user"]


@clause("no second agent, no graph around it and no loop of our own is made")
async def test_no_second_agent_no_graph_around_it_and_no_loop_of_our_own_is_made() -> None:
    for asking in ("messages.create", "messages.stream", "messages.parse", "batches.create"):
        assert sites(asking) == []
    scene = Scene(TWO_CALLS)
    await played(scene)
    assert len({(request.body["system"], request.tools) for request in scene.requests}) == 1
    assert len({str(request.body["messages"][0]) for request in scene.requests}) == 1


@clause("one use-case invocation calls the agent once")
async def test_one_use_case_invocation_calls_the_agent_once() -> None:
    async with Scene([answer(draft()), answer(draft())]) as scene:
        await scene.ask()
        assert len(scene.requests) == 1
        with pytest.raises(RuntimeError, match="run-1: its context was used before"):
            await scene.ask()
        assert len(scene.requests) == 1
        other = scene.investigator.run_context("session-1", "run-2")
        await scene.investigator.investigate("还在发生吗？", None, other)
    assert len(scene.requests) == 2


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Status(429, "rate_limit_error", {"retry-after": "0"}), "RATE_LIMITED"),
        (Status(500), "SERVER_ERROR"),
        (Status(529, "overloaded_error", {"x-should-retry": "true"}), "OVERLOADED"),
        (Status(408), "MODEL_TIMEOUT"),
        (Cut(0), "CONNECTION_LOST"),
        (Body(b"no json"), "MALFORMED_REPLY"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("round_number", [1, 2])
@clause("neither the agent nor a model call is wrapped in a retry")
async def test_neither_the_agent_nor_a_model_call_is_wrapped_in_a_retry(
    reply: Reply, code: str, round_number: int
) -> None:
    before = [calls(lookup("call-1"))][: round_number - 1]
    scene = Scene([*before, reply, answer(draft())])
    with pytest.raises(DiagnosisAgentError) as raised:
        await played(scene)
    assert raised.value.code == code
    assert len(scene.requests) == round_number


@pytest.mark.parametrize("retries", [1, 2, -1])
@clause("neither the agent nor a model call is wrapped in a retry")
def test_neither_the_agent_nor_a_model_call_is_wrapped_in_a_retry_of_the_sdk(retries: int) -> None:
    with pytest.raises(ConfigError, match="max_retries"):
        replace(access("http://127.0.0.1:1"), max_retries=retries)


@scenario("Diagnosis needs Tool evidence")
async def test_diagnosis_needs_tool_evidence() -> None:
    scene = Scene(TWO_CALLS)
    result = await played(scene)
    assert scene.knowledge.ids == ["call-1", "call-2"]
    assert result.draft is not None
    assert result.draft.analysis[0].tool_call_ids == ("call-1", "call-2")
    assert len(scene.requests) == 3


@pytest.mark.parametrize(
    "reply", [Status(529), text("根因是连接池耗尽。"), text("{}")], ids=["529", "prose", "{}"]
)
@scenario("Agent execution fails")
async def test_agent_execution_fails(reply: Reply) -> None:
    scene = Scene([reply, answer(draft())])
    with pytest.raises((DiagnosisAgentError, DiagnosisAgentOutputError)):
        await played(scene)
    assert len(scene.requests) == 1

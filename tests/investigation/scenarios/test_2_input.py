"""Requirement: Diagnosis input SHALL contain only current Query and optional PreviousTurn."""

import inspect
import json
from typing import Any

import pytest
from pydantic import ValidationError

from agrajag.errors import InputError
from agrajag.investigation.draft import Conclusion
from agrajag.investigation.investigator import Investigator
from agrajag.investigation.limits import Limits
from agrajag.investigation.question import PreviousTurn, read_question
from tests.harness.replies import calls
from tests.investigation.scenarios.scene import Scene, answer, draft, lookup, observed, played
from tests.investigation.scenarios.titles import clause, scenario

TURN = PreviousTurn(
    query="支付为什么慢？",
    conclusion=Conclusion(summary="连接池耗尽。", root_cause=None),
    missing_info=("连接池的上限",),
)
TURN_FIELDS = {
    "query": "支付为什么慢？",
    "conclusion": {"summary": "连接池耗尽。", "root_cause": None},
    "missing_info": ["连接池的上限"],
}


def sent(scene: Scene, number: int = 0) -> Any:
    """The one user message of a request, read."""
    [message] = scene.requests[number].body["messages"]
    assert message["role"] == "user"
    return json.loads(message["content"])


async def refused(scene: Scene, query: str, turn: PreviousTurn | None = None) -> str:
    """The reason for which this is refused, before anybody is asked."""
    with pytest.raises(InputError) as raised:
        await played(scene, query, turn)
    assert scene.requests == []
    return raised.value.reason


@clause("a non-blank query and an optional frozen previous turn are accepted")
async def test_a_non_blank_query_and_an_optional_frozen_previous_turn_are_accepted() -> None:
    for turn in (None, TURN):
        scene = Scene([answer(draft())])
        assert (await played(scene, "为什么？", turn)).draft is not None
        assert len(scene.requests) == 1
    with pytest.raises(ValidationError, match="frozen"):
        TURN.query = "x"  # type: ignore[misc]
    for blank in ("", " \t\r\n", "\u3000\u00a0", "\u200b\u0000"):
        assert await refused(Scene([answer(draft())]), blank) == "blank"


@clause("both are serialized as the fixed fields query and previous_turn")
async def test_both_are_serialized_as_the_fixed_fields_query_and_previous_turn() -> None:
    for turn, fields in ((None, None), (TURN, TURN_FIELDS)):
        scene = Scene([answer(draft())])
        await played(scene, "为什么？", turn)
        assert sent(scene) == {"query": "为什么？", "previous_turn": fields}
        assert list(sent(scene)) == ["query", "previous_turn"]


@pytest.mark.parametrize(
    "more",
    [
        {"history": []},
        {"tool_results": []},
        {"summary": "x"},
        {"tool_call_ids": ["call-1"]},
        {"session_id": "s"},
    ],
    ids=lambda more: next(iter(more)),
)
@clause("no history, memory, prior tool result or summary is loaded or accepted")
def test_no_history_memory_prior_tool_result_or_summary_is_loaded_or_accepted(more: dict[str, Any]) -> None:
    for raw in (
        {"query": "x", "previous_turn": None, **more},
        {"query": "x", "previous_turn": {**TURN_FIELDS, **more}},
    ):
        with pytest.raises(InputError) as raised:
            read_question(json.dumps(raw))
        assert raised.value.reason == "invalid_field"
    assert list(inspect.signature(Investigator.investigate).parameters)[1:] == [
        "query",
        "previous_turn",
        "context",
    ]


@clause("no history, memory, prior tool result or summary is loaded or accepted")
async def test_no_history_memory_prior_tool_result_or_summary_is_loaded_or_accepted_from_the_run_before() -> (
    None
):
    script = [calls(lookup("call-1")), answer(draft(observed("call-1"))), answer(draft())]
    async with Scene(script) as scene:
        await scene.ask("第一个问题")
        again = scene.investigator.run_context("session-1", "run-2")
        await scene.investigator.investigate("第二个问题", None, again)
    assert sent(scene, 2) == {"query": "第二个问题", "previous_turn": None}


@pytest.mark.parametrize(
    "query",
    [
        "  支付超时\n\t",
        "e\u0301 is not é",
        "\ufeff支付\u2028超时\u0000",
        "\U0001f4a5",
        "Authorization: Bearer abcdefghijklmnop0123456789",
        '"}, "previous_turn": {"query": "',
    ],
    ids=["spaces", "not normalised", "signs", "astral", "secret", "quotes"],
)
@clause("the query retains its original text")
async def test_the_query_retains_its_original_text(query: str) -> None:
    scene = Scene([answer(draft())])
    await played(scene, query)
    assert sent(scene) == {"query": query, "previous_turn": None}


@clause("the query is not rewritten or silently truncated")
async def test_the_query_is_not_rewritten_or_silently_truncated() -> None:
    limits = Limits()
    whole = "超" * (limits.query_bytes // 3) + "x" * (limits.query_bytes % 3)
    script = [calls(lookup("call-1")), answer(draft(observed("call-1")))]
    scene = Scene(script, limits)
    await played(scene, whole)
    assert [json.loads(each.body["messages"][0]["content"])["query"] for each in scene.requests] == [
        whole
    ] * 2
    assert await refused(Scene([answer(draft())], limits), whole + "x") == "too_large"


@scenario("Follow-up diagnosis has a safe previous turn")
async def test_follow_up_diagnosis_has_a_safe_previous_turn() -> None:
    scene = Scene([calls(lookup("call-1")), answer(draft(observed("call-1")))])
    await played(scene, "现在还在发生吗？", TURN)
    assert sent(scene) == {"query": "现在还在发生吗？", "previous_turn": TURN_FIELDS}
    assert len(scene.requests[0].body["messages"]) == 1
    assert scene.requests[1].body["messages"][0] == scene.requests[0].body["messages"][0]


@scenario("Query exceeds configured context budget")
async def test_query_exceeds_configured_context_budget() -> None:
    limits = Limits(query_bytes=300)
    assert await refused(Scene([answer(draft())], limits), "超" * 101) == "too_large"
    scene = Scene([answer(draft())], limits)
    await played(scene, "超" * 100)
    assert len(scene.requests) == 1

"""The policies read nothing but the conversation, and the server hands it to them as a model would get it."""

from collections.abc import Mapping
from typing import Any

import httpx2
import orjson
import pytest

from agrajag.diagnosis.evaluation.decent import AS_SYSTEM, AS_USER, decent
from agrajag.diagnosis.evaluation.hostile import HOSTILE
from agrajag.diagnosis.evaluation.model_server import Call, Conversation, Seen, model_server

WORKS = {"success": True, "hadCredentials": True, "statusCode": 200, "rawResponse": "ok"}
PROMPT = '# Failure\n- now: 2026-05-23T12:00:00Z\n- toolName: "search"\n- errors: 4, distinctUsers: {users}'


def fails(status: int, text: str = "", **changes: Any) -> dict[str, Any]:
    return WORKS | {"success": False, "statusCode": status, "rawResponse": text} | changes


def after(
    user: Mapping[str, Any] | None, system: Mapping[str, Any] | None, *, users: int = 1, more: str = ""
) -> Conversation:
    """The conversation after both probes."""
    seen = [Seen(name, dict(said)) for name, said in ((AS_USER, user), (AS_SYSTEM, system)) if said]
    return Conversation(PROMPT.format(users=users) + more, tuple(seen), 1, True)


def answer(conversation: Conversation) -> dict[str, Any]:
    said = decent(conversation)
    assert isinstance(said, str)
    found: dict[str, Any] = orjson.loads(said.removeprefix("```json\n").removesuffix("\n```"))
    return found


def test_a_decent_model_first_probes_the_tool_of_the_report_as_both() -> None:
    began = Conversation(PROMPT, (), 0, True)

    assert decent(began) == [Call(AS_USER, {"toolName": "search"}), Call(AS_SYSTEM, {"toolName": "search"})]


@pytest.mark.parametrize(
    ("conversation", "classification"),
    [
        (after(None, None), "UNCLEAR"),
        (after(WORKS, WORKS), "WORKING"),
        (after(WORKS, fails(401, hadCredentials=False)), "WORKING"),
        (after(WORKS, fails(500)), "INTERMITTENT"),
        (after(WORKS, WORKS, more='\n- errorDetail: "validation failed"'), "USER_INPUT"),
        (after(WORKS, WORKS, more="\n# History\n INTERMITTENT\n INTERMITTENT"), "INTERMITTENT"),
        (after(fails(401), WORKS), "USER_SPECIFIC_TECHNICAL"),
        (after(fails(403), WORKS), "USER_PERMISSION"),
        (after(fails(502), WORKS, users=9), "INTERMITTENT"),
        (after(fails(502), fails(502)), "TECHNICALLY_BROKEN"),
        (after(fails(429, "rate limit"), fails(429, "rate limit")), "INTERMITTENT"),
    ],
)
def test_a_decent_model_says_what_the_probes_show(conversation: Conversation, classification: str) -> None:
    assert answer(conversation)["classification"] == classification


def test_a_decent_model_believes_a_stated_end() -> None:
    until = fails(503, "until: 2026-05-23T13:30:00Z")

    assert answer(after(until, until))["expectedRecoveryAt"] == "2026-05-23T13:30:00Z"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_ends_with_the_worst_it_can_say(name: str) -> None:
    conversation = Conversation(PROMPT, (Seen(AS_USER, WORKS),), 2, False)

    said = HOSTILE[name](conversation)
    assert isinstance(said, str)
    lie = orjson.loads(said)

    assert lie["scope"] == "GLOBAL"
    assert lie["expectedRecoveryAt"].startswith("9999")
    assert {one["userId"] for one in lie["cooldownAdjustments"]} == {None, "bob"}


async def test_the_server_shows_a_policy_what_was_said_and_counts_tokens() -> None:
    heard: list[Conversation] = []

    def policy(conversation: Conversation) -> list[Call] | str:
        heard.append(conversation)
        return "done" if conversation.rounds else [Call("look", {"at": "it"})]

    question = {"role": "user", "content": 'toolName: "search"'}
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]}
    result = {"type": "tool_result", "tool_use_id": "c", "content": '{"success": true}'}
    body = {"model": "m", "max_tokens": 9, "tools": [{"name": "look"}]}
    async with model_server(policy) as server, httpx2.AsyncClient(base_url=server.url) as client:
        first = await client.post("/v1/messages", json={**body, "messages": [question]})
        closing = {**body, "tool_choice": {"type": "none"}}
        last = await client.post(
            "/v1/messages",
            json={**closing, "messages": [question, asked, {"role": "user", "content": [result]}]},
        )

    assert (first.json()["stop_reason"], last.json()["stop_reason"]) == ("tool_use", "end_turn")
    assert first.json()["content"][0]["input"] == {"at": "it"}
    assert last.json()["content"] == [{"type": "text", "text": "done"}]
    assert first.json()["usage"]["input_tokens"] > 10
    assert [(one.tool_name, one.rounds, one.may_call) for one in heard] == [
        ("search", 0, True),
        ("search", 1, False),
    ]
    assert heard[1].of("look") == {"success": True}

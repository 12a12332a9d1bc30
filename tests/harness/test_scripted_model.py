"""The scripted model refuses what the real one refuses; else the tests that lean on it would show nothing."""

from typing import Any

import pytest

from tests.harness.message_rules import broken_rule
from tests.harness.replies import use

TOOLS = [{"name": "look", "input_schema": {"type": "object"}}]
QUESTION = {"role": "user", "content": "What is wrong?"}
ASKED = {"role": "assistant", "content": [use("a"), use("b")]}
SAID = {"type": "text", "text": "go on"}


def answered(*ids: str, before: Any = (), after: Any = ()) -> dict[str, Any]:
    """A message with the results of these calls."""
    results = [{"type": "tool_result", "tool_use_id": call_id, "content": "{}"} for call_id in ids]
    return {"role": "user", "content": [*before, *results, *after]}


def request(*messages: Any, **changes: Any) -> dict[str, Any]:
    """A request that is right but for what the test makes of it; None leaves a field out."""
    usual = {"model": "m", "max_tokens": 10, "messages": list(messages), "tools": TOOLS} | changes
    return {name: value for name, value in usual.items() if value is not None}


@pytest.mark.parametrize(
    "right",
    [
        request(QUESTION),
        request(QUESTION, ASKED, answered("a", "b")),
        request(QUESTION, ASKED, answered("b", "a", after=[SAID]), tool_choice={"type": "none"}),
        request(QUESTION, {"role": "assistant", "content": []}),
    ],
)
def test_a_request_as_the_api_wants_it_is_let_through(right: Any) -> None:
    assert broken_rule(right) is None


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ([], "no object"),
        (request(QUESTION, thread={}), "thread: extra inputs"),
        (request(QUESTION, temperature=1), "temperature: extra inputs"),
        (request(QUESTION, max_tokens=0), "max_tokens"),
        (request(QUESTION, tools=None, tool_choice={"type": "none"}), "tool_choice may only"),
        (request(), "first message"),
        (request(ASKED), "first message"),
        (request(QUESTION, ASKED, answered("a", "b"), tools=None), "must define tools"),
        (request(QUESTION, ASKED), "without tool_result"),
        (request(QUESTION, ASKED, answered("a")), "do not match"),
        (request(QUESTION, ASKED, answered("a", "b", "c")), "do not match"),
        (request(QUESTION, answered("a")), "do not match"),
        (request(QUESTION, ASKED, answered("a", "b", before=[SAID])), "must come first"),
        (request(QUESTION, ASKED, answered("a", "b"), ASKED, answered("a", "b")), "must be unique"),
        (request({"role": "user", "content": ""}), "non-empty"),
        (request({"role": "user", "content": []}), "non-empty content"),
        (request(QUESTION, {"role": "assistant", "content": []}, QUESTION), "non-empty content"),
    ],
)
def test_a_request_that_the_api_would_refuse_is_refused(wrong: Any, rule: str) -> None:
    assert rule in (broken_rule(wrong) or "")

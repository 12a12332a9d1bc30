"""Requirement: Evidence Tools SHALL execute through the Harness boundary. Here: what is told, and its scenarios."""

import json
from typing import Any

import pytest

from agrajag.harness import AskedTool, Failed, ModelStep
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import InvocationState
from agrajag.investigation.requests import KnowledgeRequest
from tests.builders import NOW
from tests.harness.replies import Block, calls, use
from tests.investigation.scenarios.scene import (
    EMPTY,
    ENDED,
    LOGS,
    WINDOW,
    Scene,
    Seen,
    Source,
    answer,
    draft,
    lookup,
    not_found,
    observed,
    played,
    told,
)
from tests.investigation.scenarios.titles import clause, scenario

CONTROL_FIELDS = {"evidence_status", "tool_call_id"}
REPAIR_FIELDS = CONTROL_FIELDS | {"code", "fields", "expected_tool_call_id"}
LINE = {
    "time": NOW.isoformat(),
    "level": "ERROR",
    "service": "order-service",
    "message": "password=hunter2hunter2 Authorization: Bearer abcdefghijklmnop0123456789",
    "host": "10.0.0.7",
    "path": "/var/log/order.jsonl",
    "offset": 71,
}


@clause("successful observations are a bounded whitelist projection of their tool")
async def test_successful_observations_are_a_bounded_whitelist_projection_of_their_tool() -> None:
    scope = Scope(source="logs", subjects=("order-service",), since=NOW, until=NOW)
    many = [{**LINE, "message": f"{LINE['message']} {'超时 ' * 2_000}"} for _ in range(50)]
    script = [calls(use("call-1", LOGS.value, input=WINDOW)), answer(draft(observed("call-1")))]
    limits = Limits()
    for lines in ([LINE], many):
        scene = Scene(script, limits, logs=Source(Found(lines, scope)))
        observation = await told(scene)
        assert set(observation) == CONTROL_FIELDS | {"items", "scope", "truncated"}
        assert {name for item in observation["items"] for name in item} == {
            "time",
            "level",
            "service",
            "message",
        }
        assert observation["truncated"] is (len(lines) > 1)
        assert observation["scope"]["subjects"] == ["order-service"]
        said = json.dumps(observation, ensure_ascii=False)
        assert "hunter2" not in said
        assert "abcdefghijklmnop" not in said
        assert len(said.encode()) < limits.observation_bytes + 200


@clause("successful observations are a bounded whitelist projection of their tool")
async def test_successful_observations_are_a_bounded_whitelist_projection_of_their_tool_and_scope_if_empty() -> (
    None
):
    scene = Scene([calls(lookup("call-1")), answer(draft(not_found("call-1")))], knowledge=Source(EMPTY))
    assert await told(scene) == {
        "evidence_status": "NO_EVIDENCE",
        "tool_call_id": "call-1",
        "scope": {"source": "runbooks", "subjects": ["runbooks"]},
    }


def failing(finds: Failed | Exception, *blocks: Block) -> Scene:
    """A scene in which the knowledge is not to be had."""
    return Scene([*[calls(block) for block in blocks], ENDED], knowledge=Source(finds))


@clause("failed and control observations contain only stable safe semantics")
async def test_failed_and_control_observations_contain_only_stable_safe_semantics() -> None:
    error = await told(failing(Failed("SOURCE_UNAVAILABLE"), lookup("call-1")))
    assert error == {"evidence_status": "ERROR", "tool_call_id": "call-1", "code": "SOURCE_UNAVAILABLE"}
    repair = await told(failing(Failed("X"), lookup("call-1", previous="call-0")))
    assert repair == {
        "evidence_status": "REPAIR",
        "tool_call_id": "call-1",
        "code": "PREVIOUS_OBSERVATION_WRONG",
        "fields": ["previous_observation"],
        "expected_tool_call_id": None,
    }
    script = [calls(lookup("call-1")), calls(lookup("call-2", "b")), answer(draft(not_found("call-1")))]
    stop = await told(Scene(script, Limits(no_gains=1), knowledge=Source(EMPTY)), 2)
    assert stop == {"evidence_status": "STOP_REQUIRED", "tool_call_id": "call-2"}


@clause("failed and control observations contain nothing of what went wrong and nothing that is counted")
async def test_failed_and_control_observations_contain_nothing_of_what_went_wrong_and_nothing_that_is_counted() -> (
    None
):
    raised = OSError("mysql://root:hunter2hunter2@db.internal:3306 refused\n<html>502</html>")
    seen: list[dict[str, Any]] = []
    scenes = [
        failing(raised, lookup("call-1")),
        failing(raised, lookup("call-1", previous="call-0"), use("call-2", "lookup_knowledge", input="text")),
        Scene(
            [calls(lookup("call-1")), calls(lookup("call-2", "b")), answer(draft(not_found("call-1")))],
            Limits(no_gains=1),
            knowledge=Source(EMPTY),
        ),
    ]
    for scene in scenes:
        await played(scene)
        seen += [found for request in scene.requests[1:] for found in request.results]
        texts = json.dumps([request.body for request in scene.requests], ensure_ascii=False)
        for hidden in ("hunter2", "db.internal", "OSError", "502", "Traceback"):
            assert hidden not in texts
    assert {each["evidence_status"] for each in seen} == {"ERROR", "REPAIR", "NO_EVIDENCE", "STOP_REQUIRED"}
    for each in seen:
        assert set(each) <= REPAIR_FIELDS | {"scope"}
        assert not any(isinstance(value, int | float) for value in each.values())
        assert {str(value) for value in each.values()}.isdisjoint(InvocationState)


@scenario("Framework requests first RAG evidence")
async def test_framework_requests_first_rag_evidence() -> None:
    scene = Scene([calls(lookup("call-1")), answer(draft(observed("call-1")))])
    await played(scene)
    assert scene.knowledge.seen == [(CallIds("session-1", "run-1", "call-1"), KnowledgeRequest(query="503"))]
    [record] = await scene.records()
    assert (record.session_id, record.run_id, record.tool_call_id) == ("session-1", "run-1", "call-1")
    assert record.state is InvocationState.READY
    assert (scene.observation(1)["evidence_status"], scene.observation(1)["tool_call_id"]) == (
        "EVIDENCE",
        "call-1",
    )


@pytest.mark.parametrize("worth", ["GAINED", "NO_GAIN"])
@scenario("Model continues after a non-empty result")
async def test_model_continues_after_a_non_empty_result(worth: str) -> None:
    script = [
        calls(lookup("call-1")),
        calls(lookup("call-2", "b")),
        calls(lookup("call-3", "b", previous="call-1", worth=worth)),
        answer(draft(observed("call-3"))),
    ]
    scene = Scene(script)
    await played(scene)
    assert scene.knowledge.ids == ["call-1", "call-3"]
    first, _ = await scene.records()
    assert first.evaluation == worth


@scenario("Model omits required progress field")
async def test_model_omits_required_progress_field() -> None:
    script = [calls(lookup("call-1")), calls(lookup("call-2", "b")), answer(draft(observed("call-1")))]
    scene = Scene(script)
    assert await told(scene, 2) == {
        "evidence_status": "REPAIR",
        "tool_call_id": "call-2",
        "code": "PREVIOUS_OBSERVATION_MISSING",
        "fields": ["previous_observation"],
        "expected_tool_call_id": "call-1",
    }
    assert scene.knowledge.ids == ["call-1"]
    assert [record.tool_call_id for record in await scene.records()] == ["call-1"]


@pytest.mark.parametrize(
    ("finds", "code"),
    [(Failed("SOURCE_UNAVAILABLE"), "SOURCE_UNAVAILABLE"), (OSError("SECRET"), "TOOL_FAILED")],
    ids=["code", "exception"],
)
@scenario("Tool execution fails")
async def test_tool_execution_fails(finds: Failed | Exception, code: str) -> None:
    scene = failing(finds, lookup("call-1"))
    assert await told(scene) == {"evidence_status": "ERROR", "tool_call_id": "call-1", "code": code}
    assert scene.knowledge.ids == ["call-1"]
    [record] = await scene.records()
    assert (record.state, record.error_code) == (InvocationState.FAILED, code)


@scenario("Unknown Tool is requested")
async def test_unknown_tool_is_requested() -> None:
    seen = Seen()
    block = use("call-1", "delete_table", input={"sql": "DROP TABLE orders"})
    scene = Scene([calls(block), ENDED], hook=seen)
    await played(scene)
    assert scene.adapters_asked == []
    assert scene.ledger.writes == []
    [result] = scene.requests[1].body["messages"][-1]["content"]
    assert (result["tool_use_id"], result["is_error"]) == ("call-1", True)
    first = seen.steps[0]
    assert isinstance(first, ModelStep)
    assert first.asked == (AskedTool("call-1", None),)

"""Requirement: Evidence Tools SHALL execute through the Harness boundary. Here: what reaches a source, and how."""

import json
from typing import Any

import pytest

from agrajag.investigation.evidence import CallIds
from agrajag.investigation.limits import Limits
from agrajag.investigation.requests import KnowledgeRequest, LogRequest, MysqlRequest, ToolName
from tests.harness.replies import calls, use
from tests.investigation.scenarios.scene import (
    EMPTY,
    ENDED,
    LOGS,
    MYSQL,
    WINDOW,
    Scene,
    Source,
    answer,
    draft,
    lookup,
    not_found,
    observed,
    played,
    told,
)
from tests.investigation.scenarios.titles import clause

ENDED_CHECKED = answer(draft(not_found("call-1")))


@clause("only the three frozen definitions are exposed, through native tool calling")
async def test_only_the_three_frozen_definitions_are_exposed_through_native_tool_calling() -> None:
    final = calls(lookup("call-3", "再查", previous="call-2"))
    script = [
        calls(lookup("call-1")),
        calls(lookup("call-2", "池", previous="call-1")),
        final,
        answer(draft(observed("call-1"))),
    ]
    sent = []
    for limits in (Limits(), Limits(tool_attempts=2, model_calls=4)):
        scene = Scene(script, limits)
        await played(scene)
        sent += [request.tools for request in scene.requests]
    assert scene.requests[-1].body["tool_choice"] == {"type": "none"}
    assert len(sent) == 8
    assert len(set(sent)) == 1  # byte for byte, in every round of every run
    names = [tool["name"] for tool in json.loads(sent[0])]
    assert names == ["lookup_knowledge", "query_logs", "query_mysql"] == [name.value for name in ToolName]
    assert {tool["type"] for tool in json.loads(sent[0])} == {"custom"}


@clause("each tool input is a typed envelope")
async def test_each_tool_input_is_a_typed_envelope() -> None:
    scene = Scene([ENDED])
    await played(scene)
    for tool in scene.requests[0].body["tools"]:
        schema = tool["input_schema"]
        assert set(schema["properties"]) == {"previous_observation", "input"}
        assert (schema["required"], schema["additionalProperties"]) == (["input"], False)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"query": "503"}, ["input"]),
        ({"input": '{"query": "503"}'}, ["input"]),
        ({"input": {"query": "503", "limit": "5"}}, ["input.limit"]),
        ({"input": {"query": "503", "secret-field-7": 1}}, ["input"]),
        ({"input": {"query": "503"}, "previous_observation": "GAINED"}, ["previous_observation"]),
        (
            {
                "input": {"query": "503"},
                "previous_observation": {"tool_call_id": "call-0", "evaluation": "GREAT"},
            },
            ["previous_observation.evaluation"],
        ),
    ],
    ids=["bare", "string", "coerced", "extra", "worth alone", "another worth"],
)
@clause("each tool input is a typed envelope")
async def test_each_tool_input_is_a_typed_envelope_and_another_is_sent_back(
    arguments: dict[str, Any], fields: list[str]
) -> None:
    scene = Scene([calls(use("call-1", "lookup_knowledge", **arguments)), ENDED])
    observation = await told(scene)
    assert (observation["evidence_status"], observation["code"]) == ("REPAIR", "INVALID_ENVELOPE")
    assert set(observation["fields"]) >= set(fields)
    assert "secret-field-7" not in json.dumps(observation)
    assert scene.adapters_asked == []
    assert scene.ledger.writes == []


@clause("the previous observation is validated and consumed")
async def test_the_previous_observation_is_validated_and_consumed() -> None:
    script = [
        calls(lookup("call-1")),
        calls(lookup("call-2", "b", previous="call-0")),  # of no call
        calls(lookup("call-3", "c", previous="call-1", worth="NO_GAIN")),  # consumed here
        calls(lookup("call-4", "d", previous="call-1")),  # was consumed
        calls(lookup("call-5", "e", previous="call-3")),
        answer(draft(observed("call-3"))),
    ]
    scene = Scene(script)
    await played(scene)
    assert scene.knowledge.ids == ["call-1", "call-3", "call-5"]
    repairs = [scene.observation(number) for number in (2, 4)]
    assert [each["code"] for each in repairs] == ["PREVIOUS_OBSERVATION_WRONG"] * 2
    assert [each["expected_tool_call_id"] for each in repairs] == ["call-1", "call-3"]
    evaluations = {record.tool_call_id: record.evaluation for record in await scene.records()}
    assert evaluations == {"call-1": "NO_GAIN", "call-3": "GAINED", "call-5": None}


@clause("the previous observation is validated and consumed")
async def test_the_previous_observation_is_validated_and_consumed_only_of_this_run() -> None:
    script = [calls(lookup("call-1")), answer(draft(observed("call-1")))]
    script += [calls(lookup("call-2", previous="call-1")), answer(draft())]
    async with Scene(script) as scene:
        await scene.ask()
        other = scene.investigator.run_context("session-1", "run-2")
        await scene.investigator.investigate("又发生了吗？", None, other)
    repair = scene.observation(3)
    assert (repair["code"], repair["expected_tool_call_id"]) == ("PREVIOUS_OBSERVATION_WRONG", None)
    assert scene.knowledge.ids == ["call-1"]
    assert await scene.records("run-2") == []


@clause("the exact ids, the tool name and the unwrapped business request are propagated")
async def test_the_exact_ids_the_tool_name_and_the_unwrapped_business_request_are_propagated() -> None:
    log_input = {**WINDOW, "service": "order-service", "level": "ERROR"}
    script = [
        calls(lookup("呼叫 1", "503", limit=3)),
        calls(
            use(
                "toolu_02",
                LOGS.value,
                input=log_input,
                previous_observation={"tool_call_id": "呼叫 1", "evaluation": "GAINED"},
            )
        ),
        calls(use("toolu_03", MYSQL.value, input={"sql": "SELECT id FROM orders"})),
        answer(draft(observed("呼叫 1"))),
    ]
    scene = Scene(script, logs=Source(EMPTY), mysql=Source(EMPTY))
    await played(scene)
    ids = CallIds("session-1", "run-1", "呼叫 1")
    assert scene.knowledge.seen == [(ids, KnowledgeRequest(query="503", limit=3))]
    asked = LogRequest.model_validate_json(json.dumps(log_input))
    assert scene.logs.seen == [(ids._replace(tool_call_id="toolu_02"), asked)]
    statement = MysqlRequest(sql="SELECT id FROM orders")
    assert scene.mysql.seen == [(ids._replace(tool_call_id="toolu_03"), statement)]
    written = [
        (each.session_id, each.run_id, each.tool_call_id, each.tool_name) for each in await scene.records()
    ]
    assert written == [
        ("session-1", "run-1", "呼叫 1", "lookup_knowledge"),
        ("session-1", "run-1", "toolu_02", "query_logs"),
        ("session-1", "run-1", "toolu_03", "query_mysql"),
    ]
    assert scene.ledger.writes[0].input == {"query": "503", "limit": 3}


@clause("run progress is enforced before execution")
async def test_run_progress_is_enforced_before_execution_by_the_limit_of_no_gains() -> None:
    script = [
        calls(lookup("call-1", "a")),
        calls(lookup("call-2", "b", previous="call-1", worth="NO_GAIN")),
        calls(lookup("call-3", "c", previous="call-2", worth="NO_GAIN")),
        ENDED_CHECKED,
    ]
    scene = Scene(script, Limits(no_gains=2))
    await played(scene)
    assert scene.knowledge.ids == ["call-1", "call-2"]
    assert scene.observation(3) == {"evidence_status": "STOP_REQUIRED", "tool_call_id": "call-3"}
    assert [record.evaluation for record in await scene.records()] == ["NO_GAIN", "NO_GAIN"]


@clause("run progress is enforced before execution")
async def test_run_progress_is_enforced_before_execution_by_the_limit_of_attempts() -> None:
    script = [
        calls(lookup("call-1", "a")),
        calls(lookup("call-2", "")),  # an attempt as well
        calls(lookup("call-3", "c", previous="call-1")),
        ENDED_CHECKED,
    ]
    scene = Scene(script, Limits(tool_attempts=2, model_calls=4))
    await played(scene)
    assert scene.knowledge.ids == ["call-1"]
    assert scene.observation(3) == {"evidence_status": "STOP_REQUIRED", "tool_call_id": "call-3"}
    assert {record.tool_call_id for record in await scene.records()} == {"call-1"}


@clause("run progress is enforced before execution")
async def test_run_progress_is_enforced_before_execution_for_each_call_of_one_reply() -> None:
    two = calls(lookup("call-1", "a"), lookup("call-2", "b"), lookup("call-1", "c"))
    scene = Scene([two, answer(draft(observed("call-1")))], lenient=True)
    await played(scene)
    assert scene.requests[0].body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    first, second, third = scene.requests[1].results
    assert (first["evidence_status"], first["tool_call_id"]) == ("EVIDENCE", "call-1")
    assert (second["code"], second["expected_tool_call_id"]) == ("PREVIOUS_OBSERVATION_MISSING", "call-1")
    assert third == {"evidence_status": "ERROR", "tool_call_id": "call-1", "code": "DUPLICATE_CALL_ID"}
    assert scene.knowledge.ids == ["call-1"]
    assert [record.tool_call_id for record in await scene.records()] == ["call-1"]

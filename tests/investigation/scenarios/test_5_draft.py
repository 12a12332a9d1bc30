"""Requirement: Diagnosis output SHALL be a bounded DiagnosisDraft."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from agrajag.errors import InputError
from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.failures import DiagnosisAgentOutputError, DraftFault
from agrajag.investigation.limits import Limits
from agrajag.investigation.model_schema import draft_schema
from agrajag.investigation.question import PreviousTurn
from agrajag.investigation.result import ExecutionStop
from tests.harness.replies import Message, calls, text
from tests.investigation.scenarios.scene import (
    QUERY,
    Scene,
    answer,
    draft,
    lookup,
    not_found,
    observed,
    played,
)
from tests.investigation.scenarios.titles import clause, scenario

WRITTEN = json.dumps(draft(), ensure_ascii=False)


async def fault(reply: Message, limits: Limits | None = None) -> DraftFault:
    """Why this first reply is no draft; the model is not asked once more."""
    scene = Scene([reply, answer(draft())], limits or Limits())
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await played(scene)
    assert len(scene.requests) == 1
    assert raised.value.snapshot is None
    return raised.value.code


def padded(size_bytes: int) -> str:
    """A good draft of exactly this many bytes."""
    return WRITTEN + " " * (size_bytes - len(WRITTEN.encode()))


@clause("the agent receives the generated schema")
async def test_the_agent_receives_the_generated_schema() -> None:
    scene = Scene([answer(draft())])
    await played(scene)
    system = scene.requests[0].body["system"]
    schema = json.loads(system[system.index('{"$defs"') :])
    assert schema == draft_schema()
    assert set(schema["properties"]) == set(schema["required"]) == set(DiagnosisDraft.model_fields)
    assert "output_config" not in scene.requests[0].body


@clause("the agent receives the generated schema")
async def test_the_agent_receives_the_generated_schema_as_format_as_well_where_that_is_set() -> None:
    scene = Scene([calls(lookup("call-1")), answer(draft(observed("call-1")))], structured_output=True)
    await played(scene)
    formats = [request.body["output_config"]["format"] for request in scene.requests]
    assert [each["type"] for each in formats] == ["json_schema"] * 2
    assert set(formats[1]["schema"]["properties"]) == set(DiagnosisDraft.model_fields)


@clause("the answer is strictly parsed into the frozen record")
async def test_the_answer_is_strictly_parsed_into_the_frozen_record() -> None:
    written = draft(observed("call-1"))
    result = await played(Scene([calls(lookup("call-1")), text(f"\n {json.dumps(written)}\t\n")]))
    assert result.draft is not None
    assert json.loads(result.draft.model_dump_json()) == written
    with pytest.raises(ValidationError, match="frozen"):
        result.draft.conclusion = None  # type: ignore[misc]


@clause("UTF-8 limits are enforced for query, previous turn, total input and draft")
async def test_utf_8_limits_are_enforced_for_query_previous_turn_total_input_and_draft() -> None:
    query, turn = "超" * 100, PreviousTurn(query="时" * 100, conclusion=None, missing_info=("x" * 300,))
    turn_bytes = len(turn.model_dump_json().encode())
    whole_bytes = len(f'{{"query":"{query}","previous_turn":}}'.encode()) + turn_bytes
    exact = Limits(query_bytes=300, previous_turn_bytes=turn_bytes, input_bytes=whole_bytes, draft_bytes=900)
    result = await played(Scene([text(padded(900))], exact), query, turn)
    assert result.stop_reason is ExecutionStop.COMPLETED
    for name in ("query_bytes", "previous_turn_bytes", "input_bytes"):
        scene = Scene([answer(draft())], replace(exact, **{name: getattr(exact, name) - 1}))
        with pytest.raises(InputError) as raised:
            await played(scene, query, turn)
        assert raised.value.reason == "too_large"
        assert scene.requests == []
    assert await fault(text(padded(901)), exact) is DraftFault.TOO_LARGE


@clause("accepted bytes are accounted against the run capacity")
async def test_accepted_bytes_are_accounted_against_the_run_capacity() -> None:
    scene = Scene([calls(lookup("call-1")), answer(draft(observed("call-1")))])
    await played(scene)
    asked = scene.requests[0].body["messages"][0]["content"]
    said = json.dumps(draft(observed("call-1")), ensure_ascii=False)
    assert QUERY in asked
    assert scene.context.spent.text_bytes == len(asked.encode()) + len(said.encode())


@clause("accepted bytes are accounted against the run capacity")
async def test_accepted_bytes_are_accounted_against_the_run_capacity_and_none_if_refused() -> None:
    scene = Scene([answer(draft())], Limits(query_bytes=300))
    with pytest.raises(InputError):
        await played(scene, "x" * 301)
    assert scene.context.spent.text_bytes == 0


BAD: dict[str, tuple[str, DraftFault]] = {
    "blank": (" \n\t", DraftFault.EMPTY),
    "fence": (f"```json\n{WRITTEN}\n```", DraftFault.NOT_ONE_OBJECT),
    "prefix": (f"诊断如下：{WRITTEN}", DraftFault.NOT_ONE_OBJECT),
    "suffix": (f"{WRITTEN} 以上。", DraftFault.NOT_ONE_OBJECT),
    "twice": (WRITTEN * 2, DraftFault.NOT_ONE_OBJECT),
    "mark": (f"\ufeff{WRITTEN}", DraftFault.NOT_ONE_OBJECT),
    "list": (f"[{WRITTEN}]", DraftFault.NOT_ONE_OBJECT),
    "cut": (WRITTEN[:-1], DraftFault.MALFORMED),
    "deep": (f'{{"conclusion":{"[" * 7_000}{"]" * 7_000}}}', DraftFault.MALFORMED),
    "long number": (f'{{"conclusion":{"9" * 5_000}}}', DraftFault.MALFORMED),
    "key twice": (
        WRITTEN.replace('{"conclusion"', '{"analysis":[],"conclusion"', 1),
        DraftFault.DUPLICATE_KEY,
    ),
    "extra": (json.dumps(draft(confidence=0.9)), DraftFault.SCHEMA),
    "missing": ('{"conclusion":null}', DraftFault.SCHEMA),
    "coerced": (json.dumps(draft(action_plan="重启")), DraftFault.SCHEMA),
    "oversized": (padded(Limits().draft_bytes + 1), DraftFault.TOO_LARGE),
}


@pytest.mark.parametrize(("written", "expected"), BAD.values(), ids=BAD)
@clause("output that is not the bare object is rejected without repair or retry")
async def test_output_that_is_not_the_bare_object_is_rejected_without_repair_or_retry(
    written: str, expected: DraftFault
) -> None:
    assert await fault(text(written)) is expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Message([]), DraftFault.EMPTY),
        (text(WRITTEN, " "), DraftFault.NOT_ONE_TEXT),
        (text(WRITTEN, stop_reason="max_tokens"), DraftFault.NOT_ENDED),
        (text(WRITTEN, stop_reason="refusal"), DraftFault.REFUSED),
    ],
    ids=["nothing", "two texts", "max_tokens", "refusal"],
)
@clause("output that is not the bare object is rejected without repair or retry")
async def test_output_that_is_not_the_bare_object_is_rejected_without_repair_or_retry_by_how_it_ended(
    reply: Message, expected: DraftFault
) -> None:
    assert await fault(reply) is expected


@scenario("Supported Draft is returned")
async def test_supported_draft_is_returned() -> None:
    ids = ["toolu_01 ", "呼叫-2", "TOOLU_01"]
    script = [calls(lookup(ids[0], "a"))]
    script += [calls(lookup(now, f"b {now}", previous=before)) for before, now in pairwise(ids)]
    written: dict[str, Any] = draft(
        observed(*ids[1:]),
        observed(ids[0], scope="runbooks"),
        not_found(ids[0]),
        conclusion={"summary": "连接池耗尽。", "root_cause": "上限过低。"},
        action_plan=["扩大连接池。", "重启 order-service。"],
    )
    result = await played(Scene([*script, answer(written)]))
    assert result.draft is not None
    assert [list(item.tool_call_ids) for item in result.draft.analysis] == [ids[1:], ids[:1], ids[:1]]
    assert json.loads(result.draft.model_dump_json()) == written


@pytest.mark.parametrize("around", ["```json\n{}\n```", "根据证据，诊断如下：\n{}"], ids=["fence", "prefix"])
@scenario("Model returns prose around JSON")
async def test_model_returns_prose_around_json(around: str) -> None:
    scene = Scene([text(around.replace("{}", WRITTEN)), answer(draft())])
    with pytest.raises(DiagnosisAgentOutputError) as raised:
        await played(scene)
    assert raised.value.code is DraftFault.NOT_ONE_OBJECT
    assert len(scene.requests) == 1

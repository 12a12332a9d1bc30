"""Every investigation comes out as its case says, and nothing is accepted that the judge would not accept."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agrajag.core.secret_shapes import MARKER
from agrajag.investigation.draft import AnalysisItem, AnalysisType, Conclusion
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.ledger import MemoryLedger
from tests.harness.runs import connected
from tests.harness.scripted_model import ScriptedModel
from tests.investigation.cases.case import Case, all_cases, scripted
from tests.investigation.cases.judge import judged
from tests.investigation.cases.playing import Played, play

CASES = all_cases()


def told(body: Any) -> Iterator[str]:
    """The observations in a request, in their order, each with its code."""
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_result":
                yield _word(block["content"])


def _word(content: str) -> str:
    try:
        read = json.loads(content)
    except json.JSONDecodeError:
        return "UNKNOWN_TOOL"  # the framework's own text
    return "/".join(read[name] for name in ("evidence_status", "code") if name in read)


async def played_alone(case: Case, folder: Path) -> tuple[Played, list[Any]]:
    """The case, and the requests that the server has got."""
    async with ScriptedModel(scripted((case,))) as server, connected(server.url) as model:
        with capture_logs() as logged:
            played = await play(case, folder, model, MemoryLedger(), logged)
    return played, [request.body for request in server.requests]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_an_investigation_comes_out_as_its_case_says(case: Case, tmp_path: Path) -> None:
    played, requests = await played_alone(case, tmp_path)

    assert (played.end, len(requests)) == (case.must.end, case.must.requests)
    assert tuple(told(requests[-1])) == case.must.told
    if case.secrets and "EVIDENCE" in case.must.told:
        assert MARKER in json.dumps(requests[-1]["messages"])
    assert len(played.bodies) >= len(requests)
    assert {entry["event"] for entry in played.logged} >= {"investigation_ended"}
    analysis = () if played.draft is None else played.draft.analysis
    assert tuple(call_id for item in analysis for call_id in item.tool_call_ids) == case.must.cites
    ready = [record.tool_call_id for record in played.records if record.state == "READY"]
    if played.snapshot is not None:
        assert [check.tool_call_id for check in played.snapshot.checks] == ready
    judgement = judged(played)
    assert judgement.is_safe, judgement
    assert judgement.right is (played.draft is not None), "an accepted draft of a script is a right one"


async def test_all_investigations_at_once_on_one_client_and_one_ledger_come_out_as_they_do_alone(
    tmp_path: Path,
) -> None:
    ledger = MemoryLedger()
    async with ScriptedModel(scripted(CASES)) as server, connected(server.url) as model:
        with capture_logs() as logged:
            playing = [play(case, tmp_path / case.id, model, ledger, logged) for case in CASES]
            rans = await asyncio.gather(*playing)

    assert [played.end for played in rans] == [case.must.end for case in CASES]
    assert len(server.requests) == sum(case.must.requests for case in CASES)
    assert [judged(played) for played in rans if not judged(played).is_safe] == []
    assert [judged(played).right for played in rans] == [played.draft is not None for played in rans]


def test_the_cases_are_thirty_or_more_and_told_apart_by_id_and_question() -> None:
    assert len(CASES) >= 30
    assert max(Counter(case.id for case in CASES).values()) == 1
    assert max(Counter(case.question for case in CASES).values()) == 1


async def test_the_judge_takes_nothing_for_right_that_stands_on_nothing(tmp_path: Path) -> None:
    """Each change of an accepted draft or of what it stands on, the guard not asked, is one that the judge sees."""
    case = next(case for case in CASES if case.id == "nothing-in-the-window")
    played, _ = await played_alone(case, tmp_path)
    assert judged(played).is_safe
    assert played.draft is not None
    [item] = played.draft.analysis
    concluded = played.draft.model_copy(
        update={"conclusion": Conclusion(summary="没有问题", root_cause=None)}
    )
    seen = item.model_copy(update={"type": AnalysisType.OBSERVATION})
    elsewhere = item.model_copy(update={"tool_call_ids": ("c1", "c9")})
    unplanted = case.model_copy(update={"secrets": (case.question,)})

    assert judged(replace(played, draft=concluded)).unfounded
    assert judged(changed(played, seen)).not_seen == {"c1"}
    assert judged(changed(played, elsewhere)).invented == {"c9"}
    assert not judged(changed(played, seen)).right
    assert judged(replace(played, records=())).invented == {"c1"}
    assert judged(replace(played, answers={})).invented == {"c1"}
    assert judged(replace(played, case=unplanted)).leaked == ("requests",)
    assert not judged(replace(played, draft=concluded)).right


async def test_the_judge_lets_no_conclusion_stand_on_what_was_of_no_worth(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.id == "disk-full")
    played, _ = await played_alone(case, tmp_path)
    worthless = [record.model_copy(update={"evaluation": Evaluation.NO_GAIN}) for record in played.records]

    assert not judged(played).unfounded
    assert judged(replace(played, records=worthless)).unfounded


def changed(played: Played, item: AnalysisItem) -> Played:
    """The same run, with a draft that says this alone."""
    assert played.draft is not None
    return replace(played, draft=played.draft.model_copy(update={"analysis": (item,)}))

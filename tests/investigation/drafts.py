"""Drafts and the records they stand on, whole and in every mixture."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agrajag.harness import EvidenceStatus
from agrajag.investigation.draft import (
    AnalysisItem,
    AnalysisType,
    Conclusion,
    DiagnosisDraft,
    Limitations,
)
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.evidence import Scope
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.investigation.requests import ToolName
from tests.builders import NOW

SCOPE = Scope(source="logs", subjects=("payment",), since=NOW, until=NOW)
CONCLUSION = Conclusion(summary="支付服务连接池耗尽。", root_cause=None)


def observed(*call_ids: str, scope: str | None = None) -> AnalysisItem:
    """Something that was seen in these calls."""
    return AnalysisItem(
        type=AnalysisType.OBSERVATION, statement="连接池等待超时。", tool_call_ids=call_ids, scope=scope
    )


def not_found(*call_ids: str, scope: str | None = "支付服务，十点到十一点") -> AnalysisItem:
    """Something that these calls did not find."""
    return AnalysisItem(
        type=AnalysisType.NEGATIVE_OBSERVATION,
        statement="没有错误日志。",
        tool_call_ids=call_ids,
        scope=scope,
    )


def a_draft(
    *analysis: AnalysisItem,
    conclusion: Conclusion | None = None,
    missing_info: Sequence[str] = (),
    checked_scope: Sequence[str] = (),
) -> DiagnosisDraft:
    """A draft of these statements."""
    return DiagnosisDraft(
        conclusion=conclusion,
        analysis=analysis,
        action_plan=("扩大连接池。",),
        recommendations=(),
        limitations=Limitations(missing_info=tuple(missing_info), checked_scope=tuple(checked_scope)),
    )


def a_record(
    call_id: str = "call-1",
    status: EvidenceStatus | None = EvidenceStatus.EVIDENCE,
    state: InvocationState = InvocationState.READY,
    evaluation: Evaluation | None = None,
) -> InvocationRecord:
    """What is on record of one call."""
    return InvocationRecord(
        session_id="session-1",
        run_id="run-1",
        tool_call_id=call_id,
        tool_name=ToolName.QUERY_LOGS,
        input={},
        input_hash="0" * 64,
        state=state,
        evidence_status=status,
        evaluation=evaluation,
        scope=SCOPE,
        started_at=NOW,
        ended_at=NOW,
    )


GOOD = a_draft(observed("call-1"), not_found("call-2"), conclusion=CONCLUSION, missing_info=("容量上限",))


def good(**changes: Any) -> str:
    """The JSON of a good draft with these fields instead."""
    return json.dumps(json.loads(GOOD.model_dump_json()) | changes, ensure_ascii=False)


_words = st.text(min_size=1, max_size=12).filter(
    lambda text: any(character.isprintable() and not character.isspace() for character in text)
)
call_ids = st.sampled_from(["call-1", "call-2", "call-3", "other run", "  call-1", "呼叫", "\u0000"])
items = st.builds(
    AnalysisItem,
    type=st.sampled_from(AnalysisType),
    statement=_words,
    tool_call_ids=st.lists(call_ids, min_size=1, max_size=3).map(tuple),
    scope=st.none() | _words,
)
_lists = st.lists(_words, max_size=3).map(tuple)
drafts = st.builds(
    DiagnosisDraft,
    conclusion=st.none() | st.builds(Conclusion, summary=_words, root_cause=st.none() | _words),
    analysis=st.lists(items, max_size=3).map(tuple),
    action_plan=_lists,
    recommendations=_lists,
    limitations=st.builds(Limitations, missing_info=_lists, checked_scope=_lists),
)

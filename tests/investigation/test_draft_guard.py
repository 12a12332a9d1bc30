"""A draft that passes cites answered calls of its run alone, and concludes nothing without what they have shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.harness import EvidenceStatus
from agrajag.investigation.draft import AnalysisItem, AnalysisType, DiagnosisDraft
from agrajag.investigation.draft_guard import guard
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.failures import DraftFault
from agrajag.investigation.records import InvocationRecord, InvocationState
from tests.investigation.drafts import (
    CONCLUSION,
    GOOD,
    a_draft,
    a_record,
    call_ids,
    drafts,
    not_found,
    observed,
)

EVIDENCE = a_record("call-1", EvidenceStatus.EVIDENCE, evaluation=Evaluation.GAINED)
NOTHING = a_record("call-2", EvidenceStatus.NO_EVIDENCE)
USELESS = a_record("call-3", EvidenceStatus.EVIDENCE, evaluation=Evaluation.NO_GAIN)
FAILED = a_record("call-4", None, InvocationState.FAILED)
STARTED = a_record("call-5", None, InvocationState.STARTED)
RUN = (EVIDENCE, NOTHING, USELESS, FAILED, STARTED)


def concluding_nothing(*analysis: AnalysisItem) -> DiagnosisDraft:
    """A draft without a conclusion that says what is missing and what was checked."""
    return a_draft(*analysis, missing_info=["发生时间"], checked_scope=["支付服务日志"])


@pytest.mark.parametrize(
    "draft",
    [
        GOOD,
        a_draft(observed("call-1", "call-3", scope="支付服务"), conclusion=CONCLUSION),
        concluding_nothing(observed("call-3"), not_found("call-2")),
        concluding_nothing(not_found("call-2", "call-1")),
        concluding_nothing(),
    ],
)
def test_what_the_run_has_seen_may_be_said(draft: DiagnosisDraft) -> None:
    assert guard(draft, RUN) is None


def test_a_result_that_nobody_has_judged_yet_bears_a_conclusion() -> None:
    assert guard(a_draft(observed("call-1"), conclusion=CONCLUSION), [a_record("call-1")]) is None


@pytest.mark.parametrize(
    "call_id", ["call-6", "call-4", "call-5", "CALL-1", " call-1", "call-1\u200b", "call-"]
)
def test_an_id_that_is_no_answered_call_of_the_run_is_invented(call_id: str) -> None:
    for item in (observed("call-1", call_id), not_found("call-2", call_id)):
        assert guard(a_draft(observed("call-1"), item, conclusion=CONCLUSION), RUN) is DraftFault.UNKNOWN_CALL


def test_nothing_found_is_no_observation_not_even_among_others() -> None:
    for item in (observed("call-2", scope="支付服务"), observed("call-1", "call-2", scope="支付服务")):
        assert guard(concluding_nothing(item), RUN) is DraftFault.NO_EVIDENCE_AS_OBSERVATION


@pytest.mark.parametrize("call_id", ["call-1", "call-2"])
def test_that_something_is_not_there_needs_a_scope(call_id: str) -> None:
    draft = a_draft(observed("call-1"), not_found(call_id, scope=None), conclusion=CONCLUSION)
    assert guard(draft, RUN) is DraftFault.NEGATIVE_WITHOUT_SCOPE


@pytest.mark.parametrize(
    "draft",
    [
        a_draft(conclusion=CONCLUSION, missing_info=["发生时间"]),
        a_draft(not_found("call-2"), conclusion=CONCLUSION),
        a_draft(not_found("call-1"), conclusion=CONCLUSION),
        a_draft(observed("call-3"), conclusion=CONCLUSION),
        a_draft(observed("call-3"), not_found("call-1"), conclusion=CONCLUSION),
    ],
)
def test_a_conclusion_stands_on_something_seen_that_was_of_worth(draft: DiagnosisDraft) -> None:
    assert guard(draft, RUN) is DraftFault.CONCLUSION_WITHOUT_EVIDENCE


def test_without_a_conclusion_a_draft_says_what_is_missing_and_what_was_checked() -> None:
    assert guard(a_draft(checked_scope=["支付服务日志"]), RUN) is DraftFault.MISSING_INFO_NOT_SAID
    assert guard(a_draft(missing_info=["发生时间"]), RUN) is DraftFault.CHECKED_SCOPE_NOT_SAID


@pytest.mark.parametrize("records", [(), (FAILED, STARTED)])
def test_where_nothing_was_answered_only_what_is_missing_can_be_said(
    records: tuple[InvocationRecord, ...],
) -> None:
    assert guard(a_draft(missing_info=["发生时间"]), records) is None
    assert guard(a_draft(), records) is DraftFault.MISSING_INFO_NOT_SAID
    assert guard(concluding_nothing(), records) is DraftFault.CHECKED_SCOPE_INVENTED
    assert guard(a_draft(conclusion=CONCLUSION), records) is DraftFault.CONCLUSION_WITHOUT_EVIDENCE
    assert guard(concluding_nothing(observed("call-4")), records) is DraftFault.UNKNOWN_CALL


records = st.builds(
    a_record,
    call_ids,
    st.sampled_from([EvidenceStatus.EVIDENCE, EvidenceStatus.NO_EVIDENCE]),
    st.sampled_from([InvocationState.READY] * 8 + [InvocationState.STARTED, InvocationState.FAILED]),
    st.none() | st.sampled_from(Evaluation),
)
runs = st.lists(records, max_size=6, unique_by=lambda record: record.tool_call_id)


@st.composite
def told_runs(draw: st.DrawFn) -> tuple[DiagnosisDraft, list[InvocationRecord]]:
    """A run and what is said of it, mostly true: anything alone would nearly always cite what is not there."""
    run = draw(runs)
    if not run or draw(st.integers(0, 3)) == 0:
        return draw(drafts), run
    cited = st.sampled_from([record.tool_call_id for record in run])
    said = st.sampled_from([observed, not_found])
    analysis = draw(st.lists(st.builds(lambda say, call_id: say(call_id), said, cited), max_size=3))
    conclusion = draw(st.none() | st.just(CONCLUSION))
    return a_draft(
        *analysis, conclusion=conclusion, missing_info=["发生时间"], checked_scope=["支付服务日志"]
    ), run


@settings(max_examples=400)
@given(told_runs())
def test_a_draft_that_passes_never_claims_more_than_its_run_has_seen(
    told: tuple[DiagnosisDraft, list[InvocationRecord]],
) -> None:
    draft, run = told
    if guard(draft, run) is not None:
        return
    ready = {record.tool_call_id: record for record in run if record.state is InvocationState.READY}
    for item in draft.analysis:
        assert set(item.tool_call_ids) <= set(ready)
        if any(ready[cited].evidence_status is EvidenceStatus.NO_EVIDENCE for cited in item.tool_call_ids):
            assert item.type is AnalysisType.NEGATIVE_OBSERVATION
            assert item.scope is not None
    if draft.conclusion is None:
        assert draft.limitations.missing_info
    else:
        cited = [ready[cited] for item in draft.analysis for cited in item.tool_call_ids]
        assert any(
            record.evidence_status is EvidenceStatus.EVIDENCE and record.evaluation is not Evaluation.NO_GAIN
            for record in cited
        )
    if not ready:
        assert (draft.conclusion, draft.analysis, draft.limitations.checked_scope) == (None, (), ())


@given(told_runs())
def test_the_order_of_the_records_changes_nothing(
    told: tuple[DiagnosisDraft, list[InvocationRecord]],
) -> None:
    draft, run = told
    assert guard(draft, run) is guard(draft, run[::-1])

"""Decides whether a draft claims more than its run has seen, by the records alone (ours).

What a statement says in words is not judged here. What it stands on is: calls of this run that were answered, a
result that holds something where something is said to be seen, and a result that was of worth where something is
concluded. That a thing was not found concludes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from agrajag.harness import EvidenceStatus
from agrajag.investigation.draft import AnalysisItem, AnalysisType, DiagnosisDraft, Limitations
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.failures import DraftFault
from agrajag.investigation.records import InvocationRecord, InvocationState


def guard(draft: DiagnosisDraft, records: Sequence[InvocationRecord]) -> DraftFault | None:
    """The first claim of the draft that the records of its run do not bear out; None where there is none."""
    ready = {record.tool_call_id: record for record in records if record.state is InvocationState.READY}
    return next(_faults(draft, ready), None)


def _faults(draft: DiagnosisDraft, ready: Mapping[str, InvocationRecord]) -> Iterator[DraftFault]:
    for item in draft.analysis:
        yield from _faults_of_item(item, ready)
    if draft.conclusion is None:
        yield from _faults_of_limitations(draft.limitations, bool(ready))
    elif _grounds(ready).isdisjoint(_observed(draft)):
        yield DraftFault.CONCLUSION_WITHOUT_EVIDENCE


def _faults_of_item(item: AnalysisItem, ready: Mapping[str, InvocationRecord]) -> Iterator[DraftFault]:
    if not ready.keys() >= set(item.tool_call_ids):
        yield DraftFault.UNKNOWN_CALL
    if item.type is AnalysisType.NEGATIVE_OBSERVATION:
        if item.scope is None:
            yield DraftFault.NEGATIVE_WITHOUT_SCOPE
    elif not _evidence(ready) >= set(item.tool_call_ids):
        yield DraftFault.NO_EVIDENCE_AS_OBSERVATION


def _faults_of_limitations(limitations: Limitations, has_checked: bool) -> Iterator[DraftFault]:
    """Without a conclusion the draft says what is missing, and what was checked if and only if something was."""
    if not limitations.missing_info:
        yield DraftFault.MISSING_INFO_NOT_SAID
    if has_checked and not limitations.checked_scope:
        yield DraftFault.CHECKED_SCOPE_NOT_SAID
    if limitations.checked_scope and not has_checked:
        yield DraftFault.CHECKED_SCOPE_INVENTED


def _observed(draft: DiagnosisDraft) -> Iterator[str]:
    for item in draft.analysis:
        if item.type is AnalysisType.OBSERVATION:
            yield from item.tool_call_ids


def _evidence(ready: Mapping[str, InvocationRecord]) -> set[str]:
    return {call_id for call_id, record in ready.items() if record.evidence_status is EvidenceStatus.EVIDENCE}


def _grounds(ready: Mapping[str, InvocationRecord]) -> set[str]:
    """The calls that a conclusion can stand on. What the model has not been asked to judge counts as of worth."""
    return {call_id for call_id in _evidence(ready) if ready[call_id].evaluation is not Evaluation.NO_GAIN}

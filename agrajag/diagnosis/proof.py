"""Decides whether what the probes of a run showed carries a model's verdict; one that it does not becomes UNCLEAR.

A model can be lied to, and can lie. So it may choose among what the evidence leaves open, and no more: DOWN for all
needs a probe that failed technically and none that worked; DOWN for one user needs that it fails for them and for
nobody else. A failure with the model's own input proves nothing. What a verdict may write is decided elsewhere.
"""

from collections.abc import Sequence

from agrajag.diagnosis.findings import Findings, findings
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, Sign, reported_sign
from agrajag.model.enums import Classification, CredentialKind
from agrajag.model.jobs import Diagnosis, DiagnosisJob
from agrajag.model.wire_model import MAX_NOTE

SEVERAL_USERS = 2
TO_BE_PROVEN = frozenset(
    {
        Classification.TECHNICALLY_BROKEN,
        Classification.USER_SPECIFIC_TECHNICAL,
        Classification.WORKING,
    }
)
"""The verdicts for which it is worth to probe what the model has not."""

_ANYTHING_OF_A_TOOL = TECHNICAL | AMBIGUOUS
_ANYTHING_OF_A_USER = _ANYTHING_OF_A_TOOL | {Sign.CREDENTIAL}


def is_several(job: DiagnosisJob) -> bool:
    """Whether so many users met it that it is nobody's own."""
    return job.distinct_users >= SEVERAL_USERS


def is_shared_credential_refused(found: Findings, job: DiagnosisJob) -> bool:
    """Whether the credential that all callers share is refused: as was reported, and to the system's probe."""
    is_reported = found.reported is Sign.CREDENTIAL and job.credential_kind is CredentialKind.SHARED
    return is_reported and found.system.only_fails and set(found.system.fails) == {Sign.CREDENTIAL}


def is_carried(classification: Classification, outcomes: Sequence[ProbeOutcome], job: DiagnosisJob) -> bool:
    """Whether the evidence leaves this verdict open. WORKING is for whoever applies it, who knows since when."""
    found = findings([one for one in outcomes if one.success or not one.own_sample], reported_sign(job))
    match classification:
        case Classification.TECHNICALLY_BROKEN:
            fails = not _ANYTHING_OF_A_TOOL.isdisjoint(found.fails)
            return not found.works and (fails or is_shared_credential_refused(found, job))
        case Classification.USER_SPECIFIC_TECHNICAL:
            return not is_several(job) and _is_own(found)
        case _:
            return True


def _is_own(found: Findings) -> bool:
    if found.system.fails or found.user.works:
        return False
    if found.user.fails:
        return found.user.had_credentials and _ANYTHING_OF_A_USER.issuperset(found.user.fails)
    return found.system.works and found.reported is Sign.CREDENTIAL


def uncarried(answer: Diagnosis) -> Diagnosis:
    """What is left of an answer that nothing carries: its note, for the record."""
    note = f"No probe carries {answer.classification}. {answer.human_note}"
    return Diagnosis(classification=Classification.UNCLEAR, scope=answer.scope, human_note=note[:MAX_NOTE])

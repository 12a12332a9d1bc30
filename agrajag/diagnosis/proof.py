"""Decides whether what the probes of a run showed carries a model's verdict; one that it does not becomes UNCLEAR.

A model can be lied to, and can lie. So it may choose among what the evidence leaves open, and no more: DOWN for all
needs two signs of the same technical failure and none of life; DOWN for one user needs that it fails for them and for
nobody else. It is held to what the rules are held to.

There are two judges of evidence, and neither lets through all that the other does; a verdict is written where both let
it stand. This one decides what the engine says, and knows all that the tool has answered. `core.apply_guards` decides
what is written of the answer of any engine: it takes the answer for a record that anybody may have written, and goes by
the bare facts of each probe. What a single probe is evidence of, both ask `core.probe_failures`.
"""

from collections.abc import Sequence

from agrajag.core.probe_failures import is_of_several
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.signs import AMBIGUOUS, NOT_FOR_ALL, TECHNICAL, Sign, reported_sign
from agrajag.diagnosis.signs_seen import SignsSeen, signs_seen
from agrajag.model.enums import Classification, CredentialKind
from agrajag.model.jobs import Diagnosis, DiagnosisJob
from agrajag.model.wire_model import MAX_NOTE

TO_BE_PROVEN = frozenset(
    {
        Classification.TECHNICALLY_BROKEN,
        Classification.USER_SPECIFIC_TECHNICAL,
        Classification.WORKING,
    }
)
"""The verdicts for which it is worth to probe what the model has not."""

_ANYTHING_OF_A_TOOL = TECHNICAL | AMBIGUOUS
_ANYTHING_OF_A_USER = _ANYTHING_OF_A_TOOL | {Sign.CREDENTIAL, Sign.ELSEWHERE}
_NO_ANSWER = (Sign.TIMEOUT, Sign.UNREACHABLE)


def is_several(job: DiagnosisJob) -> bool:
    """Whether so many users met it that it is nobody's own."""
    return is_of_several(job.distinct_users)


def is_shared_credential_refused(found: SignsSeen, job: DiagnosisJob) -> bool:
    """Whether the credential that all callers share is refused: as was reported, and to the system's probe."""
    is_reported = found.reported is Sign.CREDENTIAL and job.credential_kind is CredentialKind.SHARED
    return is_reported and found.system.only_fails and set(found.system.fails) == {Sign.CREDENTIAL}


def concerns_all(sign: Sign, found: SignsSeen, job: DiagnosisJob) -> bool:
    """Whether such a failure, where nothing works, is everybody's, and not brought about by the data of one user."""
    if sign not in NOT_FOR_ALL or found.system.anything or is_several(job):
        return True
    return found.user.anything and not found.user.had_credentials


def is_only_slow(sign: Sign, found: SignsSeen, job: DiagnosisJob) -> bool:
    """Whether it may only be too slow for a probe."""
    return sign is Sign.TIMEOUT and not (is_several(job) or found.reported in _NO_ANSWER)


def _is_outage(found: SignsSeen, job: DiagnosisJob) -> bool:
    sign = found.technical
    if found.works or sign is None or not _ANYTHING_OF_A_TOOL.issuperset(found.fails):
        return False
    return concerns_all(sign, found, job) and not is_only_slow(sign, found, job)


def is_carried(classification: Classification, outcomes: Sequence[ProbeOutcome], job: DiagnosisJob) -> bool:
    """Whether the evidence leaves this verdict open. WORKING is for whoever applies it, who knows since when."""
    found = signs_seen(outcomes, reported_sign(job))
    match classification:
        case Classification.TECHNICALLY_BROKEN:
            return _is_outage(found, job) or (not found.works and is_shared_credential_refused(found, job))
        case Classification.USER_SPECIFIC_TECHNICAL:
            return not is_several(job) and _is_own(found)
        case _:
            return True


def _is_own(found: SignsSeen) -> bool:
    if found.system.fails or found.user.works:
        return False
    if found.user.fails:
        return found.user.had_credentials and _ANYTHING_OF_A_USER.issuperset(found.user.fails)
    return found.system.works and found.reported is Sign.CREDENTIAL


def uncarried(answer: Diagnosis) -> Diagnosis:
    """What is left of an answer that nothing carries: its note, for the record."""
    note = f"No probe carries {answer.classification}. {answer.human_note}"
    return Diagnosis(classification=Classification.UNCLEAR, scope=answer.scope, human_note=note[:MAX_NOTE])

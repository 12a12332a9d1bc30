"""Decides without a model as whom to probe next.

Each identity once. Then at most one probe is repeated, and only the one that a verdict about a failure would rest on
alone: a tool that flaps is told from a broken one by asking twice.
"""

from collections.abc import Mapping, Sequence

from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal
from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, reported_sign
from agrajag.diagnosis.signs_seen import SignsSeen, signs_seen
from agrajag.diagnosis.snapshot import Snapshot
from agrajag.model.enums import ProbeIdentity

Refusals = Mapping[ProbeIdentity, ProbeRefusal]
"""The identities as which the tool could not be probed, and why."""

_OWN_REFUSALS = frozenset({ProbeRefusal.NO_USER, ProbeRefusal.CREDENTIAL_MISSING})
_DOUBTFUL = TECHNICAL | AMBIGUOUS


def next_probe(
    snapshot: Snapshot, outcomes: Sequence[ProbeOutcome], refusals: Refusals
) -> ProbeIdentity | None:
    """As whom to probe next; None where another probe would not tell more."""
    if any(refusal not in _OWN_REFUSALS for refusal in refusals.values()):
        return None  # what refuses one identity refuses the other
    tried = {outcome.identity for outcome in outcomes} | set(refusals)
    if snapshot.job.originating_user_id is not None and ProbeIdentity.USER not in tried:
        return ProbeIdentity.USER
    if ProbeIdentity.SYSTEM not in tried:
        return ProbeIdentity.SYSTEM
    if len(outcomes) > len({outcome.identity for outcome in outcomes}):
        return None
    return _doubtful(signs_seen(outcomes, reported_sign(snapshot.job)))


def _doubtful(found: SignsSeen) -> ProbeIdentity | None:
    """Whose failure has to be seen twice."""
    if found.user.only_fails and found.system.only_works:
        return ProbeIdentity.USER if found.user.fails[0] in _DOUBTFUL else None
    if found.works or not found.fails or not _DOUBTFUL.issuperset(found.fails):
        return None
    if len(found.fails) == 2 and found.fails[0] is found.fails[1]:
        return None
    return ProbeIdentity.SYSTEM if found.system.anything else ProbeIdentity.USER

"""What the probes of one run show, and which verdicts they contradict; words count for nothing here.

An answer may come from any engine, and from anybody who can write to its topic: so what is written goes by these facts
alone, whatever the engine has made of them before (ours: `diagnosis.proof`, by the words of the tool as well). Which
probes are evidence at all, and of what, is for `core.probe_failures` to say.
"""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from agrajag.core.probe_failures import evidence_in, is_technical
from agrajag.core.times import milliseconds
from agrajag.model.enums import Classification, ProbeIdentity
from agrajag.model.jobs import Evidence

_UNAUTHORIZED = 401
_FORBIDDEN = 403
_SAYS_NOTHING_OF_WHO = frozenset({_FORBIDDEN, 429})  # a want of permission, and what passes
_TWICE = 2


class Probed(NamedTuple):
    """When, as whom, the newest probe worked or failed; None where none did.

    `broke_for_all_at`: one that was not made with the user's credential failed in a way that is no caller's fault;
    `breaks` counts those with it as well. `credential_refused`: the user's was; `refused_own`: something was that may
    be about who they are. `user_failures` counts those as the user, and `user_signature` is what the newest of them was
    called. `ignored`: how many probes were no evidence.
    """

    user_worked_at: datetime | None = None
    user_failed_at: datetime | None = None
    system_worked_at: datetime | None = None
    system_failed_at: datetime | None = None
    broke_for_all_at: datetime | None = None
    breaks: int = 0
    credential_refused: bool = False
    refused_own: bool = False
    user_failures: int = 0
    user_signature: str | None = None
    ignored: int = 0

    @property
    def worked_at(self) -> datetime | None:
        """When the newest probe that worked did."""
        return newest(self.user_worked_at, self.system_worked_at)

    @property
    def failed_at(self) -> datetime | None:
        """When the newest probe that failed did."""
        return newest(self.user_failed_at, self.system_failed_at)

    @property
    def is_one_users(self) -> bool:
        """Whether it fails for the user and works for the system: then it says nothing about anybody else."""
        return (
            self.user_failed_at is not None
            and self.system_worked_at is not None
            and self.system_failed_at is None
        )

    def contradict(self, classification: Classification) -> bool:
        """Whether a probe of the run shows that this verdict is wrong."""
        match classification:
            case Classification.WORKING:
                return self.failed_at is not None
            case Classification.TECHNICALLY_BROKEN:
                return self.worked_at is not None
            case Classification.USER_SPECIFIC_TECHNICAL:
                return self.user_worked_at is not None or self.system_failed_at is not None
            case Classification.USER_PERMISSION | Classification.USER_INPUT:
                return self.broke_for_all_at is not None
            case _:
                return False

    def show_outage(self, *, of_several: bool, has_user: bool) -> bool:
        """Whether it is broken for more than one user: twice in this run, once not with the user's own credential or
        reported by several. Where there is no user there is only the system to ask, and once is enough."""
        is_everybodys = self.broke_for_all_at is not None or of_several
        return is_everybodys and self.breaks >= (_TWICE if has_user else 1)

    def show_users_own(self, *, is_credential_reported: bool) -> bool:
        """Whether something is one user's own: a credential that is refused; or it works for the system, and refuses
        the user, or fails for them twice. What cannot be probed as them is so if a credential was reported."""
        if self.credential_refused:
            return True
        if self.system_worked_at is None:
            return False
        is_reported = is_credential_reported and self.user_failures == 0
        return self.refused_own or self.user_failures >= _TWICE or is_reported


def probed(
    evidence: Collection[Evidence],
    now: datetime,
    credential_signatures: Collection[str],
    *,
    was_reported: bool,
) -> Probed:
    """What these probes show. None of them can have happened after `now`, whatever it says.

    `credential_signatures` are what the rules call a credential that is refused. `was_reported`: an error stands behind
    the question.
    """
    telling = evidence_in(evidence)
    found = Probed(ignored=len(evidence) - len(telling))
    for one in telling:
        at = min(milliseconds(one.at), now)
        technical = not one.success and is_technical(one, was_reported=was_reported)
        if one.identity is ProbeIdentity.USER:
            found = _with_user_probe(found, one, at, technical, credential_signatures)
        elif one.success:
            found = found._replace(system_worked_at=newest(found.system_worked_at, at))
        else:
            found = found._replace(system_failed_at=newest(found.system_failed_at, at))
            if technical:
                broke_at = newest(found.broke_for_all_at, at)
                found = found._replace(broke_for_all_at=broke_at, breaks=found.breaks + 1)
    return found


def newest(*moments: datetime | None) -> datetime | None:
    """The latest of those that are known."""
    return max((moment for moment in moments if moment is not None), default=None)


def _with_user_probe(
    found: Probed, one: Evidence, at: datetime, technical: bool, credential_signatures: Collection[str]
) -> Probed:
    if one.success:
        return found._replace(user_worked_at=newest(found.user_worked_at, at))
    failed_at = newest(found.user_failed_at, at)
    signature = one.error_signature if failed_at == at else found.user_signature
    is_refused = one.status_code == _UNAUTHORIZED or one.error_signature in credential_signatures
    broke_at = at if technical and not one.had_credentials else None
    return found._replace(
        user_failed_at=failed_at,
        user_failures=found.user_failures + 1,
        user_signature=signature,
        credential_refused=found.credential_refused or (is_refused and one.had_credentials),
        refused_own=found.refused_own or _is_refused_own(one),
        breaks=found.breaks + technical,
        broke_for_all_at=newest(found.broke_for_all_at, broke_at),
    )


def _is_refused_own(one: Evidence) -> bool:
    """Whether the user was refused in a way that may be about their own account."""
    is_refused = not is_technical(one, was_reported=True)
    return one.had_credentials and is_refused and one.status_code not in _SAYS_NOTHING_OF_WHO

"""What the probes of one run show, and which verdicts they contradict; words count for nothing here.

A probe without credentials that was answered 401 or 403 shows only that credentials are needed: it is no evidence.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from agrajag.core.times import milliseconds
from agrajag.model.enums import Classification, ProbeIdentity
from agrajag.model.jobs import Evidence

_ASKS_FOR_CREDENTIALS = frozenset({401, 403})
_SERVER_ERROR = 500


class Probed(NamedTuple):
    """When, as whom, the newest probe worked or failed; None where none did.

    `system_broke_at`: one as the system failed in a way that is no caller's fault. `user_signature` is what the newest
    failure as the user was called. `ignored`: how many probes were no evidence.
    """

    user_worked_at: datetime | None = None
    user_failed_at: datetime | None = None
    system_worked_at: datetime | None = None
    system_failed_at: datetime | None = None
    system_broke_at: datetime | None = None
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
                return self.system_broke_at is not None
            case _:
                return False


def probed(evidence: Iterable[Evidence], now: datetime) -> Probed:
    """What these probes show. None of them can have happened after `now`, whatever it says."""
    found = Probed()
    for one in evidence:
        at = min(milliseconds(one.at), now)
        if _is_no_evidence(one):
            found = found._replace(ignored=found.ignored + 1)
        elif one.identity is ProbeIdentity.USER:
            found = _with_user_probe(found, one, at)
        elif one.success:
            found = found._replace(system_worked_at=newest(found.system_worked_at, at))
        else:
            broke_at = newest(found.system_broke_at, at) if _is_technical(one) else found.system_broke_at
            failed_at = newest(found.system_failed_at, at)
            found = found._replace(system_failed_at=failed_at, system_broke_at=broke_at)
    return found


def newest(*moments: datetime | None) -> datetime | None:
    """The latest of those that are known."""
    return max((moment for moment in moments if moment is not None), default=None)


def _with_user_probe(found: Probed, one: Evidence, at: datetime) -> Probed:
    if one.success:
        return found._replace(user_worked_at=newest(found.user_worked_at, at))
    failed_at = newest(found.user_failed_at, at)
    signature = one.error_signature if failed_at == at else found.user_signature
    return found._replace(user_failed_at=failed_at, user_signature=signature)


def _is_no_evidence(one: Evidence) -> bool:
    return not one.success and not one.had_credentials and one.status_code in _ASKS_FOR_CREDENTIALS


def _is_technical(one: Evidence) -> bool:
    return one.status_code is None or one.status_code >= _SERVER_ERROR

"""Says what the failure of a probe is evidence of: nothing, the caller, or the server. Whoever judges a run asks here.

What a tool does to a caller without credentials says little: it may ask for them by 401 or 403, by a redirect to where
people sign in, or hide behind 404 what needs them. So, where a tool takes credentials, a failure without any counts
only if it is plainly the server's.
"""

from collections.abc import Collection
from typing import Protocol, TypeVar

SEVERAL_USERS = 2
"""From so many users on an error is nobody's own."""

_ASKS_FOR_CREDENTIALS = frozenset({401, 403, *range(300, 400)})
_REFUSALS = range(300, 500)
_NO_CALLERS_FAULT = frozenset({402, 404, 408, 410})
_SERVERS_OWN = range(500, 600)
_NO_SAMPLES_FAULT = frozenset({408, 410})


class Probe(Protocol):
    """The facts of one probe, as `Evidence` and `ProbeOutcome` have them."""

    @property
    def success(self) -> bool: ...
    @property
    def had_credentials(self) -> bool: ...
    @property
    def takes_credentials(self) -> bool: ...
    @property
    def status_code(self) -> int | None: ...
    @property
    def unanswered(self) -> bool: ...


AnyProbe = TypeVar("AnyProbe", bound=Probe)


def is_of_several(distinct_users: int) -> bool:
    """Whether so many users met it that it is nobody's own."""
    return distinct_users >= SEVERAL_USERS


def evidence_in(probes: Collection[AnyProbe]) -> list[AnyProbe]:
    """Those of the probes of one run that say anything about the tool."""
    takes_credentials = any(probe.had_credentials or probe.takes_credentials for probe in probes)
    return [probe for probe in probes if _is_evidence(probe, takes_credentials)]


def _is_evidence(probe: Probe, takes_credentials: bool) -> bool:
    if probe.success or probe.had_credentials:
        return True
    if probe.status_code in _ASKS_FOR_CREDENTIALS:
        return False
    return not takes_credentials or is_plainly_the_servers(probe)


def is_plainly_the_servers(failed: Probe) -> bool:
    """Whether the server has failed by itself, whoever asked: an error of its own, or no answer at all."""
    return failed.unanswered or failed.status_code in _SERVERS_OWN


def is_technical(failed: Probe, *, was_reported: bool) -> bool:
    """Whether it failed in a way that no caller brings about: no answer, an unusable one, or an error of the server.

    What a sample that has grown old brings about as well (404, an error of the tool itself) counts only where an error
    was reported that it may be.
    """
    code = failed.status_code
    if is_plainly_the_servers(failed) or code in _NO_SAMPLES_FAULT:
        return True
    return was_reported and (code is None or code not in _REFUSALS or code in _NO_CALLERS_FAULT)

"""What a probe is asked and what it answers (spec agrajag §6.1); its adapters stand behind `Prober`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from agrajag.model.enums import ProbeIdentity

MAX_RAW_RESPONSE = 2_000


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """One probe. `user_id` is set for the identity USER, and is the originating user; nobody else is ever probed as.

    `sample_input` is the model's own; it counts only where the operator's file allows it. `probe_id` is derived from
    process and call.
    """

    probe_id: str
    tenant_id: str
    project_id: str | None
    tool_name: str
    identity: ProbeIdentity
    user_id: str | None
    sample_input: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What a probe showed. `raw_response` is redacted and at most 2,000 characters: for the audit and the model.

    `status_code` and `error_signature` as in spec agrajag §6.1; a failure has a signature, by Layer 1's rules over the
    response. `had_credentials`, `takes_credentials` and `unanswered` as in `Evidence`. `own_sample`: it was made with
    the model's own input, so its failure may be the input's.
    """

    identity: ProbeIdentity
    had_credentials: bool
    success: bool
    duration_ms: int
    status_code: int | None
    error_signature: str | None
    raw_response: str
    at: datetime
    own_sample: bool = False
    takes_credentials: bool = False
    unanswered: bool = False


class ProbeRefusal(StrEnum):
    """Why a probe has no outcome, which says nothing about the tool. Nothing was sent, unless our own side broke."""

    NO_TARGET = "NO_TARGET"
    """No operator has declared how it is probed."""
    NOT_SAFE = "NOT_SAFE"
    """What is declared is not marked SAFE_PROBE."""
    TARGET_BROKEN = "TARGET_BROKEN"
    """The declaration cannot be used."""
    ADDRESS_REFUSED = "ADDRESS_REFUSED"
    """Its address is none that may be called."""
    NO_NETWORK = "NO_NETWORK"
    """This machine could not look its host up, had no way to it, or lost the broker that was to bring the reply."""
    COMMAND_REFUSED = "COMMAND_REFUSED"
    """It is a program that is not on the operator's list."""
    SAMPLE_REFUSED = "SAMPLE_REFUSED"
    """The model's own sample is too large, does not fit its schema, or is none that such a call can be made with."""
    NO_USER = "NO_USER"
    """It was to be probed as a user, and there is none."""
    CREDENTIAL_MISSING = "CREDENTIAL_MISSING"
    """The file names a credential for this identity that cannot be found."""
    IDENTICAL = "IDENTICAL"
    """The same probe was made in this run."""
    LIMIT_REACHED = "LIMIT_REACHED"
    """The run has made all the probes it may, or has no time for another."""
    PROBER_STUCK = "PROBER_STUCK"
    """What carries probes out has not kept to its time."""


class Prober(Protocol):
    """Carries out probes of whatever kind a tool's target is."""

    async def probe(self, request: ProbeRequest, seconds: float) -> ProbeOutcome | ProbeRefusal:
        """One probe, at the latest after `seconds`. Never raises for what the target does: a hang, a torrent of bytes
        and nonsense are outcomes. A cancellation ends it at once and leaves nothing behind."""

"""A diagnosis job, the answer to it, and the evidence that the answer rests on (spec agrajag §5.3, §8)."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from agrajag.model.enums import (
    Classification,
    CredentialKind,
    Diagnostician,
    ProbeIdentity,
    Scope,
    ServiceFailure,
    Transport,
    Trigger,
)
from agrajag.model.events import Locale, TraceContext
from agrajag.model.wire_model import Count, Duration, Id, Note, ScopeId, Signature, Time, WireModel

SERVICE_TYPE: Final = "agrajag"
MAX_SIGNALS = 5
MAX_DETAIL = 600
MAX_USERS = 32
MAX_ADJUSTMENTS = 50
MAX_EVIDENCE = 100

Detail = Annotated[str, StringConstraints(max_length=MAX_DETAIL)]
"""Redacted error text for a diagnosis, at most 600 characters."""

Fingerprint = Annotated[str, StringConstraints(max_length=64)]
"""A short hash of a user id: tells users apart without naming them."""


class ServiceJob(WireModel):
    """What every job of a service engine says, whichever engine `service_type` names (spec agrajag §8.1, §12).

    `job_id` is derived, so that a repeat is the same job. The originating user is who its work may act as.
    """

    job_id: Id
    service_type: Id
    tenant_id: Id
    project_id: Id | None = None
    originating_user_id: Id | None = None
    originating_session_id: Id | None = None
    originating_process_id: Id | None = None
    trigger: Trigger
    created_at: Time
    lease_until: Time
    otel: TraceContext | None = None


class DiagnosisJob(ServiceJob):
    """One question for the diagnosis: what is wrong with this tool for this scope? (spec agrajag §8.1)

    `job_id` is derived from the coalescing key and the claiming event, so that a repeat is the same job. The
    same job is sent again when signals join it; `error_count` and `distinct_users` (counted up to 32) say how many did.
    """

    service_type: Literal["agrajag"] = SERVICE_TYPE
    scope: Scope
    scope_id: ScopeId
    tool_name: Id
    error_signature: Signature
    error_detail: Detail | None = None
    signals: Annotated[tuple[Detail, ...], Field(max_length=MAX_SIGNALS)] = ()
    error_count: Count = 1
    distinct_users: Count = 0
    user_fingerprints: Annotated[tuple[Fingerprint, ...], Field(max_length=MAX_USERS)] = ()
    transport: Transport | None = None
    credential_kind: CredentialKind | None = None
    locale: Locale | None = None
    claimed_by: Id


class CooldownAdjustment(WireModel):
    """A cooldown that a diagnosis asks for beside its verdict."""

    error_signature: Signature
    user_id: Id | None = None
    duration: Duration


class Diagnosis(WireModel):
    """A validated answer: what is wrong, for whom, until when (spec agrajag §5.3)."""

    classification: Classification
    scope: Scope
    expected_recovery_at: Time | None = None
    human_note: Note
    user_action_hint: Annotated[str, StringConstraints(max_length=200)] | None = None
    cooldown_adjustments: Annotated[tuple[CooldownAdjustment, ...], Field(max_length=MAX_ADJUSTMENTS)] = ()


class Evidence(WireModel):
    """What one probe of this run showed; `apply` judges a diagnosis by it, never by the model's words.

    `takes_credentials`: the tool is declared to be called with credentials, whether or not this probe had any.
    `unanswered`: no whole answer came: connection refused or broken, name unknown, no TLS, or out of time.
    """

    identity: ProbeIdentity
    had_credentials: bool
    takes_credentials: bool = False
    success: bool
    status_code: Annotated[int, Field(ge=100, le=599)] | None = None
    unanswered: bool = False
    error_signature: Signature | None = None
    duration_ms: Count
    at: Time


class DiagnosisResult(WireModel):
    """How one job ended. Where no `diagnosis` was reached, `failure` says why in one closed word.

    `is_fallback`: the diagnosis is not what anybody found out, but what is written where nothing was (spec §5.2 step
    4); it replaces no unexpired DOWN. `answered_by` says who found it. `locale` is the originating user's language.
    """

    job_id: Id
    process_id: Id
    session_id: Id | None = None
    tenant_id: Id
    project_id: Id | None = None
    scope: Scope
    scope_id: ScopeId
    tool_name: Id
    error_signature: Signature
    originating_user_id: Id | None = None
    trigger: Trigger
    by: Id
    """The audit label of what is written: `agrajag-engine/<processId>`."""
    answered_by: Diagnostician | None = None
    diagnosis: Diagnosis | None = None
    is_fallback: bool = False
    failure: ServiceFailure | None = None
    locale: Locale | None = None
    signals: Count = 1
    """How many errors the job stood for when it was answered."""
    distinct_users: Count = 0
    evidence: Annotated[tuple[Evidence, ...], Field(max_length=MAX_EVIDENCE)] = ()
    started_at: Time
    finished_at: Time
    otel: TraceContext | None = None

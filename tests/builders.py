"""Boring values for tests: everything has a default, and a test names only what it is about.

What `an_error(...)` and `a_rule(...)` are given may be a field of the record, or of the part inside it
that tests speak of most: of `error` for a tool call error, of `match` for a rule.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from agrajag.core.features import Features
from agrajag.core.rules import Rule, Selectors
from agrajag.model.answers import HealthCommand, InboxItem
from agrajag.model.enums import (
    Classification,
    CommandKind,
    LinkKind,
    ProbeIdentity,
    ProcessStatus,
    Scope,
    SessionStatus,
    Status,
    ToolCallStatus,
    Trigger,
)
from agrajag.model.events import ErrorReport, SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.health import Cooldown, ToolHealth, VerdictFacet
from agrajag.model.jobs import Diagnosis, DiagnosisJob, DiagnosisResult, Evidence
from agrajag.model.processes import ProcessEvent, RunUsage, SessionEvent, ToolCallEvent

NOW = datetime(2026, 5, 23, 12, 0, tzinfo=UTC)
"""The moment at which tests happen: a Saturday noon without any meaning."""

_REPORT_FIELDS = frozenset(ErrorReport.model_fields)
_SELECTOR_FIELDS = frozenset(Selectors.__dataclass_fields__)


def _split(overrides: dict[str, Any], inner: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The overrides that belong to the part inside, and the others."""
    within = {name: value for name, value in overrides.items() if name in inner}
    return within, {name: value for name, value in overrides.items() if name not in inner}


def an_error(**overrides: Any) -> ToolCallError:
    """Alice's call of `search` in project `essays` of tenant `acme` failed without a telling detail."""
    report, event = _split(overrides, _REPORT_FIELDS)
    given: dict[str, Any] = {
        "event_id": "event-1",
        "occurred_at": NOW,
        "tenant_id": "acme",
        "project_id": "essays",
        "tool_name": "search",
        "user_id": "alice",
        "error": ErrorReport(**report),
    }
    return ToolCallError(**(given | event))


def features_of(**overrides: Any) -> Features:
    """What a rule can look at in `an_error(**overrides)`."""
    return Features(an_error(**overrides))


def a_success(**overrides: Any) -> ToolCallSucceeded:
    """Alice's call of the same tool succeeded."""
    given: dict[str, Any] = {
        "event_id": "success-1",
        "occurred_at": NOW,
        "tenant_id": "acme",
        "project_id": "essays",
        "tool_name": "search",
        "user_id": "alice",
    }
    return ToolCallSucceeded(**(given | overrides))


def a_command(kind: CommandKind, **overrides: Any) -> HealthCommand:
    """The operator's command about the same tool for project `essays`."""
    given: dict[str, Any] = {
        "command_id": "command-1",
        "kind": kind,
        "tenant_id": "acme",
        "scope": Scope.PROJECT,
        "scope_id": "essays",
        "tool_name": "search",
        "by": "ops",
        "at": NOW,
    }
    return HealthCommand(**(given | overrides))


def a_system_event(**overrides: Any) -> SystemEvent:
    """The MCP connection that carries the same tool was closed."""
    given: dict[str, Any] = {
        "event_id": "link-event-1",
        "occurred_at": NOW,
        "kind": LinkKind.MCP_CLOSED,
        "tenant_id": "acme",
        "project_id": "essays",
        "link_id": "mcp-search",
        "connection_id": "connection-1",
        "seq": 1,
        "tool_names": ("search",),
    }
    return SystemEvent(**(given | overrides))


def a_rule(rule_id: str = "a-rule", **overrides: Any) -> Rule:
    """An UNCLEAR rule that matches everything, with its id as its signature."""
    selectors, fields = _split(overrides, _SELECTOR_FIELDS)
    given: dict[str, Any] = {
        "id": rule_id,
        "match": Selectors(**selectors),
        "signature": rule_id,
        "classification": Classification.UNCLEAR,
    }
    return Rule(**(given | fields))


def a_cooldown(**overrides: Any) -> Cooldown:
    """A first pause for everybody, begun now and half a minute long, for signature `http-5xx`."""
    given: dict[str, Any] = {
        "error_signature": "http-5xx",
        "next_spawn_allowed_at": NOW + timedelta(seconds=30),
        "last_classification": Classification.UNCLEAR,
        "last_triggered_at": NOW,
    }
    return Cooldown(**(given | overrides))


def a_health(**overrides: Any) -> ToolHealth:
    """The document of the same tool for project `essays`; `status` stands for a verdict of it.

    Without an override it carries no opinion: OK, no cooldown, no history.
    """
    status = overrides.pop("status", None)
    given: dict[str, Any] = {
        "revision": 1,
        "tenant_id": "acme",
        "scope": Scope.PROJECT,
        "scope_id": "essays",
        "tool_name": "search",
        "created_at": NOW,
        "updated_at": NOW,
    }
    if status is not None and status is not Status.OK:
        given["verdict"] = VerdictFacet(
            status=status,
            since=NOW,
            classification=Classification.TECHNICALLY_BROKEN,
            by="agrajag-checker",
            evidence_at=NOW,
        )
    return ToolHealth(**(given | overrides))


def a_job(**overrides: Any) -> DiagnosisJob:
    """A job about the same tool, opened by `an_error()`."""
    given: dict[str, Any] = {
        "job_id": "job-1",
        "tenant_id": "acme",
        "project_id": "essays",
        "scope": Scope.PROJECT,
        "scope_id": "essays",
        "tool_name": "search",
        "originating_user_id": "alice",
        "trigger": Trigger.TOOL_CALL_ERROR,
        "error_signature": "http-5xx",
        "claimed_by": "event-1",
        "created_at": NOW,
        "lease_until": NOW + timedelta(minutes=15),
    }
    return DiagnosisJob(**(given | overrides))


_PROCESS = {
    "process_id": "proc-1",
    "job_id": "job-1",
    "tenant_id": "acme",
    "project_id": "essays",
    "at": NOW,
}


def a_process_event(status: ProcessStatus = ProcessStatus.RUNNING, **overrides: Any) -> ProcessEvent:
    """A step of the process that answers `a_job()`."""
    given: dict[str, Any] = {
        **_PROCESS,
        "session_id": "sess-1",
        "service_name": "agrajag",
        "status": status,
        "originating_user_id": "alice",
    }
    return ProcessEvent(**(given | overrides))


def a_tool_call_event(status: ToolCallStatus = ToolCallStatus.STARTED, **overrides: Any) -> ToolCallEvent:
    """A tool call of the same process."""
    given: dict[str, Any] = {
        **_PROCESS,
        "call_id": "call-1",
        "tool_name": "tool_probe_as_user",
        "status": status,
    }
    return ToolCallEvent(**(given | overrides))


def a_usage(**overrides: Any) -> RunUsage:
    """What the same process has used: nothing."""
    given: dict[str, Any] = {**_PROCESS, "service_name": "agrajag"}
    return RunUsage(**(given | overrides))


def a_session_event(status: SessionStatus = SessionStatus.ACTIVE, **overrides: Any) -> SessionEvent:
    """A state of the system session in which the same process runs."""
    given: dict[str, Any] = {
        "session_id": "sess-1",
        "seq": 1,
        "tenant_id": "acme",
        "project_id": "essays",
        "service_name": "agrajag",
        "display_name": "_service_agrajag",
        "status": status,
        "worker_id": "worker-1",
        "at": NOW,
    }
    return SessionEvent(**(given | overrides))


def an_inbox_item(**overrides: Any) -> InboxItem:
    """What Alice can do about the same tool herself."""
    given: dict[str, Any] = {
        "item_id": "inbox-1",
        "revision": 1,
        "tenant_id": "acme",
        "assigned_to_user_id": "alice",
        "tool_name": "search",
        "error_signature": "http-401",
        "opening_job_id": "job-1",
        "title": "search: your credentials no longer work",
        "body": "Log in again.",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return InboxItem(**(given | overrides))


def evidence(
    identity: ProbeIdentity = ProbeIdentity.SYSTEM, *, at: datetime = NOW, **overrides: Any
) -> Evidence:
    """A probe that failed with a 500, with credentials; `success=True` for one that worked."""
    given: dict[str, Any] = {
        "identity": identity,
        "had_credentials": True,
        "success": False,
        "duration_ms": 20,
        "at": at,
    }
    if not overrides.get("success"):
        given |= {"status_code": 500, "error_signature": "http-5xx"}
    return Evidence(**(given | overrides))


def a_result(job: DiagnosisJob, *, at: datetime = NOW, **overrides: Any) -> DiagnosisResult:
    """The answer to `job`, finished at `at`: TECHNICALLY_BROKEN for the job's scope, by no probe.

    What is given may be a field of the result or of its diagnosis; `diagnosis=None` for a failed one.
    """
    said, fields = _split(overrides, frozenset(Diagnosis.model_fields) - {"scope"})
    said |= {"scope": fields.pop("wanted")} if "wanted" in fields else {}
    default: dict[str, Any] = {
        "classification": Classification.TECHNICALLY_BROKEN,
        "scope": job.scope,
        "human_note": "it answers 502",
    }
    given: dict[str, Any] = {
        "job_id": job.job_id,
        "process_id": f"proc-{job.job_id}",
        "session_id": "sess-1",
        "tenant_id": job.tenant_id,
        "project_id": job.project_id,
        "scope": job.scope,
        "scope_id": job.scope_id,
        "tool_name": job.tool_name,
        "error_signature": job.error_signature,
        "originating_user_id": job.originating_user_id,
        "trigger": job.trigger,
        "by": f"agrajag-engine/proc-{job.job_id}",
        "diagnosis": Diagnosis(**(default | said)),
        "locale": job.locale,
        "signals": job.error_count,
        "distinct_users": job.distinct_users,
        "started_at": at,
        "finished_at": at,
    }
    return DiagnosisResult(**(given | fields))

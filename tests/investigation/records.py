"""Records of tool calls as tests need them: one call that found something, with what a test changes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from agrajag.harness import EvidenceStatus
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.evidence import Scope
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.investigation.requests import ToolName

NOW = datetime(2026, 5, 23, 12, tzinfo=UTC)
SCOPE = Scope(source="logs", subjects=("checkout",), since=NOW - timedelta(hours=1), until=NOW)


def a_started(**changes: Any) -> InvocationRecord:
    """A call that has begun."""
    began: dict[str, Any] = {
        "session_id": "session-1",
        "run_id": "run-1",
        "tool_call_id": "call-1",
        "tool_name": ToolName.QUERY_LOGS,
        "input": {"contains": "timeout", "limit": 20},
        "input_hash": "ab" * 32,
        "state": InvocationState.STARTED,
        "started_at": NOW,
    }
    return InvocationRecord(**{**began, **changes})


def a_ready(**changes: Any) -> InvocationRecord:
    """A call that has found something."""
    found = {
        "state": InvocationState.READY,
        "evidence_status": EvidenceStatus.EVIDENCE,
        "scope": SCOPE,
        "ended_at": NOW + timedelta(seconds=1),
    }
    return a_started(**{**found, **changes})


def an_evaluated(**changes: Any) -> InvocationRecord:
    """A call that has found something which the model has judged."""
    return a_ready(**{"evaluation": Evaluation.GAINED, **changes})

"""Whose word counts: the scopes that apply to a caller, and the document that speaks for them.

The narrowest document with an opinion wins. One that only carries cooldowns has none, so it never hides a wider DOWN.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.events import ToolCallError, ToolCallSucceeded
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_keys

CLIENT_TOOL_PREFIX = "client_"
USER_CLASSES = frozenset(
    {Classification.USER_PERMISSION, Classification.USER_SPECIFIC_TECHNICAL, Classification.USER_INPUT}
)


class Caller(NamedTuple):
    """Who called a tool; the ids that select its scopes."""

    tenant_id: str
    project_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None

    @classmethod
    def of(cls, event: ToolCallError | ToolCallSucceeded) -> "Caller":
        """Who made the call."""
        return cls(event.tenant_id, event.project_id, event.user_id, event.session_id)

    def keys(self, tool_name: str) -> tuple[str, ...]:
        """The key of every document of the tool that applies to this caller, narrowest first."""
        return health_keys(*self, tool_name)

    def target(self, tool_name: str, classification: Classification) -> tuple[Scope, str]:
        """The scope that an error of this class is written to, never wider than the tenant.

        What is this user's own lands on the user; a `client_` tool lives and dies with its session; the rest concerns
        the project. What is missing falls through to the next wider one.
        """
        client_tool = tool_name.startswith(CLIENT_TOOL_PREFIX) and self.session_id is not None
        if client_tool and classification is not Classification.USER_SPECIFIC_TECHNICAL:
            return Scope.SESSION, self.session_id or ""
        if classification in USER_CLASSES and self.user_id is not None:
            return Scope.USER, self.user_id
        if self.project_id is not None:
            return Scope.PROJECT, self.project_id
        return Scope.TENANT, self.tenant_id


def speaks_for(documents: Iterable[ToolHealth], now: datetime, policy: Policy) -> ToolHealth | None:
    """The document that tells a caller's status, given those that apply, narrowest first; None: nothing is wrong.

    That is the first one whose status at `now` is not OK, or that a person has declared OK. A status whose promised
    recovery has passed, or that nothing has confirmed for a day, has no say.
    """
    for document in documents:
        if document.is_undisputed:
            continue
        if document.active_override(now) is not None:
            return document
        if believed_status(document, now, policy) is not Status.OK:
            return document
    return None


def believed_status(document: ToolHealth, now: datetime, policy: Policy) -> Status:
    """The status that counts for a call: the document's at `now`, and OK for a verdict that has lapsed."""
    status = document.status_at(now)
    if document.active_override(now) is None and has_lapsed(document, now, policy):
        return Status.OK
    return status


def has_lapsed(document: ToolHealth, now: datetime, policy: Policy) -> bool:
    """Whether the verdict alone would be believed no longer: its recovery time has passed, or it is unconfirmed."""
    if document.link.down_since is not None:
        return False
    recovery = document.verdict.expected_recovery_at
    return now >= recovery if recovery is not None else is_unconfirmed(document, now, policy)


def unconfirmed_since(document: ToolHealth, now: datetime, policy: Policy) -> datetime | None:
    """The last evidence for the status that the document shows, where that is too long ago for it to be believed.

    None for a status that a person or a connection has set, and for one that is confirmed or OK.
    """
    verdict_speaks = document.active_override(now) is None and document.link.down_since is None
    unconfirmed = verdict_speaks and is_unconfirmed(document, now, policy)
    return document.verdict.evidence_at if unconfirmed else None


def is_unconfirmed(document: ToolHealth, now: datetime, policy: Policy) -> bool:
    """Whether a DOWN or DEGRADED without a recovery time has had no evidence for `policy.unconfirmed_after`.

    Producers that report only errors never send a success, so such a verdict would otherwise stand for ever.
    """
    verdict = document.verdict
    if verdict.status is Status.OK or verdict.expected_recovery_at is not None or verdict.evidence_at is None:
        return False
    return now - verdict.evidence_at >= policy.unconfirmed_after

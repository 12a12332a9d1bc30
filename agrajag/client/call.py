"""One call of a tool, as the one who makes it sees it: whose it is, and what is known of how it is made.

A value: the same call made twice is equal, so that what goes wrong with it again and again can be told once.
"""

from dataclasses import dataclass
from datetime import datetime

from agrajag.core.lookup import Caller
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport
from agrajag.model.events import ErrorReport, ToolCallError


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls which tool. All but the first two may be unknown; what is known makes a verdict narrower.

    `user_id` is the person for whom the tool is called: an expired token is then theirs and nobody else's.
    `credential_kind` and `target_kind` say whose credential is used and who chose the endpoint.
    """

    tenant_id: str
    tool_name: str
    project_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    process_id: str | None = None
    tool_family: str | None = None
    transport: Transport | None = None
    credential_kind: CredentialKind | None = None
    target_kind: CallTargetKind | None = None
    locale: str | None = None

    @property
    def caller(self) -> Caller:
        """The ids that select the scopes which apply."""
        return Caller(self.tenant_id, self.project_id, self.user_id, self.session_id)

    def failed(
        self,
        error: ErrorReport,
        *,
        event_id: str | None = None,
        occurred_at: datetime | None = None,
        count: int = 1,
        first_at: datetime | None = None,
    ) -> ToolCallError:
        """The event of this call's failure; of `count` equal ones from `first_at` to `occurred_at`.

        Raises pydantic's ValidationError for ids that are none.
        """
        return ToolCallError(
            event_id=event_id,
            occurred_at=occurred_at,
            tenant_id=self.tenant_id,
            project_id=self.project_id,
            tool_name=self.tool_name,
            tool_family=self.tool_family,
            user_id=self.user_id,
            session_id=self.session_id,
            process_id=self.process_id,
            locale=self.locale,
            transport=self.transport,
            credential_kind=self.credential_kind,
            target_kind=self.target_kind,
            count=count,
            first_at=first_at,
            last_at=occurred_at if first_at is not None else None,
            error=error,
        )

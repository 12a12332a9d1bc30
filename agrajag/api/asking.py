"""Makes a command of a request about one health document, and asks it: what all routes that change a document share."""

from typing import Annotated, Any

from fastapi import Depends, Header
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.command_readings import Commanded, DocumentPlace, health_at
from agrajag.api.commanding import command_id_of
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act
from agrajag.api.principal import LOCAL, TenantPrincipal, must_be_allowed
from agrajag.api.scopes import Asked, Place, ScopeAsked, place_of
from agrajag.api.segments import TenantSegment
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.reading import HealthReading
from agrajag.model.wire_model import Id, Note

IdempotencyKey = Annotated[
    str | SkipJsonSchema[None],
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="Names the request: sent again with it, nothing is done twice and the first answer counts.",
    ),
]


class WhyAsked(Asked):
    """Why something is asked."""

    reason: Note | SkipJsonSchema[None] = Field(
        None, description="Why; it is kept in the document and in the audit."
    )


class ChangeAsked(ScopeAsked):
    """Which document is to be changed."""

    project_id: Id | SkipJsonSchema[None] = Field(
        None, description="The project of a narrower scope, whose settings count."
    )


class Asking:
    """A request that asks something of a document: who asks, and through which parts."""

    def __init__(
        self,
        principal: TenantPrincipal,
        parts: PartsGiven,
        tenant: TenantSegment,
        key: IdempotencyKey = None,
    ) -> None:
        self.principal = principal
        self.parts = parts
        self.tenant = tenant
        self._key = key

    def place(self, act: Act, asked: ScopeAsked) -> Place:
        """Which document it is. Raises a 403 where whoever asks may not do this to it, a 422 where there is none."""
        place = place_of(self.principal, self.tenant, asked.scope, asked.scope_id)
        must_be_allowed(self.principal, act, self.principal.whose(*place))
        return place

    def probed_as(self, place: Place) -> str | None:
        """Whose credentials a recheck may use: those of whoever asks, unless the document is another user's."""
        if place.scope is Scope.USER:
            return place.scope_id if place.scope_id == self.principal.user else None
        return None if self.principal == LOCAL else self.principal.user

    async def command(self, kind: CommandKind, tool: str, place: Place, **fields: Any) -> Commanded:
        """Ask it of the workers, and wait until its effect can be read here. Raises as `Commanding.ask`."""
        parts, project_id = self.parts, fields.pop("project_id", None)
        command = HealthCommand(
            command_id=command_id_of(self.tenant, self.principal.user, self._key),
            kind=kind,
            tenant_id=self.tenant,
            project_id=None if place.scope is Scope.PROJECT else project_id,
            scope=place.scope,
            scope_id=place.scope_id,
            tool_name=tool,
            by=self.principal.user,
            at=parts.now(),
            **fields,
        )
        wait_seconds = parts.values.command_wait_seconds
        result = await parts.commanding.ask(command, wait_seconds, named=self._key is not None)
        health = await self.health_since(tool, place, result.revision or 0)
        return Commanded(command=result, health=health)

    async def health_since(self, tool: str, place: Place, revision: int) -> HealthReading | None:
        """The document, as of this revision if that is shown within a little time; 0 is any."""
        where = DocumentPlace(self.tenant, *place, tool)
        if revision:
            await self.parts.view.at_least(*where, revision, self.parts.values.revision_wait_seconds)
        return health_at(where, self.principal, self.parts)


AskingGiven = Annotated[Asking, Depends()]
"""The request, as a parameter of a route."""

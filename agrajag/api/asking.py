"""Makes a command of a request about one health document, and asks it: what all routes that change a document share."""

from typing import Annotated, Any

from fastapi import Depends, Header, Query

from agrajag.api.command_readings import Commanded, Place, health_at
from agrajag.api.commanding import command_id_of
from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act, Principal
from agrajag.api.principal import LOCAL, TenantPrincipal, must_be_allowed
from agrajag.api.scoped import Scoped, ScopedGiven
from agrajag.api.segments import TenantSegment, ToolSegment
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.reading import HealthReading
from agrajag.model.wire_model import Id, Note

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="Names the request: sent again with it, nothing is done twice and the first answer counts.",
    ),
]
ReasonQuery = Annotated[Note | None, Query(description="Why; it is kept in the document and in the audit.")]
ProjectQuery = Annotated[
    Id | None, Query(alias="projectId", description="The project of a narrower scope, whose settings count.")
]


class Asking:
    """A request about one document: who asks, through which parts, and about which document."""

    def __init__(
        self,
        principal: TenantPrincipal,
        parts: PartsGiven,
        tenant: TenantSegment,
        tool: ToolSegment,
        scoped: ScopedGiven,
        project_id: ProjectQuery = None,
        key: IdempotencyKey = None,
    ) -> None:
        self.principal = principal
        self.parts = parts
        self.tenant = tenant
        self.tool = tool
        self.scoped = scoped
        self._project_id = project_id
        self._key = key

    def must_be_allowed(self, act: Act) -> None:
        """Raises a 403 where whoever asks may not do this to the document."""
        must_be_allowed(self.principal, act, self.principal.whose(*self.scoped))

    @property
    def probed_as(self) -> str | None:
        """Whose credentials a recheck may use: those of whoever asks, unless the document is another user's."""
        if self.principal == LOCAL and self.scoped.scope is not Scope.USER:
            return None
        another = self.scoped.scope is Scope.USER and self.scoped.scope_id != self.principal.user
        return None if another else self.principal.user

    async def command(self, kind: CommandKind, **fields: Any) -> Commanded:
        """Ask it of the workers. Raises as `Commanding.ask`."""
        command = a_command(
            kind,
            self.principal,
            self.parts,
            tenant_id=self.tenant,
            tool_name=self.tool,
            scoped=self.scoped,
            key=self._key,
            project_id=None if self.scoped.scope is Scope.PROJECT else self._project_id,
            **fields,
        )
        return await commanded(command, self.principal, self.parts, named=self._key is not None)

    async def health_since(self, revision: int) -> HealthReading | None:
        """The document, as of this revision if that is shown within a little time."""
        place = Place(self.tenant, *self.scoped, self.tool)
        await self.parts.view.at_least(*place, revision, self.parts.values.revision_wait_seconds)
        return health_at(place, self._project_id, self.principal, self.parts)


AskingGiven = Annotated[Asking, Depends()]
"""The request, as a parameter of a route."""


def a_command(
    kind: CommandKind,
    principal: Principal,
    parts: Parts,
    *,
    tenant_id: str,
    tool_name: str,
    scoped: Scoped,
    key: str | None,
    **fields: Any,
) -> HealthCommand:
    """What a principal asks of a document now."""
    return HealthCommand(
        command_id=command_id_of(tenant_id, principal.user, key),
        kind=kind,
        tenant_id=tenant_id,
        scope=scoped.scope,
        scope_id=scoped.scope_id,
        tool_name=tool_name,
        by=principal.user,
        at=parts.now(),
        **fields,
    )


async def commanded(command: HealthCommand, principal: Principal, parts: Parts, *, named: bool) -> Commanded:
    """The result of a command, once its effect can be read here. Raises as `Commanding.ask`."""
    result = await parts.commanding.ask(command, parts.values.command_wait_seconds, named=named)
    place = Place(command.tenant_id, command.scope, command.scope_id, command.tool_name)
    if result.revision is not None:
        await parts.view.at_least(*place, result.revision, parts.values.revision_wait_seconds)
    return Commanded(command=result, health=health_at(place, command.project_id, principal, parts))

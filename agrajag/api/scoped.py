"""Reads which of a tool's documents a request is about: `scope`, and `scopeId` where that scope has one."""

from typing import Annotated, NamedTuple

from fastapi import Depends, Query

from agrajag.api.principal import TenantPrincipal
from agrajag.api.problems import FieldProblem, ProblemType, Refused
from agrajag.api.segments import TenantSegment
from agrajag.model.enums import Scope
from agrajag.model.wire_model import ScopeId

ScopeQuery = Annotated[Scope, Query(description="Whom it concerns.")]
ScopeIdQuery = Annotated[
    ScopeId,
    Query(
        alias="scopeId",
        description="Which session, user or project; oneself where no user is named. TENANT and GLOBAL need none.",
    ),
]


class Scoped(NamedTuple):
    """A scope, and its id."""

    scope: Scope
    scope_id: str


async def _scoped(
    principal: TenantPrincipal, tenant: TenantSegment, scope: ScopeQuery, scope_id: ScopeIdQuery = ""
) -> Scoped:
    match scope:
        case Scope.GLOBAL:
            return _only("", scope, scope_id)
        case Scope.TENANT:
            return _only(tenant, scope, scope_id)
        case Scope.USER:
            return Scoped(scope, scope_id or principal.user)
        case Scope.SESSION | Scope.PROJECT:
            if not scope_id:
                raise _wrong(f"a {scope} has one")
            return Scoped(scope, scope_id)


ScopedGiven = Annotated[Scoped, Depends(_scoped)]
"""Which document, as a parameter of a route."""


def _only(right: str, scope: Scope, given: str) -> Scoped:
    if given not in ("", right):
        raise _wrong("GLOBAL has none" if scope is Scope.GLOBAL else "is another tenant's")
    return Scoped(scope, right)


def _wrong(reason: str) -> Refused:
    problem = FieldProblem(field="query.scopeId", reason=reason)
    return Refused(ProblemType.INVALID, f"{problem.field}: {reason}", errors=[problem])

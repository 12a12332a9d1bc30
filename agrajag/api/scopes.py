"""Says which health document a request is about: its scope, and the id that goes with it."""

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agrajag.api.permissions import Principal
from agrajag.api.problems import FieldProblem, ProblemType, Refused
from agrajag.model.enums import Scope
from agrajag.model.wire_model import ScopeId


class Asked(BaseModel):
    """What the part of an address behind `?` may hold. A parameter that there is not is refused: it was meant."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=False)


class ScopeAsked(Asked):
    """Of whom a document is."""

    scope: Scope = Field(Scope.TENANT, description="Whom the document is about.")
    scope_id: ScopeId = Field(
        "",
        description="Which session, user or project; TENANT and GLOBAL need none, USER is by default oneself.",
    )


class Place(NamedTuple):
    """One health document of a tenant, without its tool."""

    scope: Scope
    scope_id: str


def place_of(principal: Principal, tenant: str, scope: Scope, scope_id: str) -> Place:
    """Where to look. Raises a 404 for an id that does not fit its scope: there is no such document."""
    match scope:
        case Scope.GLOBAL if scope_id:
            raise _misfit("GLOBAL has none")
        case Scope.TENANT if scope_id not in ("", tenant):
            raise _misfit("is not the tenant's")
        case Scope.TENANT:
            return Place(scope, tenant)
        case Scope.USER if not scope_id:
            return Place(scope, principal.user)
        case Scope.SESSION | Scope.PROJECT if not scope_id:
            raise _misfit(f"a {scope} has one")
    return Place(scope, scope_id)


def _misfit(reason: str) -> Refused:
    field = "query.scopeId"
    return Refused(
        ProblemType.NOT_FOUND, f"{field}: {reason}", errors=[FieldProblem(field=field, reason=reason)]
    )

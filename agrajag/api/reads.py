"""The routes that read: who asks, and the health of tools from the view in memory."""

from fastapi import APIRouter

from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Principal, Role
from agrajag.api.principal import PrincipalGiven
from agrajag.api.problems import Problem
from agrajag.model.wire_model import Id, WireModel

router = APIRouter(prefix="/brain", tags=["reads"], responses={"4XX": {"model": Problem}})


class Seat(WireModel):
    """What a token may see, and as whom."""

    tenant: Id
    user: Id
    role: Role


class Seats(WireModel):
    """Whoever asks, tenant by tenant."""

    items: tuple[Seat, ...]


def _seat(principal: Principal, tenant: str) -> Seat:
    return Seat(tenant=tenant, user=principal.user, role=principal.role)


@router.get("")
async def who_am_i(principal: PrincipalGiven, parts: PartsGiven) -> Seats:
    """Tells whose the token is; for whoever may see every tenant, the first 500 that have a health document."""
    tenants = parts.view.tenants() if principal.tenant is None else (principal.tenant,)
    return Seats(items=tuple(_seat(principal, tenant) for tenant in tenants))

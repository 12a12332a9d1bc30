"""The routes that read: who asks, and the health of tools from the view in memory."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from agrajag.api.permissions import Principal, Role
from agrajag.api.principal import PrincipalGiven
from agrajag.api.problems import Problem
from agrajag.model.wire_model import Id, WireModel

router = APIRouter(prefix="/brain", tags=["reads"], responses={"4XX": {"model": Problem}})


class Seat(WireModel):
    """What a token may see, and as whom."""

    tenant: Annotated[Id | None, Field(description="Null stands for every tenant.")]
    user: Id
    role: Role


class Seats(WireModel):
    """Whoever asks, tenant by tenant."""

    items: tuple[Seat, ...]


def _seat(principal: Principal) -> Seat:
    return Seat(tenant=principal.tenant, user=principal.user, role=principal.role)


@router.get("")
async def who_am_i(principal: PrincipalGiven) -> Seats:
    """Tells whose the token is."""
    return Seats(items=(_seat(principal),))

"""Connects a request with who asks: by its bearer token, or by sitting at this machine where no tokens are configured.

A tenant that is not the token's does not exist for it, whatever is asked about it.
"""

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param

from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act, Principal, Role, Whose, refusal
from agrajag.api.problems import ProblemType, Refused, not_found
from agrajag.api.segments import TenantSegment
from agrajag.api.tokens import TokenRefusal

LOCAL = Principal("local", Role.ADMIN)
"""Whoever sits at this machine, where no tokens are configured."""

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="agrajag"'}
_HOST = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<name>[^:]*))(?::\d+)?")

_scheme = HTTPBearer(auto_error=False, description="A token of `agrajag tokens new`.")


async def _principal(
    request: Request, parts: PartsGiven, _told: Annotated[object, Depends(_scheme)]
) -> Principal:
    if not parts.tokens.required:
        _refuse_other_pages(request)
        return LOCAL
    secret = _secret(request)
    if secret is None:
        raise Refused(ProblemType.UNAUTHENTICATED, "send Authorization: Bearer …", headers=_CHALLENGE)
    found = parts.tokens.find(secret, parts.now())
    if isinstance(found, TokenRefusal):
        raise Refused(ProblemType.UNAUTHENTICATED, f"the token is {found}", headers=_CHALLENGE)
    return found


PrincipalGiven = Annotated[Principal, Depends(_principal)]
"""Who asks, as a parameter of a route."""


async def _of_tenant(principal: PrincipalGiven, tenant: TenantSegment) -> Principal:
    if not principal.belongs_to(tenant):
        raise not_found("tenant")
    return principal


TenantPrincipal = Annotated[Principal, Depends(_of_tenant)]
"""Who asks, for a route under `/brain/{tenant}`: somebody of that tenant."""


def still_theirs(request: Request, parts: Parts, principal: Principal) -> Callable[[], bool]:
    """Tells, whenever it is asked, whether what the request brought still stands for this principal."""
    secret = _secret(request) if parts.tokens.required else None
    return lambda: secret is None or parts.tokens.find(secret, parts.now()) == principal


def must_be_allowed(principal: Principal, act: Act, whose: Whose = Whose.SHARED) -> None:
    """Raises a 403 where the principal may not do this; before anything is looked up, so that it tells nothing."""
    reason = refusal(principal, act, whose)
    if reason is not None:
        raise Refused(ProblemType.FORBIDDEN, reason)


def _secret(request: Request) -> str | None:
    scheme, secret = get_authorization_scheme_param(request.headers.get("Authorization"))
    return secret if scheme.lower() == "bearer" and secret else None


def _refuse_other_pages(request: Request) -> None:
    """Any page in a browser on this machine can send requests here, and can have a name of its own point here."""
    host = request.headers.get("Host", "")
    if not _is_local(host):
        raise Refused(ProblemType.FORBIDDEN, "without tokens only names of this machine are served")
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise Refused(ProblemType.FORBIDDEN, "without tokens only this server's own pages are served")


def _is_local(host: str) -> bool:
    parsed = _HOST.fullmatch(host)
    if parsed is None:
        return False
    name = parsed["v6"] or parsed["name"]
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False

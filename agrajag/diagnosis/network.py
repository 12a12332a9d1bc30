"""HTTP for probes: to declared origins only, at addresses that may be connected to, and to the very address judged.

A host is looked up once for each request and the connection goes to what was found, so that no second answer of a
resolver can lead elsewhere; certificates are still checked against the host's name. Nothing is taken from the
environment, no redirect is followed, no connection is kept.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import httpx2

from agrajag.core.origins import NoAddress, Origin, origin_of
from agrajag.diagnosis.adapter import causes
from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.probe import ProbeRefusal

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host, best first. Raises OSError where it has none."""

MAX_ADDRESSES = 4
"""How many addresses of a host are tried."""


_OURS = frozenset(
    {
        errno.EACCES,
        errno.EADDRNOTAVAIL,
        errno.EMFILE,
        errno.ENETDOWN,
        errno.ENETUNREACH,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.EPERM,
    }
)
"""Why a connection fails that has never left this machine."""


class NotSent(httpx2.TransportError):
    """Nothing was sent, for a reason that says nothing about the tool."""

    refusal: ClassVar[ProbeRefusal]


class AddressRefused(NotSent):
    """This is no address that may be called."""

    refusal = ProbeRefusal.ADDRESS_REFUSED


class NoNetwork(NotSent):
    """This machine could not look the host up, or has no way to it: its own network is at fault, or may be."""

    refusal = ProbeRefusal.NO_NETWORK


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """What the machine's own resolver says."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def trusted_roots() -> ssl.SSLContext:
    """The certificate authorities that come with the HTTP client, whatever the environment names."""
    return httpx2.create_ssl_context(trust_env=False)


@dataclass(frozen=True)
class Network:
    """How probes reach the world. `tls` says whose certificates are believed.

    `lookup_seconds` is how long a host may be looked up, `connect_seconds` how long one address of it is waited for
    while it has another.
    """

    rules: AddressRules = field(default_factory=AddressRules)
    resolve: Resolve = system_resolver
    tls: ssl.SSLContext = field(default_factory=trusted_roots)
    lookup_seconds: float = 5.0
    connect_seconds: float = 3.0

    def client(self, origins: Collection[Origin]) -> httpx2.AsyncClient:
        """A client that speaks to these origins alone; its requests raise NotSent for what may not or cannot be sent.

        It waits without a limit of its own: whoever uses it sets the deadline of everything together.
        """
        return httpx2.AsyncClient(
            transport=GuardedTransport(self, origins),
            headers={"Accept-Encoding": "identity", "User-Agent": "agrajag-probe"},
            follow_redirects=False,
            timeout=None,
            trust_env=False,
        )

    async def addresses(self, origin: Origin) -> Sequence[str]:
        """The addresses of an origin's host, every one of them permitted.

        Raises AddressRefused if any is not: a name that also leads inside is not to be trusted. Raises OSError where
        there is none, NoNetwork where nobody could say.
        """
        if not self.rules.permits_name(origin.host):
            raise AddressRefused(f"{origin.host} is never called")
        literal = _is_literal(origin.host)
        found = [origin.host] if literal else await self._looked_up(origin)
        if refused := [address for address in found if not self.rules.permits(address)]:
            raise AddressRefused(f"{origin.host} is at {refused[0]}, which may not be called")
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "the host has no address")
        return found[:MAX_ADDRESSES]

    async def _looked_up(self, origin: Origin) -> Sequence[str]:
        try:
            async with asyncio.timeout(self.lookup_seconds):
                return await self.resolve(origin.host, origin.port)
        except TimeoutError:
            raise NoNetwork(f"{origin.host} was not looked up in time") from None
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise NoNetwork(f"{origin.host} cannot be looked up now") from None
            raise


def permitted(url: httpx2.URL, origins: Collection[Origin]) -> Origin:
    """The origin of an address. Raises AddressRefused for one that is not among `origins` or oddly spelled."""
    try:
        if url.userinfo:
            raise NoAddress("names a user")
        origin = origin_of(f"{url.scheme}://{url.netloc.decode('ascii')}")
    except (NoAddress, UnicodeDecodeError) as error:
        raise AddressRefused(f"the address {error}") from None
    if origin not in origins:
        raise AddressRefused(f"{origin} is not among the origins that may be called")
    return origin


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Carries requests to permitted origins, each to an address that was looked up and judged for it."""

    def __init__(self, network: Network, origins: Collection[Origin]) -> None:
        self._network = network
        self._origins = frozenset(origins)
        # Connections are not kept: one to an address could be used for another host of that address.
        limits = httpx2.Limits(max_keepalive_connections=0)
        self._inner = httpx2.AsyncHTTPTransport(verify=network.tls, trust_env=False, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """One exchange. Raises NotSent, OSError where the host has no address, or what the client raises.

        Of several addresses that all fail, the first is told that says something about the other side.
        """
        origin = permitted(request.url, self._origins)
        addresses = await self._network.addresses(origin)
        failure: httpx2.TransportError | None = None
        for address in addresses:
            attempt = _to(address, origin, request)
            if address != addresses[-1]:
                attempt.extensions["timeout"] = {"connect": self._network.connect_seconds}
            try:
                return await self._exchanged(attempt)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                told = NoNetwork(str(error)) if _is_ours(error) else error
                if failure is None or isinstance(failure, NoNetwork):
                    failure = told
        raise failure or NoNetwork(f"{origin.host} has no address")

    async def _exchanged(self, request: httpx2.Request) -> httpx2.Response:
        opened: list[Any] = []

        async def note(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                opened.append(info["return_value"])

        request.extensions["trace"] = note
        try:
            return await self._inner.handle_async_request(request)
        except BaseException:
            for stream in opened:  # the client leaves one open that is cancelled while TLS begins
                await stream.aclose()
            raise

    async def aclose(self) -> None:
        """Close what is open."""
        await self._inner.aclose()


def _to(address: str, origin: Origin, request: httpx2.Request) -> httpx2.Request:
    """The same request, to be sent to an address instead of a name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": origin.host},
    )


def _is_ours(error: Exception) -> bool:
    return any(
        isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError) and cause.errno in _OURS
        for cause in causes(error)
    )  # what `ssl` calls errno is a number of its own


def _is_literal(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False

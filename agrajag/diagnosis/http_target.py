"""Probes a tool that is reached by HTTP: one request, redirects only as declared, a bounded answer.

Whatever the other side does is an outcome. The credential goes to the origin of the declared address and nowhere else.
"""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import httpx2

from agrajag.core.origins import origin_of
from agrajag.core.target_form import QUERY_METHODS
from agrajag.core.targets import HttpCall, Target
from agrajag.diagnosis.adapter import MAX_BODY_BYTES, PROBE_HEADER, RawOutcome, Secret, failed
from agrajag.diagnosis.credentials import header_of
from agrajag.diagnosis.network import AddressRefused, Network, NotSent, permitted
from agrajag.diagnosis.probe import ProbeRefusal, ProbeRequest
from agrajag.model.events import MAX_HEADER_NAME, MAX_HEADER_VALUE

MAX_REDIRECTS = 3
MAX_HEADERS = 64
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEPS_THE_CALL = frozenset({307, 308})


class RedirectRefused(Exception):
    """The target sends callers to where a probe does not go: another origin, or in circles."""


class HttpAdapter:
    """Calls targets over HTTP."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def call(
        self,
        target: Target,
        credential: Secret | None,
        sample: Mapping[str, Any],
        request: ProbeRequest,
        seconds: float,
    ) -> RawOutcome | ProbeRefusal:
        """One call, as `TargetAdapter` asks."""
        call = target.call
        if not isinstance(call, HttpCall):
            raise TypeError(f"{target.tool_name} is no HTTP target")
        headers = {**call.headers, PROBE_HEADER: quote(request.probe_id, safe="")}
        secret_header = None if credential is None else header_of(target.credentials.sent_as, credential)
        if credential is not None and secret_header is None:
            return ProbeRefusal.CREDENTIAL_MISSING
        async with self._network.client(target.origins) as client:
            first = _request(client, call, headers, sample)
            if first is None:
                return ProbeRefusal.SAMPLE_REFUSED
            exchange = _Exchange(client, target, call, secret_header)
            try:
                async with asyncio.timeout(seconds):
                    return await exchange.follow(first)
            except NotSent as error:
                if exchange.status is None:
                    return error.refusal
                return failed(RedirectRefused(str(error)), exchange.status)
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RedirectRefused) as error:
                return failed(error, exchange.status)


class _Exchange:
    """One request and the redirects that follow it; `status` is that of the last response."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        target: Target,
        call: HttpCall,
        secret_header: tuple[str, str] | None,
    ) -> None:
        self.status: int | None = None
        self._client = client
        self._origins = target.origins
        self._home = origin_of(call.url)
        self._followed = _REDIRECTS - call.ok_statuses if call.redirects else frozenset[int]()
        self._ok_statuses = call.ok_statuses
        self._secret_header = secret_header

    async def follow(self, request: httpx2.Request) -> RawOutcome:
        for _ in range(MAX_REDIRECTS + 1):
            if self._secret_header is not None and permitted(request.url, self._origins) == self._home:
                name, value = self._secret_header
                request.headers[name] = value
            response = await self._client.send(request, stream=True)
            self.status = response.status_code
            try:
                location = response.headers.get("location")
                if location is None or response.status_code not in self._followed:
                    return await self._read(response)
            finally:
                await response.aclose()
            request = self._redirected(request, response.status_code, location)
        raise RedirectRefused(f"more than {MAX_REDIRECTS} redirects")

    def _redirected(self, request: httpx2.Request, status: int, location: str) -> httpx2.Request:
        try:
            url = request.url.join(location)
            permitted(url, self._origins)
        except (httpx2.InvalidURL, ValueError, AddressRefused) as error:
            raise RedirectRefused(str(error)) from None
        keeps = status in _KEEPS_THE_CALL or request.method in QUERY_METHODS
        headers = request.headers.copy()
        dropped = ["host", self._secret_header[0] if self._secret_header else "host"]
        if not keeps:
            dropped += ["content-length", "content-type"]
        for name in dropped:
            headers.pop(name, None)
        method, content = (request.method, request.content) if keeps else ("GET", None)
        return self._client.build_request(method, url, headers=headers, content=content)

    async def _read(self, response: httpx2.Response) -> RawOutcome:
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        body, truncated, message = b"", False, None
        if coding not in ("", "identity"):
            message = "the body is compressed against what was asked for, and was not read"
        else:
            body, truncated = await _start_of(response)
        headers = list(response.headers.items())[:MAX_HEADERS]
        return RawOutcome(
            ok=response.status_code in self._ok_statuses,
            status=response.status_code,
            headers=MappingProxyType(
                {name[:MAX_HEADER_NAME]: value[:MAX_HEADER_VALUE] for name, value in headers}
            ),
            body=body,
            truncated=truncated,
            message=message,
        )


async def _start_of(response: httpx2.Response) -> tuple[bytes, bool]:
    """The start of a body, and whether there is more of it."""
    read = bytearray()
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) > MAX_BODY_BYTES:
            return bytes(read[:MAX_BODY_BYTES]), True
    return bytes(read), False


def _request(
    client: httpx2.AsyncClient, call: HttpCall, headers: Mapping[str, str], sample: Mapping[str, Any]
) -> httpx2.Request | None:
    """The request; None where the sample cannot be the query of one."""
    if call.method not in QUERY_METHODS:
        return client.build_request(call.method, call.url, headers=headers, json=dict(sample))
    if any(isinstance(one, dict | list) or one is None for value in sample.values() for one in _each(value)):
        return None
    url = httpx2.URL(call.url).copy_merge_params(dict(sample))
    return client.build_request(call.method, url, headers=headers)


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

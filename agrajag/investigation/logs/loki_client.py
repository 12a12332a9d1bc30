"""Asks Loki over HTTP: two read-only requests of its API, no redirects, nothing from the environment, bounded answers.

Where Loki is and as whom it is asked are the operator's values; what is asked is written by `logql`. No text of an
answer or of a failure goes anywhere but into what is found.
"""

import ssl
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx2
import orjson

from agrajag.core.origins import NoAddress, origin_of
from agrajag.errors import ConfigError
from agrajag.investigation.logs.logql import is_label
from agrajag.investigation.source_codes import SourceCode

_VALUES = "/loki/api/v1/label/{}/values"
_RANGE = "/loki/api/v1/query_range"
_CODES = {
    400: SourceCode.QUERY_REFUSED,
    401: SourceCode.ACCESS_DENIED,
    403: SourceCode.ACCESS_DENIED,
    408: SourceCode.SOURCE_TIMEOUT,
    422: SourceCode.QUERY_REFUSED,
    429: SourceCode.SOURCE_BUSY,
    504: SourceCode.SOURCE_TIMEOUT,
}


class LokiFailed(Exception):
    """Loki has not answered as asked; `code` says why, and nothing else is told."""

    def __init__(self, code: SourceCode) -> None:
        super().__init__(code.value)
        self.code = code


@dataclass(frozen=True, slots=True)
class LokiAccess:
    """Where Loki is, as whom it is asked, and what its labels mean.

    `token` is sent as a bearer token, or with `user` as a password. Only streams that have all of `labels` are looked
    at; `service_label` says whose a stream is, `level_label` how bad a line is, where Loki knows. Raises ConfigError.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    user: str | None = None
    tenant: str | None = None
    service_label: str = "service_name"
    level_label: str = "detected_level"
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = [*self._problems()]
        if problems:
            raise ConfigError(*problems)

    @property
    def headers(self) -> dict[str, str]:
        """What is sent with every request; holds the credential."""
        sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "agrajag"}
        if self.tenant is not None:
            sent["X-Scope-OrgID"] = self.tenant
        if self.user is not None:
            sent["Authorization"] = "Basic " + b64encode(f"{self.user}:{self.token or ''}".encode()).decode()
        elif self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        return sent

    def _problems(self) -> Iterator[str]:
        try:
            origin_of(self.url)
        except NoAddress as error:
            yield f"Loki's address {error}"
        if "?" in self.url:
            yield "Loki's address must not hold a query"
        for name, text in (("token", self.token), ("user", self.user), ("tenant", self.tenant)):
            if text is not None and not (
                text.isascii() and text.isprintable() and text.strip() == text != ""
            ):
                yield f"Loki's {name}: must be plain ASCII without blanks around it"
        for label in (self.service_label, self.level_label, *self.labels):
            if not is_label(label):
                yield f"Loki's label {label!r}: must be letters, digits and _"


class Entry(NamedTuple):
    """One line as Loki holds it; `at_ns`: nanoseconds since 1970."""

    at_ns: int
    labels: Mapping[str, str]
    text: str


def trusted_roots(url: str) -> ssl.SSLContext:
    """The certificate authorities that come with the HTTP client, whatever the environment names; takes a while.

    None at all for an address without TLS.
    """
    if url.startswith("https:"):
        return httpx2.create_ssl_context(trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class LokiClient:
    """Asks Loki during one look. Its requests raise LokiFailed, and wait without a limit of their own."""

    def __init__(self, access: LokiAccess, tls: ssl.SSLContext, max_answer_bytes: int) -> None:
        self._base = access.url.rstrip("/")
        self._left_bytes = max_answer_bytes
        self._http = httpx2.AsyncClient(
            # A kept connection may have been closed in the meantime, and nothing here is asked twice.
            transport=httpx2.AsyncHTTPTransport(
                verify=tls, trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0)
            ),
            headers=access.headers,
            follow_redirects=False,
            timeout=None,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def values(self, label: str, streams: str, start_ns: int, end_ns: int) -> list[str]:
        """The values that the label has on these streams, as far as Loki knows of that time."""
        asked = {"start": str(start_ns), "end": str(end_ns)}
        if streams:
            asked["query"] = streams
        data = await self._data(_VALUES.format(label), asked)
        if data is None:  # no such label
            return []
        if not isinstance(data, list):
            raise LokiFailed(SourceCode.SOURCE_UNREADABLE)
        return [value for value in data if isinstance(value, str)]

    async def newest(self, query: str, start_ns: int, end_ns: int, limit: int) -> list[Entry]:
        """The newest `limit` lines from `start_ns` to before `end_ns`, in no order."""
        asked = {
            "query": query, "start": str(start_ns), "end": str(end_ns), "limit": str(limit), "direction": "backward"
        }  # fmt: skip
        data = await self._data(_RANGE, asked)
        if not isinstance(data, dict) or data.get("resultType") != "streams":
            raise LokiFailed(SourceCode.SOURCE_UNREADABLE)
        try:
            return [
                Entry(int(at), dict(stream["stream"]), str(text))
                for stream in data["result"] or ()
                for at, text, *_ in stream["values"]
            ]
        except (KeyError, TypeError, ValueError):
            raise LokiFailed(SourceCode.SOURCE_UNREADABLE) from None

    async def _data(self, path: str, asked: Mapping[str, str]) -> Any:
        try:
            async with self._http.stream("GET", self._base + path, params=dict(asked)) as response:
                if response.status_code != httpx2.codes.OK:
                    raise LokiFailed(_CODES.get(response.status_code, SourceCode.SOURCE_UNAVAILABLE))
                if response.headers.get("content-encoding", "identity").lower() != "identity":
                    raise LokiFailed(SourceCode.SOURCE_UNREADABLE)
                body = await self._read(response)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
            raise LokiFailed(SourceCode.SOURCE_UNAVAILABLE) from None
        try:
            answer = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise LokiFailed(SourceCode.SOURCE_UNREADABLE) from None
        if not isinstance(answer, dict) or answer.get("status") != "success":
            raise LokiFailed(SourceCode.SOURCE_UNREADABLE)
        return answer.get("data")

    async def _read(self, response: httpx2.Response) -> bytes:
        read = bytearray()
        async for chunk in response.aiter_raw():
            read += chunk
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0:
                raise LokiFailed(SourceCode.ANSWER_TOO_LARGE)
        return bytes(read)

"""Connects to a model as the caller describes it: name, address, key, prices. Nothing comes from the environment.

There are no retries anywhere below a run: whether something is tried again is for the one who asked for the run. The
SDK takes seconds to import, and is imported with the first model: who has none does without it.
"""

import logging
import warnings
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self

from agrajag.errors import ConfigError
from agrajag.harness.usage import Prices

_CONNECT_SECONDS = 5.0


class NoModel(StrEnum):
    """Why there is no model to ask. A value: whoever needs a model does without, and says so once."""

    NO_KEY = "no_key"
    NOT_DECLARED = "not_declared"


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How a model is reached. `request_seconds` bounds one request as a whole, not one read of it.

    `max_retries` and `thread` are those of the SDK, and stand here to be refused: the first would repeat requests
    behind the budgets, the second would keep the conversation on the server and repeat some of them as well.
    """

    name: str
    base_url: str
    api_key: str | None = field(repr=False)
    prices: Prices | None = None
    request_seconds: float = 60.0
    max_reply_bytes: int = 4 * 1024 * 1024
    max_retries: int = 0
    thread: bool = False

    def __post_init__(self) -> None:
        problems = [problem for problem in self._problems() if problem]
        if problems:
            raise ConfigError(*problems)

    def _problems(self) -> tuple[str | None, ...]:
        key = (self.api_key or "").strip()
        return (
            None if self.name.strip() else "model name: must not be empty",
            None if _is_http(self.base_url) else "model base URL: must be http:// or https:// with a host",
            None
            if key.isascii() and not any(map(str.isspace, key))
            else "model key: must be ASCII without spaces",
            None
            if self.request_seconds > 0
            else f"model request_seconds: {self.request_seconds:g} is not above 0",
            None
            if self.max_reply_bytes > 0
            else f"model max_reply_bytes: {self.max_reply_bytes} is not above 0",
            None if self.max_retries == 0 else f"model max_retries: {self.max_retries}, must be 0",
            None if self.thread is False else "model thread: must be False",
        )


class Model:
    """A model that can be asked. Belongs to one event loop; many runs side by side share its connections."""

    def __init__(self, access: ModelAccess, api_key: str) -> None:
        import httpx2
        from anthropic import AsyncAnthropic

        from agrajag.harness.transport import IDENTITY, BoundedTransport

        self.access = access
        self.sdk = AsyncAnthropic(
            api_key=api_key,
            base_url=access.base_url,
            max_retries=access.max_retries,
            timeout=httpx2.Timeout(
                access.request_seconds, connect=min(_CONNECT_SECONDS, access.request_seconds)
            ),
            default_headers={"Accept-Encoding": IDENTITY, "Authorization": f"Bearer {api_key}"},
            http_client=httpx2.AsyncClient(
                transport=BoundedTransport(access.max_reply_bytes), follow_redirects=False, trust_env=False
            ),
            open_telemetry=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.sdk.close()


def connect(access: ModelAccess) -> Model | NoModel:
    """The model, or why there is none. Sends nothing; whether the key is right shows in the first run."""
    key = (access.api_key or "").strip()
    if not key:
        return NoModel.NO_KEY
    _quieten_the_sdk()
    return Model(access, key)


def _quieten_the_sdk() -> None:
    # A tool that does not exist is answered, and need not be warned of: the name is the model's own text.
    warnings.filterwarnings("ignore", message=r"(?s)Tool '.*' not found in tool runner", category=UserWarning)
    # At DEBUG the SDK writes whole requests into the log.
    for name in ("anthropic", "httpx2", "httpcore2"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


def _is_http(address: str) -> bool:
    import httpx2

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        return False
    return url.scheme in ("http", "https") and bool(url.host)

"""The tool of a scenario as a real server on loopback: HTTP here, MCP in mcp_tool.py; it behaves as its script says.

Who calls is known by the credential alone. Each identity has its own count of calls, so that the order in which two
identities probe changes nothing.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import orjson

from agrajag.diagnosis.evaluation.scenario import Answer, Body, ToolPart
from agrajag.diagnosis.loopback import (
    Cut,
    Endless,
    Hang,
    LoopbackServer,
    Reply,
    Request,
    Whole,
)
from agrajag.model.enums import ProbeIdentity

_INSTEAD: Mapping[str, Reply] = {"hang": Hang(), "reset": Cut(0), "cut": Cut(400), "flood": Endless()}


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets by which a tool knows who calls."""

    user: str
    system: str

    def identity(self, headers: Mapping[str, str]) -> ProbeIdentity | None:
        """Whose credential a request carries, in whatever header; None: nobody's."""
        sent = " ".join(headers.values())
        if self.user in sent:
            return ProbeIdentity.USER
        return ProbeIdentity.SYSTEM if self.system in sent else None


class Callers:
    """Which answer is whose turn."""

    def __init__(self, tool: ToolPart) -> None:
        self._tool = tool
        self._calls: Counter[ProbeIdentity | None] = Counter()

    def next_answer(self, identity: ProbeIdentity | None) -> Answer:
        """The answer to this identity's next call; the last one stays."""
        answers = self._tool.answers_to(identity)
        number = self._calls[identity]
        self._calls[identity] += 1
        return answers[min(number, len(answers) - 1)]


class RunningTool(Protocol):
    """A tool server that runs."""

    @property
    def address(self) -> str:
        """Host and port."""


class HttpTool:
    """Answers each request with the answer of its caller."""

    def __init__(self, tool: ToolPart, credentials: Credentials) -> None:
        self._callers = Callers(tool)
        self._credentials = credentials

    async def answer(self, request: Request) -> Reply:
        """The reply to one call."""
        return await reply_of(self._callers.next_answer(self._credentials.identity(request.headers)))

    def serve(self) -> AbstractAsyncContextManager[RunningTool]:
        """The server, running while it is entered."""
        return LoopbackServer(self.answer)


async def reply_of(answer: Answer) -> Reply:
    """What an answer is on the wire, after the time that it takes."""
    if answer.after_seconds is not None:
        await asyncio.sleep(answer.after_seconds)
    if answer.instead is not None:
        return _INSTEAD[answer.instead]
    body, content_type = _body(answer.body)
    return Whole(answer.status or 200, body, {"content-type": content_type, **answer.headers})


def _body(body: Body) -> tuple[bytes, str]:
    if body is None or isinstance(body, str):
        kind = "text/html" if body and body.startswith("<") else "text/plain"
        return (body or "").encode(), f"{kind}; charset=utf-8"
    return orjson.dumps(body), "application/json"


class ClosedPort:
    """A port that is taken and at which nobody listens: whoever connects is refused."""

    async def __aenter__(self) -> Self:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    @property
    def address(self) -> str:
        """Host and port."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

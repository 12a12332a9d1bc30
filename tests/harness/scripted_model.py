"""A Messages API on loopback that answers by a script, over a real socket, and keeps what it was asked."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from agrajag.diagnosis import loopback
from agrajag.diagnosis.loopback import LoopbackServer, Whole
from tests.harness.message_rules import broken_rule
from tests.harness.replies import Body, Endless, Hang, Message, Reply, Status, Trickle

KEY = "sk-test-0123456789abcdef"
_JSON = {"content-type": "application/json", "request-id": "req_scripted"}
_OUT_OF_SCRIPT = Status(418, "script_has_ended")


@dataclass(frozen=True)
class Request:
    """What the client sent."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def tools(self) -> str:
        """The tools, as text that differs if anything of them does, their order included."""
        return json.dumps(self.body.get("tools"))

    @property
    def results(self) -> list[dict[str, Any]]:
        """The observations in the last message, read."""
        last = self.body["messages"][-1]["content"]
        return [json.loads(block["content"]) for block in last if block["type"] == "tool_result"]


@dataclass
class ScriptedModel:
    """Answers with `script`: replies in their order, or a function of the request.

    `checks`: refuse what the API would refuse, as it does; a gateway may be less strict.
    """

    script: Sequence[Reply] | Callable[[Request], Reply]
    checks: bool = True
    requests: list[Request] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    """A reply that does not end by itself has begun."""
    abandoned: asyncio.Event = field(default_factory=asyncio.Event)
    """The client has gone away from such a reply."""

    async def __aenter__(self) -> Self:
        self._server = await _Watched(self).__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.__aexit__(kind, error, trace)

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return self._server.url

    @property
    def sent_bytes(self) -> int:
        """How much of endless replies was sent."""
        return self._server.sent_bytes

    async def answer(self, came: loopback.Request) -> loopback.Reply:
        """The reply to one request, as it goes over the wire."""
        request = Request(came.target, came.headers, json.loads(came.body) if came.body else None)
        self.requests.append(request)
        reply = self._reply(request)
        match reply:
            case Message():
                return Whole(200, _message(reply), _JSON)
            case Status():
                return Whole(reply.code, _error(reply), {**_JSON, **reply.headers})
            case Body():
                return Whole(reply.code, reply.body, {"request-id": "req_scripted", **reply.headers})
        return reply

    def _reply(self, request: Request) -> Reply:
        problem = broken_rule(request.body) if self.checks else None
        if problem is not None:
            return Status(400, problem)
        if callable(self.script):
            return self.script(request)
        number = len(self.requests) - 1
        return self.script[number] if number < len(self.script) else _OUT_OF_SCRIPT


class _Watched(LoopbackServer):
    """Tells when a reply begins that does not end by itself, and when the client has gone away from it."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(model.answer)
        self._model = model

    async def endless(
        self, reply: Hang | Trickle | Endless, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._model.reached.set()
        try:
            await super().endless(reply, reader, writer)
        finally:
            self._model.abandoned.set()


def _message(reply: Message) -> bytes:
    message = {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": reply.content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "usage": reply.usage,
    }
    return json.dumps(
        {name: value for name, value in message.items() if name != "usage" or value is not None}
    ).encode()


def _error(reply: Status) -> bytes:
    return json.dumps(
        {"type": "error", "error": {"type": reply.kind, "message": f"{reply.kind} SECRET"}}
    ).encode()

"""Probes tools of MCP servers, at an address or as a program that is started for the probe.

Whatever becomes of the server is an outcome with a name: that its connection broke, that it fell silent, said too much,
or nothing that is MCP. Programs are those of the operator's list alone, and are given a search path and, where one is
declared, the credential; nothing of our own environment.
"""

from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
from mcp_types import CONNECTION_CLOSED

from agrajag.core.origins import origin_of
from agrajag.core.targets import CredentialForm, McpCall, Target
from agrajag.diagnosis.adapter import PROBE_HEADER, RawOutcome, Secret, failed
from agrajag.diagnosis.credentials import header_of
from agrajag.diagnosis.echoes import Echoes
from agrajag.diagnosis.mcp_bounds import McpOverrun, Streams
from agrajag.diagnosis.mcp_exchange import Exchange, McpFailure
from agrajag.diagnosis.mcp_http import HttpRefusal, WatchedTransport, connected
from agrajag.diagnosis.mcp_stdio import StdioServer, started
from agrajag.diagnosis.network import GuardedTransport, Network
from agrajag.diagnosis.probe import ProbeRefusal, ProbeRequest

DEFAULT_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
_BY_THE_TARGET = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    OSError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)


class McpAdapter:
    """The adapter for MCP servers. `commands`: the absolute paths of all programs that may be started."""

    def __init__(
        self,
        network: Network,
        commands: Collection[str] = (),
        search_path: str = DEFAULT_SEARCH_PATH,
    ) -> None:
        self._network = network
        self._commands = frozenset(command for command in commands if Path(command).is_absolute())
        self._search_path = search_path

    async def call(
        self,
        target: Target,
        credential: Secret | None,
        sample: Mapping[str, Any],
        request: ProbeRequest,
        seconds: float,
    ) -> RawOutcome | ProbeRefusal:
        """One exchange with the server of `target`, at the latest after `seconds`; see TargetAdapter."""
        call = target.call
        if not isinstance(call, McpCall):
            raise TypeError(f"{target.tool_name} is no MCP target")
        exchange = Exchange(call, sample, request.probe_id, seconds)
        if call.url is not None:
            return await self._at(call.url, target, credential, exchange)
        return await self._started(call.command, target, credential, exchange)

    async def _at(
        self, url: str, target: Target, credential: Secret | None, exchange: Exchange
    ) -> RawOutcome | ProbeRefusal:
        headers = {PROBE_HEADER: quote(exchange.probe_id, safe="")}
        if credential is not None:
            header = header_of(target.credentials.sent_as, credential)
            if header is None:
                return ProbeRefusal.CREDENTIAL_MISSING
            headers.update([header])
        # All requests carry the credential, so that no other origin is spoken to, whatever else is allowed.
        watched = WatchedTransport(GuardedTransport(self._network, [origin_of(url)]))
        outcome = await _held(exchange, connected(watched, url, headers))
        if watched.not_sent is not None:
            return watched.not_sent
        return _by_http(outcome, watched)

    async def _started(
        self, command: tuple[str, ...], target: Target, credential: Secret | None, exchange: Exchange
    ) -> RawOutcome | ProbeRefusal:
        if not command or command[0] not in self._commands:
            return ProbeRefusal.COMMAND_REFUSED
        environment = {"PATH": self._search_path}
        if credential is not None:
            sent_as = target.credentials.sent_as
            if sent_as.form is not CredentialForm.ENVIRONMENT or sent_as.name is None:
                return ProbeRefusal.TARGET_BROKEN
            environment[sent_as.name] = credential.reveal()
        server = StdioServer(Echoes(credential))
        outcome = await _held(exchange, started(server, command, environment))
        return _by_program(outcome, server, exchange)


async def _held(exchange: Exchange, channel: AbstractAsyncContextManager[Streams]) -> RawOutcome:
    """What an exchange over `channel` came to. A deadline or a break while the channel is closed changes nothing."""
    outcome: RawOutcome | None = None
    streams: Streams | None = None
    try:
        with anyio.move_on_after(exchange.seconds):
            async with channel as streams:
                outcome = await exchange.held_over(streams)
    except (ExceptionGroup, *_BY_THE_TARGET) as error:
        cause = _first(error)
        if not isinstance(cause, _BY_THE_TARGET):
            raise
        outcome = outcome or failed(cause)
    if streams is not None and streams.received.overrun is not None:
        return _overrun(streams.received.overrun)
    return outcome or failed(TimeoutError(f"no answer to {exchange.step} in time"))


def _by_http(outcome: RawOutcome, watched: WatchedTransport) -> RawOutcome:
    if watched.overrun is not None:
        return _overrun(watched.overrun)
    if outcome.ok:
        return replace(outcome, status=watched.status)
    return outcome if watched.refusal is None else _refused(watched.refusal)


def _refused(refusal: HttpRefusal) -> RawOutcome:
    lost = refusal.in_session and refusal.status == httpx2.codes.NOT_FOUND
    return RawOutcome(
        ok=False,
        status=refusal.status,
        headers=refusal.headers,
        body=refusal.body,
        truncated=refusal.truncated,
        exception_type=McpFailure.SESSION_LOST if lost else None,
    )


def _by_program(outcome: RawOutcome, server: StdioServer, exchange: Exchange) -> RawOutcome:
    if server.overrun is not None:
        return _overrun(server.overrun)
    if outcome.ok:
        return outcome
    if server.fell_silent and outcome.error_code == str(CONNECTION_CLOSED):
        told = f"the program ended ({server.exit_code}) without an answer to {exchange.step}"
        return RawOutcome(
            ok=False, body=server.last_words.encode(), exception_type=McpFailure.SERVER_ENDED, message=told
        )
    if server.noise and not server.spoke:
        names = (outcome.exception_type, *outcome.exception_chain)
        return replace(
            outcome,
            body=server.noise.encode(),
            exception_type=McpFailure.NOT_SPOKEN,
            exception_chain=tuple(name for name in names if name is not None),
        )
    return outcome


def _overrun(overrun: McpOverrun) -> RawOutcome:
    return RawOutcome(ok=False, exception_type=overrun, message="the server was not heard to its end")


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

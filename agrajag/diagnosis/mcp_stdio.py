"""Speaks MCP with a program that is started for one probe, and leaves nothing of it behind.

The SDK's own client for such programs hands our environment's names on, keeps a line of any length, and waits for
seconds before it kills. Here the program gets the environment that it is given, a group of its own that is killed as a
whole however the probe ends, and bounds on what it may print. What is no JSON-RPC is passed over, as it is only noise
where the server answers all the same; its beginning is kept, for it may say why nothing else came. So is the end of
what it says on standard error. More of both is kept than is shown, so that a secret at the edge is still known for one.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from agrajag.core.redact import LOOKAHEAD, redacted_end, redacted_start
from agrajag.diagnosis.echoes import Echoes
from agrajag.diagnosis.mcp_bounds import (
    MAX_EXCHANGE_BYTES,
    MAX_MESSAGE_BYTES,
    BoundedMessages,
    McpOverrun,
    Sent,
    Streams,
)

_GRACE_SECONDS = 0.5  # each: from the end of its input to SIGTERM, and from there to SIGKILL
_REAP_SECONDS = 2.0
_SHOWN_CHARACTERS = 2_000
_KEPT_BYTES = 4 * (_SHOWN_CHARACTERS + LOOKAHEAD)  # whatever the characters: of four bytes at most
_DIRECTORY = "/"  # never ours, which may hold files that a program would look for
_STDIN, _STDOUT, _STDERR = range(3)


class StdioServer:
    """One program that was started: how far it has come, and what it printed beside MCP. It is over with `started`."""

    def __init__(self, echoes: Echoes) -> None:
        self.spoke = False
        """Whether anything that it printed was JSON-RPC."""
        self.overrun: McpOverrun | None = None
        """Which bound was broken; nothing was read after that."""
        self.fell_silent = False
        """Whether its output has ended, before it was ended."""
        self._echoes = echoes
        self._kept_bytes = _KEPT_BYTES + echoes.longest_bytes
        self._noise = b""
        self._pipes = _Pipes(self._kept_bytes)

    @property
    def exit_code(self) -> int | None:
        """As subprocess has it: None while it runs, negative for a signal."""
        return self._pipes.exit_code

    @property
    def noise(self) -> str:
        """The start of what it printed that is no JSON-RPC, without secrets."""
        text = self._echoes.text_of(self._noise, cut_after=len(self._noise) >= self._kept_bytes)
        return redacted_start(text, _SHOWN_CHARACTERS)

    @property
    def last_words(self) -> str:
        """The start of its noise, and the end of what it said on standard error, without secrets."""
        return "\n".join(filter(None, (self.noise, self._complaints)))

    @property
    def _complaints(self) -> str:
        said = self._pipes.complaints
        is_cut = len(said) >= self._kept_bytes
        text = self._echoes.text_of(said, cut_before=is_cut)
        # The first of what is left of a longer text tell what the rest is, and are themselves not known for sure.
        return redacted_end(
            text, min(_SHOWN_CHARACTERS, len(text) - LOOKAHEAD) if is_cut else _SHOWN_CHARACTERS
        )

    async def wait_for_exit(self, seconds: float) -> bool:
        """Whether the program has ended by itself within this time."""
        with anyio.move_on_after(seconds):
            await self._pipes.exited.wait()
        return self._pipes.exited.is_set()

    async def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts it. Raises OSError where there is no such program, or none that may be executed."""
        await asyncio.get_running_loop().subprocess_exec(
            lambda: self._pipes,
            *command,
            env=dict(environment),
            cwd=_DIRECTORY,
            start_new_session=True,
            umask=0o077,
        )

    async def read_into(self, session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hands on every message until the output ends or a bound is broken."""
        left_bytes = MAX_EXCHANGE_BYTES
        async with session:
            while (line := await self._line()) is not None:
                left_bytes -= len(line)
                if left_bytes < 0:
                    self.overrun = McpOverrun.TOO_MUCH
                    return
                try:
                    message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                except ValueError:
                    self._note(line)
                    continue
                self.spoke = True
                try:
                    await session.send(message)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return

    async def _line(self) -> bytes | None:
        try:
            return await self._pipes.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as rest:
            self._note(rest.partial)
            self.fell_silent = True
        except asyncio.LimitOverrunError:
            self.overrun = McpOverrun.MESSAGE_TOO_LARGE
        return None

    async def write_from(self, session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Writes every message; a program that does not read them is bounded by the number of our messages."""
        async with session:
            async for told in session:
                line = told.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._pipes.stdin.write(f"{line}\n".encode())

    async def end(self, in_order: bool) -> None:
        """Ends the program and all that it started in its group: by the end of its input, SIGTERM, SIGKILL.

        Where it is not to be ended `in_order`, and on a cancellation, by SIGKILL at once.
        """
        try:
            self._pipes.stdin.close()
            if in_order and not await self.wait_for_exit(_GRACE_SECONDS):
                self._signal(signal.SIGTERM)
                await self.wait_for_exit(_GRACE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            try:
                with anyio.CancelScope(shield=True):
                    await self.wait_for_exit(_REAP_SECONDS)
            finally:
                self._pipes.close()

    def _signal(self, number: signal.Signals) -> None:
        # The leader's own number is that of its group, whether it still lives or not.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pipes.pid, number)

    def _note(self, line: bytes) -> None:
        if line.strip():
            self._noise = (self._noise + line)[: self._kept_bytes]


@asynccontextmanager
async def started(
    server: StdioServer, command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[Streams]:
    """The streams of a session with `command`; it and its group are gone afterwards. Raises OSError as `start`."""
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    async with to_session, from_server, to_server, from_session:
        await server.start(command, environment)
        in_order = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.read_into, to_session)
                tasks.start_soon(server.write_from, from_session)
                yield Streams(BoundedMessages(from_server), Sent(to_server))
                in_order = True
                tasks.cancel_scope.cancel()
        finally:
            await server.end(in_order)


class _Pipes(asyncio.SubprocessProtocol):
    """What the event loop tells about the program."""

    def __init__(self, kept_bytes: int) -> None:
        self._kept_bytes = kept_bytes
        self.stdout = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
        self.exited = asyncio.Event()
        self.complaints = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @property
    def exit_code(self) -> int | None:
        return None if self._transport is None else self._transport.get_returncode()

    @property
    def pid(self) -> int:
        return self._started.get_pid()

    @property
    def stdin(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self._started.get_pipe_transport(_STDIN))

    def close(self) -> None:
        self._started.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        output = cast(asyncio.BaseTransport, self._transport.get_pipe_transport(_STDOUT))
        self.stdout.set_transport(output)  # which then reads no further than the reader keeps up

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDOUT:
            self.stdout.feed_data(data)
        else:
            self.complaints = (self.complaints + data)[-self._kept_bytes :]

    def pipe_connection_lost(self, fd: int, _error: Exception | None) -> None:
        if fd == _STDOUT:
            self.stdout.feed_eof()

    def process_exited(self) -> None:
        self.exited.set()

    @property
    def _started(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            raise RuntimeError("the program has not been started")
        return self._transport

"""Tells one client the changes of one tenant: from the whole state, or from where it was.

The changes wait in the memory of all clients, not in a queue of each: a client that falls so far behind that they are
gone is left, as is one that takes nothing any more, and comes back with the id of what it had last.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from functools import partial

from agrajag.api.changes.cursor import Cursor, Offsets, cursor_text, later, read_cursor
from agrajag.api.changes.event_text import EventKind, event, heartbeat, retry
from agrajag.api.changes.recent import Change
from agrajag.api.changes.told import Told
from agrajag.api.parts import Parts
from agrajag.api.permissions import Principal
from agrajag.api.showing import shown
from agrajag.metrics import STREAM_RESETS, StreamEnd, StreamReset

_CHUNK_BYTES = 32_768
_AT_ONCE = 64
_LOOK_AGAIN_SECONDS = 0.05
_TOKEN_SECONDS = 1.0
_RETRY_MS = 2_000
_SPREAD_MS = 4_000


class ChangeStream:
    """One client's stream. `end` may be called at any time, from the same event loop."""

    def __init__(
        self,
        parts: Parts,
        tenant_id: str,
        principal: Principal,
        still_theirs: Callable[[], bool],
        last_event_id: str | None,
    ) -> None:
        """`still_theirs` says whether the token is still good for that principal."""
        self._parts = parts
        self._recent = parts.recent
        self._show = partial(shown, parts)
        self._tenant_id = tenant_id
        self._principal = principal
        self._still_theirs = still_theirs
        self._last_event_id = last_event_id
        self._wake = asyncio.Event()
        self._cursor = Cursor(b"", ())
        self._number = 0
        self._joined = 0
        self._gaps = 0
        now = asyncio.get_running_loop().time()
        self._token_checked = self._told_at = now
        lasting = parts.values.stream_seconds
        self._until = now + lasting - lasting * secrets.randbelow(100) / 1_000  # not all at once
        self.ended: StreamEnd | None = None
        """Why it ended; None while it goes on."""

    def end(self, why: StreamEnd) -> None:
        """Let it end, unless it has."""
        self.ended = self.ended or why
        self._wake.set()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """All that the client is sent, until it ends."""
        yield retry(_RETRY_MS)
        with self._recent.waking(self._tenant_id, self._wake):
            unusable = await self._gone_on()
            if unusable is not None:
                STREAM_RESETS.labels(unusable).inc()
                async for chunk in self._from_the_start():
                    yield chunk
            while not self._is_over():
                self._wake.clear()
                async for chunk in self._news():
                    yield chunk
                if await self._is_silent() and not self._is_over():
                    yield heartbeat(self._place())
        if self.ended in (StreamEnd.ENDING, StreamEnd.AGE):
            yield retry(1_000 + secrets.randbelow(_SPREAD_MS))  # not all at once

    async def _gone_on(self) -> StreamReset | None:
        """Take the place that the client's id names; why that is not possible, else."""
        if not self._last_event_id:
            return StreamReset.NO_ID
        cursor = read_cursor(self._last_event_id)
        if cursor is None:
            return StreamReset.MALFORMED
        unusable = self._recent.unusable(cursor)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._parts.values.revision_wait_seconds
        while unusable is StreamReset.AHEAD and loop.time() < deadline and not self._is_over():
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)  # another process may have read further
            unusable = self._recent.unusable(cursor)
        if unusable is None:
            self._take_place(self._recent.known(self._tenant_id, cursor), cursor, self._recent.number)
        return unusable

    async def _from_the_start(self) -> AsyncGenerator[bytes, None]:
        yield event(EventKind.RESET, b"{}")
        snapshot = self._parts.snapshots.take(self._parts.view, self._recent, self._tenant_id)
        self._take_place(snapshot.number, snapshot.cursor, snapshot.number)
        count, size, chunk = 0, 0, list[bytes]()
        for number, told in enumerate(snapshot.documents(), 1):
            data = self._data(told)
            if data is not None:
                count += 1
                size += len(data)
                chunk.append(event(EventKind.CHANGED, data))
            if size >= _CHUNK_BYTES:
                if self._is_over():
                    return
                yield b"".join(chunk)
                size, chunk = 0, []
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        yield b"".join((*chunk, event(EventKind.CURRENT, b'{"documents":%d}' % count, self._place())))

    async def _news(self) -> AsyncGenerator[bytes, None]:
        while not self._is_over():
            changes = self._recent.after(self._tenant_id, self._number, _AT_ONCE)
            if changes is None:
                self.end(StreamEnd.SLOW)
            elif not changes:
                self._come_to_the_end()
                return
            else:
                for chunk in self._written(changes):
                    self._told_at = asyncio.get_running_loop().time()
                    yield chunk
                await asyncio.sleep(0)  # a thousand others have news too

    def _written(self, changes: Iterable[Change]) -> Iterator[bytes]:
        size, chunk = 0, list[bytes]()
        for change in changes:
            is_new = change.offset >= self._cursor.offsets[change.partition]
            is_joined = change.number > self._joined
            self._go_on_to(change.number, change.offsets)
            data = self._data(change.told) if is_new else None
            if data is None:
                continue
            kind = EventKind.GONE if change.told.value is None else EventKind.CHANGED
            chunk.append(event(kind, data, change.id if is_joined else self._place()))
            size += len(data)
            if size >= _CHUNK_BYTES:
                yield b"".join(chunk)
                size, chunk = 0, []
        if chunk:
            yield b"".join(chunk)

    def _data(self, told: Told) -> bytes | None:
        if not told.may_be_told(self._principal):
            return None
        return told.data(self._principal, self._parts.now(), self._show)

    def _take_place(self, number: int, cursor: Cursor, joined: int) -> None:
        """Go on behind `number`; of what comes up to `joined`, the client may know more than that."""
        self._number, self._cursor, self._joined = number, cursor, joined
        self._gaps = self._recent.gaps

    def _go_on_to(self, number: int, offsets: Offsets) -> None:
        is_joined = number > self._joined
        self._number = number
        self._cursor = Cursor(
            self._cursor.log, offsets if is_joined else later(self._cursor.offsets, offsets)
        )

    def _come_to_the_end(self) -> None:
        """What comes next is nothing that was read until now: none of that was for this client."""
        self._go_on_to(max(self._number, self._recent.number), self._recent.cursor.offsets)

    def _place(self) -> str:
        return cursor_text(self._cursor)

    def _is_over(self) -> bool:
        now = asyncio.get_running_loop().time()
        if self._parts.ending.is_set():
            self.end(StreamEnd.ENDING)
        elif now >= self._until:
            self.end(StreamEnd.AGE)
        elif now - self._token_checked >= _TOKEN_SECONDS:
            self._token_checked = now
            if not self._still_theirs():
                self.end(StreamEnd.TOKEN)
        if self._gaps != self._recent.gaps:
            self._gaps = self._recent.gaps
            if not self._recent.is_gapless(self._cursor):
                self.end(StreamEnd.GAP)
        return self.ended is not None

    async def _is_silent(self) -> bool:
        """Wait until there may be news; True where the client has heard nothing for long."""
        due = self._told_at + self._parts.values.heartbeat_seconds
        try:
            async with asyncio.timeout_at(due):
                await self._wake.wait()
        except TimeoutError:
            pass
        now = asyncio.get_running_loop().time()
        if now < due:
            return False
        self._told_at = now
        return True

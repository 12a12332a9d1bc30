"""Reports failed tool calls, and calls that work again, without the caller ever waiting or hearing of trouble.

What is reported goes into memory and from there to Kafka, on a thread of its own; what cannot be sent is counted and
logged. The brokers may be away for as long as the memory lasts.
"""

import time
import uuid
from contextlib import suppress
from types import TracebackType
from typing import Self, TypedDict, Unpack

import structlog

from agrajag.client.background import END_SECONDS, Background
from agrajag.client.call import Call
from agrajag.client.drops import Drops
from agrajag.client.failures import facts_of
from agrajag.client.outbox import Limits, Outbox
from agrajag.client.sending import Sending
from agrajag.client.successes import KnownHealth, is_awaited
from agrajag.client.watching import Watch
from agrajag.clock import Clock, utc_now
from agrajag.core.lookup import Caller
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import DropReason
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 5.0
"""How long the end of a reporter waits for the brokers."""

_SUCCESS_SECONDS = 1.0
_REMEMBERED = 1_000


class CallFields(TypedDict, total=False):
    """What may be known of a call besides its tool: the fields of `Call` by shorter names."""

    tenant: str
    project: str | None
    user: str | None
    session: str | None
    process: str | None
    family: str | None
    transport: Transport | None
    credential: CredentialKind | None
    target: CallTargetKind | None
    locale: str | None


class ToolErrorReporter:
    """Reports on behalf of one tenant, or of several where the call names another; from any thread and event loop.

    ```python
    with ToolErrorReporter(KafkaConnection("127.0.0.1:9092"), tenant_id="acme") as reporter:
        with reporter.watch("crm_lookup", user="alice") as call:
            call.result(look_up("Dent"))
    ```

    Nothing but `start`, `flush` and `close` waits, and nothing else raises. Without `health` no success is sent. Where
    it is given a `background`, it ends with that, and is started with it.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics | None = None,
        *,
        tenant_id: str,
        health: KnownHealth | None = None,
        background: Background | None = None,
        limits: Limits | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._tenant_id = tenant_id
        self._health = health
        self._background = background or Background()
        self._owned = self._background if background is None else None
        self._clock = clock
        self._drops = Drops()
        self._outbox = Outbox(limits or Limits(), self._drops, f"client-{uuid.uuid4().hex}")
        self._sending = Sending(self._background, connection, topics or Topics(), self._outbox, self._drops)
        self._told_working: dict[tuple[Caller, str], float] = {}
        self._is_open = False

    def start(self) -> None:
        """From here on reports are taken; it waits for no broker. Raises PermanentError once it was closed."""
        if self._owned is not None:
            self._owned.start()
        if not self._is_open:
            self._background.keep("reporter", self._sending.run)
            self._is_open = True

    def call(self, tool: str, **fields: Unpack[CallFields]) -> Call:
        """A call of this tool, of the reporter's own tenant unless another is named."""
        return Call(
            fields.get("tenant", self._tenant_id),
            tool,
            project_id=fields.get("project"),
            user_id=fields.get("user"),
            session_id=fields.get("session"),
            process_id=fields.get("process"),
            tool_family=fields.get("family"),
            transport=fields.get("transport"),
            credential_kind=fields.get("credential"),
            target_kind=fields.get("target"),
            locale=fields.get("locale"),
        )

    def watch(self, tool: str | Call, **fields: Unpack[CallFields]) -> Watch:
        """Watches one call, as a context manager of either kind, and reports how it ends."""
        return Watch(self, self.call(tool, **fields) if isinstance(tool, str) else tool)

    def report(self, call: Call, failure: object, *, handled: BaseException | None = None) -> str | None:
        """Reports that `call` failed; the id of the event that will say so, None where it is dropped.

        `failure` is an exception, an HTTP response, an MCP result or an ErrorReport. Of exceptions the causes are told,
        but not `handled`: what was being handled when the call began. It returns within microseconds, whatever is away.
        """
        try:
            if not self._is_usable():
                return None
            facts = facts_of(failure, handled)
            if self._told_working:
                self._told_working.pop((call.caller, call.tool_name), None)
            event_id = self._outbox.failed(call, facts, self._clock(), time.monotonic())
            self._sending.wake()
            return event_id
        except Exception as error:  # what failed may be an object of anybody's making
            self._drops.add(DropReason.UNREADABLE)
            log.warning("client_failure_unreadable", kind=type(error).__name__)
            return None

    def succeeded(self, call: Call) -> str | None:
        """Says that `call` worked, if that takes anything back; the id of the event, None where there is none.

        Of the successes of one caller with one tool, one a second is enough.
        """
        try:
            if self._health is None or not self._is_usable():
                return None
            now = self._clock()
            documents = self._health.documents_of(call.caller, call.tool_name)
            if not documents or not is_awaited(documents, call.user_id, now) or self._was_told(call):
                return None
            event_id = self._outbox.succeeded(call, now)
            self._sending.wake()
            return event_id
        except Exception as error:
            self._drops.add(DropReason.UNREADABLE)
            log.warning("client_success_unreadable", kind=type(error).__name__)
            return None

    def dropped(self) -> dict[DropReason, int]:
        """How many failures and successes nobody will hear of, by reason."""
        return self._drops.counts()

    def __len__(self) -> int:
        """How many reports wait for the brokers."""
        return len(self._outbox)

    def flush(self, timeout_seconds: float = FLUSH_SECONDS) -> None:
        """Returns when the brokers have all that was reported before.

        Raises TransientError if that takes longer, PermanentError where the reporter is not started, closed or forked.
        """
        self._background.run(self._sending.flush(), timeout_seconds)

    async def flush_async(self, timeout_seconds: float = FLUSH_SECONDS) -> None:
        """As `flush`, for a caller with an event loop of its own."""
        await self._background.run_async(self._sending.flush(), timeout_seconds)

    def close(self, timeout_seconds: float = FLUSH_SECONDS) -> None:
        """Sends what waits, or counts it as dropped after that time, and ends. Again, or after a fork, does nothing."""
        if not self._leave():
            return
        try:
            with suppress(TransientError, PermanentError):
                self.flush(timeout_seconds)
            with suppress(TransientError, PermanentError):
                self._background.run(self._sending.stop(), END_SECONDS)
        finally:
            self._count_left()
            if self._owned is not None:
                self._owned.close()

    async def close_async(self, timeout_seconds: float = FLUSH_SECONDS) -> None:
        """As `close`, for a caller with an event loop of its own."""
        if not self._leave():
            return
        try:
            with suppress(TransientError, PermanentError):
                await self.flush_async(timeout_seconds)
            with suppress(TransientError, PermanentError):
                await self._background.run_async(self._sending.stop(), END_SECONDS)
        finally:
            self._count_left()
            if self._owned is not None:
                await self._owned.close_async()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close_async()

    def _is_usable(self) -> bool:
        if self._is_open and self._background.is_usable:
            return True
        if self._background.is_foreign and self._is_open:
            # The fork may have come while another thread held a lock of these, which nobody will let go here.
            self._drops = Drops()
            self._is_open = False
        self._drops.add(DropReason.UNUSABLE)
        self._drops.tell(time.monotonic())
        return False

    def _was_told(self, call: Call) -> bool:
        key = (call.caller, call.tool_name)
        now = time.monotonic()
        if now - self._told_working.get(key, -_SUCCESS_SECONDS) < _SUCCESS_SECONDS:
            return True
        if len(self._told_working) >= _REMEMBERED:
            self._told_working.clear()
        self._told_working[key] = now
        return False

    def _leave(self) -> bool:
        was_open = self._is_open and not self._background.is_foreign
        self._is_open = False
        return was_open

    def _count_left(self) -> None:
        if left := self._outbox.close():
            self._drops.add(DropReason.CLOSED, left)
        self._drops.tell(time.monotonic(), at_once=True)

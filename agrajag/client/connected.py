"""Connects a service with Agrajag: what its tools do is reported, and what is known of them is at hand.

```python
from agrajag.client import Agrajag, GuardPolicy

with Agrajag.connect("127.0.0.1:9092", tenant="acme", own=GuardPolicy(refuse_down=True)) as agrajag:
    call = agrajag.call("crm_lookup", user="alice")
    admission = agrajag.ask(call)
    if admission.is_allowed:
        with agrajag.watch(call) as watched:
            watched.result(look_up("Dent"))
```

Only the beginning and the end wait, each for a bounded time. Where the brokers are away everything is allowed, reports
wait in memory, and both go on as soon as they are back.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar, Unpack

import structlog

from agrajag.client.adapters.functions import guarded
from agrajag.client.attending import Attendant
from agrajag.client.background import Background
from agrajag.client.call import Call
from agrajag.client.guard import Guard
from agrajag.client.outcomes import Outcomes
from agrajag.client.reporter import CallFields, ToolErrorReporter
from agrajag.client.watching import Watch
from agrajag.core.admission import Admission, GuardPolicy
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.documents.live import LiveDocuments
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import CLIENT_DEGRADED
from agrajag.view import HealthView
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outage import Outage
from agrajag.wire.topics import DEFAULT_PREFIX, Topics

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest

    from agrajag.client.adapters.langchain import ToolHealthMiddleware
    from agrajag.client.adapters.mcp import AttendedSession, Session

log = structlog.get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

WAIT_SECONDS = 5.0
"""How long the beginning waits for the brokers."""

_HEALTH, _DOCUMENTS = "health", "documents"


class Agrajag:
    """All that a service needs, on one thread of its own; a context manager of either kind.

    `reporter` tells what tools do, `guard` is asked before a call, `view` holds the health documents. They may be used
    from any thread and any event loop. After a fork the child makes its own.
    """

    def __init__(
        self,
        connection: KafkaConnection,
        topics: Topics,
        *,
        tenant: str,
        own: GuardPolicy,
        policy: Policy,
        wait_seconds: float,
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._policy = policy
        self._wait_seconds = wait_seconds
        self._background = Background()
        self._is_begun = False
        self._shown = {part: asyncio.Event() for part in (_HEALTH, _DOCUMENTS)}
        self.view = HealthView(connection, topics, lambda *owner: self._effective(*owner)[1])
        self.guard = Guard(self.view, self._effective, own)
        self.reporter = ToolErrorReporter(
            connection, topics, tenant_id=tenant, health=self.view, background=self._background
        )

    @classmethod
    def connect(
        cls,
        brokers: str | KafkaConnection = "127.0.0.1:9092",
        *,
        tenant: str,
        own: GuardPolicy | None = None,
        topics_prefix: str = DEFAULT_PREFIX,
        policy: Policy | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> Self:
        """A client of these brokers, written `host:port,host:port` or as a connection, for the tools of `tenant`.

        It connects when it is entered, and waits for that for at most `wait_seconds`; here nothing happens yet. `own`
        is what this service does not want to call: nothing, where it is left out. `policy` holds where no settings
        document of the tenant says otherwise.
        """
        connection = KafkaConnection(brokers) if isinstance(brokers, str) else brokers
        return cls(
            connection,
            Topics(topics_prefix),
            tenant=tenant,
            own=own or GuardPolicy(),
            policy=policy or Policy(),
            wait_seconds=wait_seconds,
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What was not read yet, of `health` and `documents`: without health everything is allowed, without documents
        the bundled rules hold."""
        return tuple(part for part, shown in self._shown.items() if not shown.is_set())

    def call(self, tool: str, **fields: Unpack[CallFields]) -> Call:
        """A call of this tool, for the client's own tenant unless another is named."""
        return self.reporter.call(tool, **fields)

    def ask(self, call: Call) -> Admission:
        """Whether to make this call: as the guard says, or as the last failure of the same means."""
        return self.attendant.ask(call)

    def watch(self, tool: str | Call, **fields: Unpack[CallFields]) -> Watch:
        """Watches one call, as a context manager of either kind: how it ends is reported, and known to `ask`."""
        return Watch(Outcomes(self.attendant), self.call(tool, **fields) if isinstance(tool, str) else tool)

    @cached_property
    def attendant(self) -> Attendant:
        """What stands beside each call of an adapter."""
        return Attendant(self.reporter, self.guard)

    def guarded(
        self,
        tool: str | None = None,
        *,
        who: Callable[..., CallFields] | None = None,
        **fields: Unpack[CallFields],
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """A decorator for a function that is a tool or calls one (`adapters.functions.guarded`)."""
        return guarded(self.attendant, tool, who=who, **fields)

    def mcp(
        self,
        session: "Session",
        /,
        *,
        prefix: str = "",
        who: Callable[[str, dict[str, Any]], CallFields] | None = None,
        **fields: Unpack[CallFields],
    ) -> "AttendedSession":
        """An MCP session with attended tools (`adapters.mcp.AttendedSession`). Needs the extra `mcp`."""
        from agrajag.client.adapters.mcp import AttendedSession

        return AttendedSession(session, self.attendant, prefix=prefix, who=who, **fields)

    def langchain(
        self,
        *,
        answers_errors: bool = False,
        who: Callable[["ToolCallRequest"], CallFields] | None = None,
        **fields: Unpack[CallFields],
    ) -> "ToolHealthMiddleware":
        """A middleware for an agent (`adapters.langchain.ToolHealthMiddleware`). Needs the extra `langchain`."""
        from agrajag.client.adapters.langchain import ToolHealthMiddleware

        return ToolHealthMiddleware(self.attendant, answers_errors=answers_errors, who=who, **fields)

    def start(self) -> None:
        """Returns once everything is read that there was, or after `wait_seconds`; what is missing then is logged.

        Raises PermanentError once it was closed.
        """
        if self._begin():
            with self._degrading():
                self._background.run(self._all_shown(), self._wait_seconds)

    async def start_async(self) -> None:
        """As `start`, for a caller with an event loop of its own."""
        if self._begin():
            with self._degrading():
                await self._background.run_async(self._all_shown(), self._wait_seconds)

    def close(self) -> None:
        """Sends what waits to be sent, for a few seconds at most, and ends. Again, it does nothing."""
        self.reporter.close()
        self._background.close()

    async def close_async(self) -> None:
        """As `close`, for a caller with an event loop of its own."""
        await self.reporter.close_async()
        await self._background.close_async()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self.start_async()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close_async()

    @cached_property
    def _documents(self) -> LiveDocuments:
        # Made when first needed, on the client's own thread: to read all bundled rules takes half a second.
        return LiveDocuments(self._connection, self._topics, self._policy)

    def _effective(self, tenant_id: str, project_id: str | None) -> tuple[RuleSet, Policy]:
        return self._documents.effective(tenant_id, project_id)

    def _begin(self) -> bool:
        """Whether this is the beginning."""
        self._background.start()
        if self._is_begun:
            return False
        self._is_begun = True
        self.reporter.start()
        self._background.keep(_HEALTH, lambda: self._follow(_HEALTH, self.view))
        self._background.keep(_DOCUMENTS, lambda: self._follow(_DOCUMENTS, self._documents))
        return True

    async def _follow(self, part: str, followed: "_Followed") -> None:
        """Reads what there is, again and again while the brokers are away or the topic is not there yet; then follows
        it for ever."""
        outage = Outage(f"client_{part}", self._connection.bootstrap_servers)
        while True:
            try:
                await followed.start()
                outage.over()
                self._shown[part].set()
                await followed.run()
            except TransientError as error:
                await outage.pause(error)
            except PermanentError as error:  # who makes the topic may come later
                await outage.pause(TransientError(str(error)))

    async def _all_shown(self) -> None:
        for shown in self._shown.values():
            await shown.wait()

    @contextmanager
    def _degrading(self) -> Iterator[None]:
        try:
            yield
        except TransientError:
            CLIENT_DEGRADED.inc()
            log.warning(
                "client_goes_on_without",
                missing=self.missing,
                brokers=self._connection.bootstrap_servers,
                waited_seconds=self._wait_seconds,
            )


class _Followed(Protocol):
    """What is read to its end once, and then followed."""

    async def start(self) -> None: ...

    async def run(self) -> None: ...

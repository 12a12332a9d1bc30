"""The API as it runs: on a real Kafka and a real store, with a worker and a sink beside it where a test needs them.

All of it lives on one event loop in a thread of its own, so that a module's tests share it and ask it over HTTP, from
synchronous code or from any loop.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import httpx
from aiokafka import AIOKafkaProducer

from agrajag.api.parts import ApiValues, Parts
from agrajag.api.permissions import Role
from agrajag.api.running import make_parts, run_api
from agrajag.api.serve import listening, url_of
from agrajag.api.store_access import StoreAccess
from agrajag.api.tokens import LiveTokens
from agrajag.core.policy import Policy
from agrajag.documents.live import LiveDocuments
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.monitor.pulse import Pulse
from agrajag.sink.run import run_sink
from agrajag.stream.running import StreamSettings, serve
from agrajag.stream.worker import build_worker
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics
from tests.waiting import eventually, eventually_blocking

T = TypeVar("T")

PARTITIONS = 4
TENANTS = ("acme", "globex")
USERS = {Role.READER: "rita", Role.OPERATOR: "otto", Role.ADMIN: "ada"}
"""Who has which role, in each of the tenants."""


def secret_of(tenant: str, user: str) -> str:
    """The token of a user of the tests."""
    return f"agrajag_{tenant}-{user}-of-the-tests"


def tokens_text(*more: str) -> str:
    """A tokens file with each role in each tenant, and one token that is over."""
    lines = [
        f"- {{sha256: {_digest(secret_of(tenant, user))}, tenant: {tenant}, user: {user}, role: {role}}}"
        for tenant in TENANTS
        for role, user in USERS.items()
    ]
    past = "expires: 2020-01-01T00:00:00Z"
    lines.append(
        f"- {{sha256: {_digest(secret_of('acme', 'past'))}, tenant: acme, user: past, role: admin, {past}}}"
    )
    return "\n".join(["tokens:", *lines, *more, ""])


@dataclass
class RunningApi:
    """One API with what belongs to it. `run` takes a coroutine to its loop."""

    url: str
    parts: Parts
    loop: asyncio.AbstractEventLoop
    ends: ExitStack = field(default_factory=ExitStack)

    def client(self, tenant: str | None = "acme", role: Role = Role.ADMIN, **options: Any) -> httpx.Client:
        """A client of this user, ended with the API; of nobody where no tenant is given."""
        headers = {} if tenant is None else bearer(tenant, role)
        return self.ends.enter_context(
            httpx.Client(base_url=self.url, headers=headers, timeout=30.0, **options)
        )

    def run(self, work: Coroutine[Any, Any, T], timeout: float = 60.0) -> T:
        """What the coroutine returns on the API's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def send(self, *records: Output) -> None:
        """Returns when the broker has them."""
        self.run(_sent(self.parts.connection, records))

    def show(self, *documents: ToolHealth) -> None:
        """Put health documents on the topic, and wait until the view shows them."""
        name = self.parts.topics.name(Topic.HEALTH_CHANGED)
        self.send(*(Output(name, key_of(one).encode(), one.to_json()) for one in documents))
        for document in documents:
            eventually_blocking(lambda wanted=document: self.shown(wanted) == wanted)  # type: ignore[misc]

    def shown(self, document: ToolHealth) -> ToolHealth | None:
        """What the view shows in the place of this document."""
        return self.parts.view.find(document.tenant_id, document.scope, document.scope_id, document.tool_name)


def bearer(tenant: str, role: Role) -> dict[str, str]:
    """The header of the user with this role."""
    return {"Authorization": f"Bearer {secret_of(tenant, USERS[role])}"}


def key_of(document: ToolHealth) -> str:
    return health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)


@contextmanager
def running_api(
    bootstrap_servers: str,
    *,
    store_uri: str = "mongodb://127.0.0.1:1",
    with_worker: bool = False,
    with_sink: bool = False,
    with_tokens: bool = True,
    tokens_file: Path | None = None,
    values: ApiValues | None = None,
    change: Callable[[Parts], Parts] = lambda parts: parts,
) -> Iterator[RunningApi]:
    """An API on topics and a database of its own. Without a `store_uri` the store is away.

    `change` may replace some of the parts before they begin.
    """
    name = f"test-api-{uuid.uuid4().hex[:8]}"
    connection, topics = KafkaConnection(bootstrap_servers), Topics(name, PARTITIONS)
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name=name, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(120)

    database = name.replace("-", "_")
    tokens = LiveTokens(tokens_file, tokens_text() if with_tokens and tokens_file is None else "")
    running: _Running | None = None
    try:
        run(_topics_made(connection, topics))
        running = run(
            _begun(
                lambda: change(
                    make_parts(
                        connection,
                        topics,
                        store=StoreAccess(store_uri, database),
                        tokens=tokens,
                        values=values or ApiValues(ending_seconds=1.0, revision_wait_seconds=0.3),
                        defaults=Policy(),
                    )
                ),
                with_worker=with_worker,
                sink=(store_uri, database) if with_sink else None,
            )
        )
        with ExitStack() as ends:
            yield RunningApi(running.url, running.parts, loop, ends)
    finally:
        if running is not None:
            run(running.end())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


@dataclass
class _Running:
    url: str
    parts: Parts
    api: "asyncio.Task[None]"
    sink: "asyncio.Task[None] | None" = None
    worker: "asyncio.Task[int] | None" = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def end(self) -> None:
        """Ends all of it; what crashed fails the test."""
        self.stop.set()
        for task in (self.api, self.sink):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self.worker is not None:
            assert await self.worker == 0


async def _begun(
    parts_of: Callable[[], Parts], *, with_worker: bool, sink: tuple[str, str] | None
) -> _Running:
    parts = parts_of()
    there = listening("127.0.0.1", 0)
    pulse = Pulse(unready_after_seconds=30.0)
    running = _Running(url_of(there), parts, asyncio.create_task(run_api(parts, there, pulse)))
    if sink is not None:
        uri, database = sink
        work = run_sink(parts.connection, parts.topics, store_uri=uri, database=database)
        running.sink = asyncio.create_task(work)
    if with_worker:
        running.worker = await _worker(parts, running.stop)
    answered = asyncio.create_task(_answers(running.url))
    await asyncio.wait([answered, running.api], return_when=asyncio.FIRST_COMPLETED)
    if running.api.done():
        running.api.result()
    return running


async def _answers(url: str) -> None:
    async with httpx.AsyncClient(timeout=60.0) as client:
        await client.get(f"{url}/brain")


async def _worker(parts: Parts, stop: asyncio.Event) -> "asyncio.Task[int]":
    """The real worker, on this loop."""
    settings = StreamSettings(
        group=f"{parts.topics.prefix}.worker",
        connection=parts.connection,
        session_timeout_seconds=6.0,
        delivery_timeout_seconds=10.0,
        commit_interval_seconds=0.3,
        told_interval_seconds=0.2,
    )
    documents = LiveDocuments(parts.connection, parts.topics, Policy())
    await documents.start()
    app = build_worker(
        settings, parts.topics, documents.effective, Origins(PARTITIONS), beside=(documents.run,)
    )
    serving = asyncio.create_task(serve(settings, app, stop))
    await eventually(lambda: serving.done() or app.is_settled, 60)
    return serving


async def _topics_made(connection: KafkaConnection, topics: Topics) -> None:
    async with admin_client(connection) as admin:
        assert (await ensure_topics(admin, topics)).findings == ()


async def _sent(connection: KafkaConnection, records: tuple[Output, ...]) -> None:
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for record in records:
            await producer.send_and_wait(record.topic, record.value, record.key, headers=list(record.headers))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

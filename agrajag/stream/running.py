"""Runs a stream app from our own entry point: waits for the broker, starts, watches, stops.

Faust's own worker takes over logging, opens a web server on all addresses and makes directories; none of it
happens here. An agent that raises ends the process with 1, so that its supervisor starts it again: the item
it was at was not acknowledged.
"""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog
from aiokafka.errors import KafkaError
from mode import CrashingSupervisor

from agrajag.errors import ConfigError, TransientError
from agrajag.monitor.dead_letter_share import watch_dead_letters
from agrajag.stream.batches import BATCH_BYTES
from agrajag.stream.credentials import faust_credentials
from agrajag.stream.fetches import FetchApp
from agrajag.stream.log_floods import thin_out_logs
from agrajag.stream.monitoring import Monitoring
from agrajag.stream.watchdog import Watchdog, end_process
from agrajag.wire.clients import KafkaConnection, wait_for_broker
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.topics import MAX_REQUEST_BYTES

log = structlog.get_logger(__name__)

RESTART_PAUSE_SECONDS = 0.5
"""Between a start that found the brokers gone again and the next."""
LAST_WORDS_SECONDS = 3.0
"""How long an orderly stop waits for what was held back to be told."""


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """Whom a worker belongs to, how it reaches the brokers and how patient it is."""

    group: str
    """The consumer group: all workers of one installation."""
    connection: KafkaConnection
    session_timeout_seconds: float = 15.0
    """A worker that is silent for so long loses its partitions."""
    delivery_timeout_seconds: float = 30.0
    """A record that is not on the brokers after so long counts as failed and is sent again."""
    commit_interval_seconds: float = 0.5
    broker_wait_seconds: float = 120.0
    """How long a start waits for a broker that is away."""
    stall_seconds: float = 60.0
    """How long after everything stood still, though there is something to do, the process ends at the latest."""
    stop_seconds: float = 20.0
    told_interval_seconds: float = 10.0
    """How long a change of counters alone may be held back."""
    sweep_seconds: float = 60.0
    """Between two rounds of the sweep."""

    @property
    def late_record_seconds(self) -> float:
        """How long after a partition has left a worker a record of that worker may still arrive."""
        return max(self.session_timeout_seconds, self.delivery_timeout_seconds)


def create_app(settings: StreamSettings) -> FetchApp:
    """A Faust app with no agents yet. All its topics exist already: it creates none."""
    servers = settings.connection.bootstrap_servers.split(",")
    return FetchApp(
        settings.group,
        broker=";".join(f"kafka://{server.strip()}" for server in servers),
        broker_credentials=faust_credentials(settings.connection),
        broker_session_timeout=settings.session_timeout_seconds,
        broker_heartbeat_interval=settings.session_timeout_seconds / 5,
        broker_request_timeout=max(40.0, settings.session_timeout_seconds),
        broker_commit_interval=settings.commit_interval_seconds,
        broker_max_poll_records=2_000,
        consumer_auto_offset_reset="earliest",
        producer_acks=-1,
        producer_linger=0,
        producer_max_batch_size=BATCH_BYTES,
        producer_max_request_size=MAX_REQUEST_BYTES,
        producer_request_timeout=settings.delivery_timeout_seconds,
        processing_guarantee="at_least_once",
        store="memory://",
        table_standby_replicas=0,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        stream_wait_empty=False,
        agent_supervisor=CrashingSupervisor,
    )


def run_worker(
    settings: StreamSettings,
    build: Callable[[], FetchApp],
    prepare: Callable[[], Awaitable[None]] | None = None,
    monitoring: Monitoring | None = None,
) -> int:
    """Run a worker until SIGTERM or SIGINT. The exit code: 0 after these, 1 after anything else.

    `build` makes the app and its agents once the broker answers and `prepare` (checks of topics and tables)
    has passed. A broker that goes away again before the app is up is waited for too, and all of it is begun anew.
    Raises TransientError if no broker answers in time, what `prepare` raises, ConfigError above all, and ConfigError
    after a bad start.
    """

    async def run() -> int:
        thin_out_logs()
        accept_any_header_name()
        return await run_until(_stop_on_signals(), settings, build, prepare, monitoring)

    return asyncio.run(run())


async def run_until(
    stop: asyncio.Event,
    settings: StreamSettings,
    build: Callable[[], FetchApp],
    prepare: Callable[[], Awaitable[None]] | None = None,
    monitoring: Monitoring | None = None,
) -> int:
    """What `run_worker` does, until `stop` is set."""
    clock = asyncio.get_running_loop()
    give_up_at = clock.time() + settings.broker_wait_seconds
    while not stop.is_set():
        preparing = asyncio.create_task(_prepare(settings, prepare, max(0.0, give_up_at - clock.time())))
        try:
            if not await _first(preparing, stop):
                return 0
            preparing.result()
            return await serve(settings, build(), stop, monitoring=monitoring)
        except (TransientError, KafkaError) as error:
            reason = _told_passing(error)
            if clock.time() >= give_up_at:
                raise TransientError(f"kafka: {reason}") from error
            log.warning("start_repeated", reason=reason)
            await _first(asyncio.create_task(asyncio.sleep(RESTART_PAUSE_SECONDS)), stop)
    return 0


async def _first(task: "asyncio.Task[None]", stop: asyncio.Event) -> bool:
    """Wait for `task`; False if `stop` was set before, and then the task is cancelled."""
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not task.done():
        task.cancel()
        return False
    return True


def _told_passing(error: TransientError | KafkaError) -> str:
    """What went wrong, in words; raises `error` if waiting will not help."""
    if isinstance(error, KafkaError) and not error.retriable:
        raise error
    return str(error) or type(error).__name__


async def _prepare(
    settings: StreamSettings, prepare: Callable[[], Awaitable[None]] | None, wait_seconds: float
) -> None:
    await wait_for_broker(settings.connection, wait_seconds)
    if prepare is not None:
        await prepare()


def _stop_on_signals() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets; a second one ends the process as signals do."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(stop.set)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop


async def serve(
    settings: StreamSettings,
    app: FetchApp,
    stop: asyncio.Event,
    give_up: Callable[[], None] = end_process,
    monitoring: Monitoring | None = None,
) -> int:
    """Run `app` until `stop` is set (0), or something in it crashes or it stops by itself (1); then stop all of it.

    `give_up` is called where the stop takes longer than `stop_seconds`. Raises KafkaError where the brokers went away
    before the app had taken up anything: nothing is wrong with the app then. Raises ConfigError after a bad start.
    """
    _relieve_collector()
    monitoring = monitoring or Monitoring()
    watchdog = Watchdog(app, settings.connection, settings.stall_seconds, on_sample=monitoring.seen)
    monitoring.begin(watchdog)
    starting = asyncio.create_task(app.start())
    bad_start = asyncio.create_task(watch_dead_letters(monitoring.bad_start))
    tasks = (
        starting,
        bad_start,
        asyncio.create_task(stop.wait()),
        asyncio.create_task(app.wait_until_stopped()),
    )
    watchdog.start()
    try:
        waits = set[asyncio.Task[Any]](tasks)
        while not (stop.is_set() or app.should_stop or bad_start.done() or _failed(starting)):
            _, waits = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        crash = app.crash_reason or (starting.exception() if _failed(starting) else None)
        code = await _stopped(settings, app, crash, stop.is_set() or bad_start.done(), give_up)
        if bad_start.done():
            raise ConfigError(bad_start.result())
        return code
    finally:
        watchdog.stop()
        for task in tasks:
            task.cancel()


async def _last_words(app: FetchApp) -> None:
    for last in app.last_words:
        await last()


async def _stopped(
    settings: StreamSettings,
    app: FetchApp,
    crash: BaseException | None,
    asked: bool,
    give_up: Callable[[], None],
) -> int:
    """Stop `app`, say why, and return the exit code, or raise the crash that is only the brokers'."""
    if crash is None and asked:
        with suppress(TimeoutError, KafkaError):  # what is not told now, the next worker tells
            await asyncio.wait_for(_last_words(app), LAST_WORDS_SECONDS)
    unreached = isinstance(crash, KafkaError) and crash.retriable and app.rebalancing_count == 0
    if crash is not None and not unreached:
        log.critical("worker_crashed", error=f"{type(crash).__name__}: {crash}", exc_info=crash)
    if crash is None and not asked:
        log.critical("worker_stopped_by_itself")
    try:
        await asyncio.wait_for(app.stop(), settings.stop_seconds)
    except TimeoutError:
        log.critical("stop_takes_too_long", seconds=settings.stop_seconds)
        give_up()
    if crash is not None and unreached and not asked:
        raise crash
    log.info("worker_stopped", crashed=crash is not None)
    return 0 if crash is None and asked else 1


def _failed(task: "asyncio.Task[None]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _relieve_collector() -> None:
    """Let Python's cycle collector look at the table seldom: its entries are trees, which need no collector.

    With its own thresholds it would go through a hundred thousand documents again and again while none is garbage.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)

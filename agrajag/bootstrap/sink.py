"""The sink, and the comparison of the store with what it mirrors."""

from typing import TYPE_CHECKING

from agrajag.bootstrap.extras import extra
from agrajag.bootstrap.monitor import monitored
from agrajag.bootstrap.stopping import run_until_stopped
from agrajag.settings import Settings

if TYPE_CHECKING:
    from agrajag.sink import Books


def run_sink(settings: Settings) -> int:
    """Run a sink until SIGTERM or SIGINT, then 0. Brokers and a store that are away are waited for.

    Raises ConfigError or PermanentError where waiting does not help.
    """
    with extra("worker"):
        from agrajag import sink

    with monitored(settings.monitor, settings.monitor.sink_port) as pulse:
        return run_until_stopped(
            sink.run_sink(
                settings.kafka.connection(),
                settings.topics.topics(),
                store_uri=settings.mongo.uri.get_secret_value(),
                database=settings.mongo.database,
                pulse=pulse,
            )
        )


async def compare_store(settings: Settings, patience_seconds: float = 0.0) -> "Books":
    """The store against the compacted topic that it mirrors; a sink that is behind is given some time."""
    with extra("worker"):
        from agrajag.sink import compare
        from agrajag.store import Store
    uri = settings.mongo.uri.get_secret_value()
    async with await Store.open(uri, settings.mongo.database) as store:
        connection, topics = settings.kafka.connection(), settings.topics.topics()
        return await compare(connection, topics, store, patience_seconds=patience_seconds)

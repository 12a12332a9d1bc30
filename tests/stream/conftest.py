"""Topics and workers of their own for a test."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agrajag.embedded import EmbeddedKafka
from tests.stream.workers import Run, create_topics, run_of


@pytest.fixture
async def run(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Run]:
    """Empty topics on the session's broker; workers that are left are killed at the end."""
    with run_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as found:
        await create_topics(found.plan)
        yield found


@pytest.fixture
async def run_on_own_kafka(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str, tmp_path: Path
) -> AsyncIterator[tuple[Run, EmbeddedKafka]]:
    """The same on a broker that the test may kill."""
    broker = own_kafka()
    with run_of(broker.bootstrap_servers, topic_prefix, tmp_path) as found:
        await create_topics(found.plan)
        yield found, broker

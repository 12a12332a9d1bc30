"""A run on topics of its own for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from agrajag.embedded import EmbeddedKafka
from tests.pipeline.runs import Run, create_topics, run_of


@pytest_asyncio.fixture
async def run(kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Run]:
    with run_of(kafka.bootstrap_servers, topic_prefix, tmp_path) as running:
        await create_topics(running)
        yield running

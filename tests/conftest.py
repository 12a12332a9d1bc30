"""The real parts that tests run against: a Kafka and a store per process of the tests, topics and a database per test.

They are never skipped: where one of them does not start, the tests that need it fail.
"""

import os
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, is_hypothesis_test, settings

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.servers import thrown_away

# No deadline: the machine may be busy elsewhere. The same examples in every CI run, so that a hundred tell no more than
# fifty; others at every desk.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("desk", _PATIENT)
settings.register_profile("ci", _PATIENT, derandomize=True, max_examples=50)
settings.load_profile("ci" if os.environ.get("CI") else "desk")

# So that a test of a lost worker need not wait for Kafka's usual six seconds.
_QUICK_SESSIONS = {"group.min.session.timeout.ms": "1000"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files with slow tests first: the processes share the files, and neither shall wait for a long last one."""
    slow = {item.path for item in items if item.get_closest_marker("slow") is not None}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Properties and slow tests are not measured for coverage: half the speed, for lines that others show."""
    costly = is_hypothesis_test(getattr(item, "obj", None)) or item.get_closest_marker("slow") is not None
    measuring = Coverage.current() if costly else None
    if measuring is None:
        return (yield)
    measuring.stop()
    try:
        return (yield)
    finally:
        measuring.start()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    """The session's broker; a test that stops or kills one takes `own_kafka` instead."""
    with thrown_away(EmbeddedKafka(tmp_path_factory.mktemp("kafka"), properties=_QUICK_SESSIONS)) as running:
        yield running


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """The session's document store; a test that stops or kills one takes `own_store` instead."""
    with thrown_away(EmbeddedStore(tmp_path_factory.mktemp("store"))) as running:
        yield running


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Callable[[], EmbeddedKafka]]:
    """Starts brokers that belong to the test alone and end with it."""
    with ExitStack() as ends:
        yield lambda: ends.enter_context(
            thrown_away(EmbeddedKafka(tmp_path / f"kafka-{uuid.uuid4().hex[:8]}", properties=_QUICK_SESSIONS))
        )


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[Callable[[], EmbeddedStore]]:
    """Starts stores that belong to the test alone and end with it."""
    with ExitStack() as ends:
        yield lambda: ends.enter_context(
            thrown_away(EmbeddedStore(tmp_path / f"store-{uuid.uuid4().hex[:8]}"))
        )


@pytest.fixture
def topic_prefix() -> str:
    """A prefix that no other test has, for topics and consumer groups."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def database_name() -> str:
    """The name of a database that no other test has."""
    return f"test_{uuid.uuid4().hex[:12]}"

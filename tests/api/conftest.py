"""One API for all tests of this package that need none of their own, with a worker, a sink and a store beside it."""

from collections.abc import Iterator

import pytest

from agrajag.api.parts import ApiValues
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.api.running import RunningApi, running_api


@pytest.fixture(scope="package")
def api(kafka: EmbeddedKafka, store: EmbeddedStore) -> Iterator[RunningApi]:
    """Tests share its topics, so each speaks of tools of its own."""
    values = ApiValues(ending_seconds=1.0, recheck_wait_seconds=0.5, rechecks_per_minute=3)
    with running_api(
        kafka.bootstrap_servers, store_uri=store.uri, with_worker=True, with_sink=True, values=values
    ) as running:
        yield running

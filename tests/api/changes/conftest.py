"""One API with streams for all tests here, on a topic of its own."""

from collections.abc import Iterator

import pytest

from agrajag.api.parts import ApiValues
from agrajag.embedded import EmbeddedKafka
from tests.api.running import RunningApi, running_api

VALUES = ApiValues(ending_seconds=1.0, revision_wait_seconds=0.3)


@pytest.fixture(scope="package")
def api(kafka: EmbeddedKafka) -> Iterator[RunningApi]:
    with running_api(kafka.bootstrap_servers, values=VALUES) as running:
        yield running

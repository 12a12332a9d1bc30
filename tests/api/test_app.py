"""What holds for every answer of the API."""

from collections.abc import Iterator

import pytest

from agrajag.api.edge import HEADERS
from agrajag.embedded import EmbeddedKafka
from tests.api.running import RunningApi, running_api


@pytest.fixture(scope="module")
def api(kafka: EmbeddedKafka) -> Iterator[RunningApi]:
    with running_api(kafka.bootstrap_servers) as running:
        yield running


def test_every_answer_is_hardened_and_every_error_is_a_problem(api: RunningApi) -> None:
    client = api.client()
    answers = [client.get("/brain"), client.get("/nowhere"), client.post("/brain")]
    assert [one.status_code for one in answers] == [200, 404, 405]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS)
    assert answers[2].headers["allow"] == "GET"
    for answer in answers[1:]:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == answer.status_code

"""What holds for every answer of the API."""

from collections.abc import Iterator

import pytest

from agrajag.api.edge import HEADERS
from agrajag.api.permissions import Role
from agrajag.embedded import EmbeddedKafka
from tests.api.running import RunningApi, running_api
from tests.builders import a_health


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


def test_whoever_may_see_every_tenant_is_told_those_that_have_a_document(kafka: EmbeddedKafka) -> None:
    with running_api(kafka.bootstrap_servers, with_tokens=False) as api:
        client = api.client(None)
        assert client.get("/brain").json() == {"items": []}
        api.show(a_health(tenant_id="globex"), a_health(tenant_id="acme"))
        seat = {"user": "local", "role": "admin"}
        assert client.get("/brain").json() == {
            "items": [{"tenant": one, **seat} for one in ("acme", "globex")]
        }


def test_a_token_is_told_its_own_tenant_alone(api: RunningApi) -> None:
    seat = {"tenant": "globex", "user": "otto", "role": "operator"}
    assert api.client("globex", Role.OPERATOR).get("/brain").json() == {"items": [seat]}

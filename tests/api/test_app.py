"""What holds for every answer of the API."""

import socket
from contextlib import suppress

import pytest

from agrajag.api.edge import HEADERS
from agrajag.api.permissions import Role
from agrajag.embedded import EmbeddedKafka
from tests.api.running import RunningApi, bearer, running_api
from tests.builders import a_health


def connected(api: RunningApi) -> socket.socket:
    """A connection to say on it what no client would."""
    return socket.create_connection(("127.0.0.1", int(api.url.rpartition(":")[2])), timeout=10)


def test_every_answer_is_hardened_and_every_error_is_a_problem(api: RunningApi) -> None:
    client = api.client()
    answers = [
        client.get("/brain"),
        client.get("/nowhere"),
        client.post("/brain"),
        client.get("/brain//health"),
    ]
    assert [one.status_code for one in answers] == [200, 404, 405, 404]
    for answer in answers:
        assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS)
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert answers[2].headers["allow"] == "GET"
    assert client.post("/brain/acme/documents/a%2Fb").headers["allow"] == "DELETE, GET, PUT"
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
        for name, value in [("Host", "evil.example"), ("Origin", "http://evil.example")]:
            answer = client.get("/brain", headers={name: value})
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:agrajag:problem:forbidden")
        assert client.get("/brain", headers={"Origin": api.url}).status_code == 200
        missing = client.get("/brain/acme/inbox")
        assert (missing.status_code, missing.json()["missing"]) == (503, "store")


def test_a_body_that_is_too_long_is_not_read(api: RunningApi) -> None:
    with connected(api) as there:
        there.sendall(b"POST /brain HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        assert there.recv(4_096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/brain/acme/tools/..%2F..%2Fetc%2Fpasswd/health", 404),
        ("/brain/acme/tools/%00/health", 422),
        ("/brain/acme/tools/%FF/health", 422),
        ("/brain/acme/tools/a%E2%80%AEb/health", 422),
        (f"/brain/acme/tools/{'x' * 257}/health", 422),
        ("/brain/%61cme/rules", 200),
        ("/brain/acm%D0%B5/rules", 404),  # a Cyrillic letter that looks like the other one
        ("/brain/acme%7C/rules", 404),
        ("/brain/acme/health?limit=501", 422),
        ("/brain/acme/health?limit=-1", 422),
        ("/brain/acme/health?limit=99999999999999999999999999", 422),
        ("/brain/acme/health?sort=up", 422),
        ("/brain/acme/health?scope=EVERYBODY", 422),
        ("/brain/acme/tools/t/health?scope=PROJECT", 404),
        ("/brain/acme/tools/t/health?scope=TENANT&scopeId=globex", 404),
        ("/brain/acme/tools/t/health?scope=GLOBAL&scopeId=x", 404),
        ("/brain/acme/rules?after=soon", 422),
        ("/brain/acme/runs?after=soon", 422),
        ("/brain/acme/runs?since=yesterday", 422),
        ("/brain/acme/runs/%3Cscript%3E", 404),
    ],
)
def test_what_cannot_be_meant_is_told_without_repeating_it(api: RunningApi, path: str, status: int) -> None:
    answer = api.client().get(path)
    assert answer.status_code == status
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert not any(told in answer.text for told in ("script", "passwd", "Traceback", "xxxx", "EVERYBODY"))


def test_a_name_of_a_megabyte_ends_at_the_edge(api: RunningApi) -> None:
    with connected(api) as there:
        with suppress(ConnectionError):  # it is not read to its end
            there.sendall(b"GET /brain/acme/tools/" + b"x" * 1_000_000 + b"/health HTTP/1.1\r\n\r\n")
        with suppress(ConnectionError):
            assert there.recv(4_096).startswith(b"HTTP/1.1 400 ")
    assert api.client().get("/brain").status_code == 200


def test_what_a_page_of_another_host_sends_is_answered_without_leave_to_read_it(api: RunningApi) -> None:
    headers = {**bearer("acme", Role.ADMIN), "Origin": "https://evil.example"}
    answer = api.client().get("/brain", headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control")]

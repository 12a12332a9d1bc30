"""Every route, asked by those who must not: with no token, a wrong or old one, of a foreign tenant, of each role."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import httpx
import pytest

from agrajag.api.permissions import Role
from tests.api.running import USERS, RunningApi, bearer, secret_of


class Asked(NamedTuple):
    """A route, asked in one way, and the least role that is not refused."""

    method: str
    path: str
    least: Role
    query: str = ""
    body: object = None


HEALTH = "/brain/{tenant}/tools/{tool}/health"
CASCADE = "/brain/{tenant}/tools/{tool}/cascade"
HISTORY = "/brain/{tenant}/tools/{tool}/history"
LIST = "/brain/{tenant}/health"
COOLDOWNS = "/brain/{tenant}/cooldowns"
INBOX = "/brain/{tenant}/inbox"
ASKED = [
    *(
        Asked("GET", path, least, query)
        for path in (HEALTH, HISTORY)
        for least, query in [
            (Role.READER, "scope=TENANT"),
            (Role.READER, "scope=GLOBAL"),
            (Role.READER, "scope=PROJECT&scopeId=p"),
            (Role.READER, "scope=USER"),
            (Role.OPERATOR, "scope=SESSION&scopeId=s"),
            (Role.ADMIN, "scope=USER&scopeId=bob"),
        ]
    ),
    Asked("GET", CASCADE, Role.READER, "projectId=p"),
    Asked("GET", CASCADE, Role.OPERATOR, "sessionId=s"),
    Asked("GET", CASCADE, Role.ADMIN, "userId=bob"),
    Asked("GET", LIST, Role.READER),
    Asked("GET", LIST, Role.ADMIN, "scope=USER&scopeId=bob"),
    Asked("GET", LIST, Role.OPERATOR, "scope=SESSION&scopeId=s"),
    Asked("GET", COOLDOWNS, Role.READER),
    Asked("GET", COOLDOWNS, Role.ADMIN, "userId=bob"),
    Asked("GET", INBOX, Role.READER),
    Asked("GET", INBOX, Role.ADMIN, "userId=bob"),
    Asked("GET", "/brain/{tenant}/runs", Role.OPERATOR),
    Asked("GET", "/brain/{tenant}/runs/{process}", Role.OPERATOR),
    Asked("GET", "/brain/{tenant}/rules", Role.READER),
    Asked("GET", "/brain/{tenant}/problems", Role.ADMIN),
]
"""The routes that read; those that write have tables of their own beside them."""

_TENANT = "/brain/{tenant}"
ELSEWHERE = {
    "/brain",
    *(
        f"{_TENANT}/{end}"
        for end in ("changes", "commands/{commandId}", "documents", "documents/{path}", "audit")
    ),
}
"""Reads whose own tests hold what each role may."""


@pytest.fixture(scope="module")
def client(api: RunningApi) -> httpx.Client:
    """One that says by itself who it is."""
    return api.client(None)


def ask(
    client: httpx.Client, asked: Asked, headers: Mapping[str, str], tenant: str = "acme"
) -> httpx.Response:
    path = re.sub(r"{(\w+)}", lambda found: tenant if found[1] == "tenant" else "nobody-knows", asked.path)
    address = f"{path}?{asked.query}" if asked.query else path
    return client.request(asked.method, address, headers=headers, json=asked.body)


def told(asked: Asked) -> str:
    return f"{asked.method} {asked.path} {asked.query}"


@pytest.mark.parametrize("asked", ASKED, ids=told)
def test_each_role_is_refused_as_the_table_says(client: httpx.Client, asked: Asked) -> None:
    statuses = {role: ask(client, asked, bearer("acme", role)).status_code for role in Role}
    assert {role: status == 403 for role, status in statuses.items()} == {
        role: role.rank < asked.least.rank for role in Role
    }
    assert set(statuses.values()) <= {200, 403, 404}


def operations(client: httpx.Client) -> list[Asked]:
    """Every route that there is, asked without what it needs."""
    paths = client.get("/openapi.json").json()["paths"]
    return [
        Asked(method.upper(), path, Role.ADMIN, body=None if method == "get" else {})
        for path, methods in paths.items()
        for method in methods
    ]


def test_every_route_that_reads_stands_in_the_table(client: httpx.Client) -> None:
    reads = {one.path for one in operations(client) if one.method == "GET"}
    assert reads - {one.path for one in ASKED} <= ELSEWHERE


def test_no_route_answers_whoever_brings_no_token_that_counts(client: httpx.Client) -> None:
    admin = secret_of("acme", USERS[Role.ADMIN])
    strangers = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {admin[:-1]}"},
        {"Authorization": f"Bearer {secret_of('acme', 'past')}"},
        {"Authorization": f"Basic {admin}"},
        {"Authorization": admin},
    ]
    for asked in operations(client):
        for headers in strangers:
            answer = ask(client, asked, headers)
            assert answer.status_code == 401, told(asked)
            assert answer.headers["www-authenticate"].startswith("Bearer")


def test_no_route_tells_whether_there_is_another_tenant(client: httpx.Client) -> None:
    for asked in operations(client):
        if "{tenant}" not in asked.path:
            continue
        for role in Role:
            answers = [ask(client, asked, bearer("acme", role), tenant) for tenant in ("globex", "no-such")]
            assert [answer.status_code for answer in answers] == [404, 404], told(asked)
            assert answers[0].content == answers[1].content

"""Every route that writes, asked by each role: refused exactly where the table says so."""

from typing import Any, NamedTuple

import pytest

from agrajag.api.permissions import Role
from agrajag.documents.cascade import RULES_PATH
from tests.api.running import RunningApi
from tests.documents.texts import a_rule_file

OVERRIDE = {"status": "DOWN", "reason": "moving house"}
ERROR = {"toolName": "search", "error": {"httpStatus": 403}}
SUCCESS = {"toolName": "search"}
LINK = {"kind": "mcp_closed", "linkId": "mcp", "connectionId": "1", "seq": 1, "toolNames": ["search"]}

SHARED = [(Role.OPERATOR, {"scope": "TENANT"}), (Role.OPERATOR, {"scope": "GLOBAL"})]
SHARED += [(Role.OPERATOR, {"scope": scope, "scopeId": "s"}) for scope in ("PROJECT", "SESSION")]
ANOTHERS = (Role.ADMIN, {"scope": "USER", "scopeId": "bob"})


class Asked(NamedTuple):
    """A request, and the least role that is not refused."""

    method: str
    path: str
    least: Role
    query: dict[str, str]
    body: Any = None


ASKED = [
    *(
        Asked(method, "tools/written/override", least, query, OVERRIDE if method == "PUT" else None)
        for method in ("PUT", "DELETE")
        for least, query in [*SHARED, (Role.OPERATOR, {"scope": "USER"}), ANOTHERS]
    ),
    *(
        Asked(method, path.format(number), least, query)
        for method, path in (("DELETE", "tools/written-{}/cooldowns"), ("POST", "tools/written-{}/recheck"))
        for number, (least, query) in enumerate([*SHARED, (Role.READER, {"scope": "USER"}), ANOTHERS])
    ),
    Asked("POST", "reports/errors", Role.OPERATOR, {}, ERROR),
    Asked("POST", "reports/successes", Role.OPERATOR, {}, SUCCESS),
    Asked("POST", "reports/links", Role.OPERATOR, {}, LINK),
    Asked("POST", "rules/explain", Role.READER, {}, ERROR),
    Asked("PUT", f"documents/{RULES_PATH}", Role.ADMIN, {"projectId": "written"}, a_rule_file("a")),
    Asked("DELETE", f"documents/{RULES_PATH}", Role.ADMIN, {"projectId": "written"}),
    Asked("GET", "audit", Role.ADMIN, {}),
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join([*asked[:2], *asked.query.values()]))
def test_each_role_writes_what_the_table_says_and_no_more(api: RunningApi, asked: Asked) -> None:
    sent = {"content": asked.body} if isinstance(asked.body, str) else {"json": asked.body}
    statuses = {
        role: api.client(role=role)
        .request(asked.method, f"/brain/acme/{asked.path}", params=asked.query, **sent)
        .status_code
        for role in Role
    }
    refused = {role: status == 403 for role, status in statuses.items()}
    assert refused == {role: role.rank < asked.least.rank for role in Role}
    assert set(statuses.values()) <= {200, 202, 403}


def test_what_somebody_asked_is_told_to_them_and_to_those_who_may_see_the_document(api: RunningApi) -> None:
    clear = {"scope": "USER", "scopeId": "rita"}
    done = api.client().delete("/brain/acme/tools/told/cooldowns", params=clear).json()
    where = f"/brain/acme/commands/{done['command']['commandId']}"
    statuses = {role: api.client(role=role).get(where).status_code for role in Role}
    assert statuses == {Role.READER: 200, Role.OPERATOR: 404, Role.ADMIN: 200}
    assert api.client("globex").get(where).status_code == 404


@pytest.mark.parametrize("name", ["%00", "a%0Ab", "%E2%80%AEx", "x" * 257])
def test_a_name_that_nobody_could_have_is_refused_by_every_write(api: RunningApi, name: str) -> None:
    client = api.client()
    answers = [
        client.put(f"/brain/acme/tools/{name}/override", json=OVERRIDE),
        client.post(f"/brain/acme/tools/{name}/recheck"),
        client.delete(f"/brain/acme/tools/search/cooldowns?scope=USER&scopeId={name}"),
        client.get(f"/brain/acme/commands/{name}"),
        client.post(f"/brain/acme/inbox/{name}/dismiss"),
    ]
    assert [one.status_code for one in answers] == [422] * len(answers)

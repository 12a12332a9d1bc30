"""Reports, documents and explanations over HTTP: what is answered, Kafka has; what is wrong is refused whole."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest

from agrajag.api.app import create_app
from agrajag.api.commanding import Commanding
from agrajag.api.parts import Parts
from agrajag.api.permissions import Role
from agrajag.api.store_access import StoreAccess
from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH
from agrajag.metrics import API_KEYS_UNCHECKED
from agrajag.model.answers import Document
from agrajag.wire.asking import Asker
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic, Topics
from tests.api.running import RunningApi, bearer
from tests.documents.texts import a_rule_file
from tests.kafka_reading import read_all
from tests.service.topics import make_topics
from tests.wire.records import counting

ERROR: dict[str, Any] = {"toolName": "search", "userId": "rita", "error": {"httpStatus": 503}}
SUCCESS = {"toolName": "search"}
LINK = {"kind": "mcp_closed", "linkId": "mcp", "connectionId": "1", "seq": 1, "toolNames": ["search"]}
OVERRIDE = {"status": "DOWN", "reason": "moving house"}


def records(api: RunningApi, topic: Topic) -> list[Any]:
    return api.run(read_all(api.parts.connection.bootstrap_servers, api.parts.topics.name(topic)))


@pytest.mark.parametrize(
    ("kind", "event", "topic"),
    [
        ("errors", ERROR, Topic.TOOL_CALL_ERRORS),
        ("successes", SUCCESS, Topic.TOOL_CALL_SUCCESSES),
        ("links", LINK, Topic.SYSTEM_EVENTS),
    ],
)
def test_what_is_reported_is_on_its_topic_once_it_is_answered(
    api: RunningApi, kind: str, event: dict[str, Any], topic: Topic
) -> None:
    client = api.client(role=Role.OPERATOR)
    answer = client.post(f"/brain/acme/reports/{kind}", json={"events": [event, event | {"eventId": "mine"}]})
    assert answer.status_code == 202, answer.text
    ids = answer.json()["eventIds"]
    assert ids[1] == "mine"
    found = [json.loads(record.value) for record in records(api, topic)]
    assert [one["eventId"] for one in found if one["eventId"] in ids] == ids
    assert {one["tenantId"] for one in found} == {"acme"}
    assert api.client(role=Role.READER).post(f"/brain/acme/reports/{kind}", json=event).status_code == 403
    assert client.post(f"/brain/globex/reports/{kind}", json=event).status_code == 404
    assert len(records(api, topic)) == len(found)


def test_a_report_that_is_repeated_under_its_key_is_the_same_events(api: RunningApi) -> None:
    client = api.client(role=Role.OPERATOR)
    answers = [
        client.post(
            "/brain/acme/reports/errors",
            json={"events": [ERROR, ERROR]},
            headers={"Idempotency-Key": "batch-7"},
        ).json()["eventIds"]
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(set(answers[0])) == 2


def test_one_bad_event_refuses_the_whole_batch_and_nothing_of_it_is_sent(api: RunningApi) -> None:
    before = len(records(api, Topic.TOOL_CALL_ERRORS))
    answer = api.client(role=Role.OPERATOR).post(
        "/brain/acme/reports/errors", json={"events": [ERROR, {"toolName": "search"}]}
    )
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == ["body.events.1.error"]
    assert len(records(api, Topic.TOOL_CALL_ERRORS)) == before


def test_a_document_is_put_once_removed_once_and_says_who_put_it(api: RunningApi) -> None:
    client, url = api.client(), f"/brain/acme/documents/{RULES_PATH}"
    before = len(records(api, Topic.DOCUMENTS))

    def put(text: str) -> httpx.Response:
        return client.put(url, params={"projectId": "put-once"}, content=text)

    actions = [
        put(a_rule_file("mine")).json()["action"],
        put(a_rule_file("mine")).json()["action"],
        client.put(
            url.replace("/_vance/agrajag/", "/_vance%2Fagrajag%2F"), content=a_rule_file("of-all")
        ).json()["action"],
        put(a_rule_file("other")).json()["action"],
        *(client.delete(url, params={"projectId": "put-once"}).json()["action"] for _ in range(2)),
    ]
    assert actions == ["added", "unchanged", "added", "changed", "removed", "unchanged"]
    found = [record.value for record in records(api, Topic.DOCUMENTS)[before:]]
    assert [value is None for value in found] == [False, False, False, True]
    documents = [Document.from_json(value) for value in found if value is not None]
    assert [(one.project_id, one.path, one.by) for one in documents] == [
        ("put-once", RULES_PATH, "ada"),
        (None, RULES_PATH, "ada"),
        ("put-once", RULES_PATH, "ada"),
    ]


def test_a_document_with_a_fault_is_refused_with_every_fault_and_never_written(api: RunningApi) -> None:
    before = len(records(api, Topic.DOCUMENTS))
    bad = "patterns:\n- {id: a, match: {}, signature: a, classification: WORKING}\n- {id: b}\n"
    answer = api.client().put(f"/brain/acme/documents/{RULES_PATH}", content=bad)
    assert answer.status_code == 409
    assert len(answer.json()["errors"]) >= 2
    assert any("'b'" in one["field"] for one in answer.json()["errors"])
    for path, content in ((SETTINGS_PATH, b"\xff"), (SETTINGS_PATH, b"{"), ("etc/passwd", b"a: b")):
        assert api.client().put(f"/brain/acme/documents/{path}", content=content).status_code == 409
    operator = api.client(role=Role.OPERATOR)
    assert operator.put(f"/brain/acme/documents/{RULES_PATH}", content=a_rule_file("x")).status_code == 403
    assert operator.delete(f"/brain/acme/documents/{RULES_PATH}").status_code == 403
    assert len(records(api, Topic.DOCUMENTS)) == before


def test_an_error_is_explained_by_the_rules_in_force_for_its_project(api: RunningApi) -> None:
    reader = api.client(role=Role.READER)
    error = {"toolName": "search", "projectId": "essays", "userId": "rita", "error": {"httpStatus": 403}}
    told = reader.post("/brain/acme/rules/explain", json=error).json()
    assert told["rules"][0]["decides"] is True
    assert told["rules"][0]["classification"] == "USER_PERMISSION"
    assert (told["answer"]["toolName"], told["cooldown"]) == ("search", "P1D")
    assert any("cooldown" in line for line in told["words"])
    assert reader.post("/brain/acme/rules/explain?standing=true", json=error).status_code == 200
    others = error | {"userId": "otto"}
    assert reader.post("/brain/acme/rules/explain?standing=true", json=others).status_code == 403
    assert reader.post("/brain/acme/rules/explain", json=error | {"tenantId": "globex"}).status_code == 422


def test_without_a_worker_it_is_said_where_to_see_what_becomes_of_the_command(
    api: RunningApi, topic_prefix: str
) -> None:
    topics = Topics(topic_prefix, partitions=1)

    async def asked() -> tuple[httpx.Response, httpx.Response]:
        await make_topics(api.parts.connection, topics)
        values = replace(api.parts.values, command_wait_seconds=0.2)
        async with served(api.parts, api.parts.connection, topics=topics, values=values) as client:
            answer = await client.put("/brain/acme/tools/search/override", json=OVERRIDE)
            return answer, await client.get(answer.headers["Location"])

    answer, told = api.run(asked())
    assert (answer.status_code, answer.json()["missing"]) == (503, "worker")
    assert (told.json()["asked"]["reason"], told.json().get("command")) == ("moving house", None)


def test_without_a_broker_every_write_says_that_kafka_is_what_is_missing(api: RunningApi) -> None:
    async def asked() -> list[httpx.Response]:
        async with served(api.parts, KafkaConnection("127.0.0.1:1")) as client:
            return [
                await client.put("/brain/acme/tools/mail/override", json=OVERRIDE),
                await client.post("/brain/acme/reports/errors", json=ERROR),
                await client.put(f"/brain/acme/documents/{RULES_PATH}", content=a_rule_file("x")),
                await client.delete(f"/brain/acme/documents/{RULES_PATH}"),
            ]

    answers = api.run(asked())
    assert [(one.status_code, one.json().get("missing")) for one in answers] == [(503, "kafka")] * 4
    assert [one.headers["retry-after"] for one in answers] == ["5"] * 4


def test_without_a_store_commands_go_on_and_what_needs_it_says_that_it_is_missing(api: RunningApi) -> None:
    async def asked() -> list[httpx.Response]:
        store = StoreAccess("mongodb://127.0.0.1:1", "away")
        async with served(api.parts, api.parts.connection, store=store) as client:
            named = {"Idempotency-Key": "no-store"}
            url = "/brain/acme/tools/unmirrored/override"
            return [
                *[await client.put(url, json=OVERRIDE, headers=named) for _ in range(2)],
                await client.get("/brain/acme/audit"),
                await client.get("/brain/acme/commands/api-unknown"),
                await client.post("/brain/acme/inbox/any/dismiss"),
            ]

    with counting(API_KEYS_UNCHECKED) as unchecked:
        first, second, *lacking = api.run(asked())
        assert unchecked() == 1
    assert first.json()["command"]["outcome"] == "APPLIED"
    assert second.json()["command"] == first.json()["command"]
    assert [(one.status_code, one.json().get("missing")) for one in lacking] == [(503, "store")] * 3


@asynccontextmanager
async def served(
    parts: Parts, connection: KafkaConnection, **changes: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """An admin's client of another API over the same parts, which writes over this connection."""
    changed = replace(parts, connection=connection, **changes)
    async with (
        Sender(connection, changed.topics, answer_seconds=2.0) as sender,
        Asker(connection, changed.topics, sender, source="agrajag/test") as asker,
    ):
        commanding = Commanding(asker, changed.store)
        app = create_app(replace(changed, sender=sender, asker=asker, commanding=commanding))
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://127.0.0.1",
            headers=bearer("acme", Role.ADMIN),
        ) as client:
            yield client

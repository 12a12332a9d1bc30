"""What people ask of health documents over HTTP: carried out by a real worker, and once, however often it is asked."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest
from aiokafka import AIOKafkaConsumer

from agrajag.api.parts import Parts
from agrajag.api.permissions import Role
from agrajag.api.running import make_parts
from agrajag.api.store_access import StoreAccess
from agrajag.clock import utc_now
from agrajag.core.policy import Policy
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.metrics import API_REFUSALS, API_REPEATS
from agrajag.model.answers import HealthCommand, InboxItem
from agrajag.model.enums import Classification, ProbeIdentity, Scope
from agrajag.model.jobs import DiagnosisJob, Evidence
from agrajag.wire.outputs import Output
from agrajag.wire.reports import report_output
from agrajag.wire.sending import Sender
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi, running_api
from tests.builders import a_result, an_error, evidence
from tests.kafka_reading import read_all
from tests.waiting import eventually_blocking
from tests.wire.records import counting


def commands_of(api: RunningApi, tool: str) -> list[HealthCommand]:
    """What was sent to the workers about a tool."""
    name = api.parts.topics.name(Topic.HEALTH_COMMANDS)
    records = api.run(read_all(api.parts.connection.bootstrap_servers, name))
    commands = [HealthCommand.from_json(record.value) for record in records if record.value != b"{}"]
    return [command for command in commands if command.tool_name == tool]


def fail(api: RunningApi, tool: str, user: str = "rita", **report: Any) -> None:
    """The tool fails for a user of acme, now."""
    error = an_error(tool_name=tool, user_id=user, occurred_at=utc_now(), **({"http_status": 403} | report))
    api.send(report_output(api.parts.topics, error, f"{tool}-{user}", "agrajag/test"))


def calling(client: httpx.Client, tool: str, **scope: str) -> Any:
    """Clears nothing, and shows by that what is cooling down."""
    answer = client.delete(
        f"/brain/acme/tools/{tool}/cooldowns", params={"errorSignature": "none-such", **scope}
    )
    assert answer.status_code == 200, answer.text
    return (answer.json()["health"] or {}).get("calling")


@contextmanager
def diagnosed(api: RunningApi, *probes: Evidence, **said: Any) -> Iterator[list[DiagnosisJob]]:
    """The test plays the diagnosis, which finds every tool broken unless something else is said."""
    jobs: list[DiagnosisJob] = []
    context = _diagnosis(api, jobs, probes or (evidence(), evidence(ProbeIdentity.USER)), said)
    api.run(context.__aenter__())
    try:
        yield jobs
    finally:
        api.run(context.__aexit__(None, None, None))


@asynccontextmanager
async def _diagnosis(
    api: RunningApi, jobs: list[DiagnosisJob], probes: tuple[Evidence, ...], said: dict[str, Any]
) -> AsyncIterator[None]:
    connection, topics = api.parts.connection, api.parts.topics

    async def work() -> None:
        name = topics.name(Topic.DIAGNOSIS_JOBS)
        options = connection.client_options() | {"auto_offset_reset": "earliest"}
        async with AIOKafkaConsumer(name, **options) as consumer, Sender(connection, topics) as sender:
            async for record in consumer:
                job = DiagnosisJob.from_json(record.value)
                jobs.append(job)
                now = utc_now()
                seen = tuple(probe.with_changes(at=now) for probe in probes)
                result = a_result(job, at=now, evidence=seen, **said)
                key = f"{job.tenant_id}|{job.tool_name}".encode()
                await sender.send([Output(topics.name(Topic.DIAGNOSIS_RESULTS), key, result.to_json())])

    working = asyncio.create_task(work())
    try:
        yield
    finally:
        working.cancel()
        await asyncio.wait([working])


def test_an_override_stands_until_it_is_lifted_and_says_who_and_why(api: RunningApi) -> None:
    client = api.client(role=Role.OPERATOR)
    place = {"scope": "PROJECT", "scopeId": "essays"}
    body = {"status": "DOWN", "reason": "moving house", "duration": "PT2H"}
    url = "/brain/acme/tools/a%2Fb/override"
    answer = client.put(url, params=place, json=body)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["command"]["outcome"] == "APPLIED"
    assert told["health"]["status"] == "DOWN"
    assert told["health"]["health"]["revision"] == told["command"]["revision"]
    facet = told["health"]["health"]["override"]
    assert (facet["by"], facet["reason"]) == ("otto", "moving house")
    lifted = client.delete(url, params={**place, "reason": "moved"}).json()
    assert (lifted["command"]["outcome"], lifted["health"]["status"]) == ("APPLIED", "OK")
    again = client.delete(url, params=place)
    assert (again.status_code, again.json()["command"]["outcome"]) == (200, "NOTHING_MATCHED")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"status": "DOWN"}, "body.reason"),
        ({"status": "DOWN", "reason": "  "}, "body.reason"),
        ({"status": "BROKEN", "reason": "x"}, "body.status"),
        ({"status": "DOWN", "reason": "x", "untill": "2030-01-01T00:00:00Z"}, "body.untill"),
        ({"status": "DOWN", "reason": "x", "tenantId": "globex"}, "body.tenantId"),
        ({"status": "DOWN", "reason": "x", "until": 12}, "body.until"),
        ([], "body"),
    ],
)
def test_an_override_that_cannot_be_meant_is_refused_by_field_and_never_sent(
    api: RunningApi, body: Any, field: str
) -> None:
    answer = api.client().put("/brain/acme/tools/unsaid/override", params={"scope": "TENANT"}, json=body)
    assert answer.status_code == 422, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == [field]


@pytest.mark.parametrize(
    "times",
    [
        {"until": "2030-01-01T00:00:00Z", "duration": "PT1H"},
        {"until": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_an_end_that_there_cannot_be_is_refused_and_never_sent(
    api: RunningApi, times: dict[str, str]
) -> None:
    body = {"status": "DOWN", "reason": "x", **times}
    answer = api.client().put("/brain/acme/tools/endless/override", json=body)
    assert answer.status_code == 409, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == ["body.until"]
    assert commands_of(api, "endless") == []


def test_what_a_worker_refuses_is_a_conflict_with_its_reason(api: RunningApi) -> None:
    past = {"status": "DOWN", "reason": "x", "until": "2020-01-01T00:00:00Z"}
    answer = api.client().put("/brain/acme/tools/late/override", params={"scope": "GLOBAL"}, json=past)
    assert (answer.status_code, answer.json()["detail"]) == (409, "until: is over")


@pytest.mark.parametrize(
    ("scope", "status", "told"),
    [
        ({"scope": "TENANT", "scopeId": "globex"}, 404, "query.scopeId: is not the tenant's"),
        ({"scope": "GLOBAL", "scopeId": "acme"}, 404, "query.scopeId: GLOBAL has none"),
        ({"scope": "PROJECT"}, 404, "query.scopeId: a PROJECT has one"),
        ({"scop": "USER"}, 422, "query.scop: Extra inputs are not permitted"),
    ],
)
def test_a_scope_that_does_not_fit_is_refused(
    api: RunningApi, scope: dict[str, str], status: int, told: str
) -> None:
    answer = api.client().post("/brain/acme/tools/search/recheck", params=scope)
    assert (answer.status_code, answer.json()["detail"]) == (status, told)


def test_a_reader_clears_what_is_paused_for_themselves_and_the_audit_knows(api: RunningApi) -> None:
    fail(api, "cleared")
    reader, admin = api.client(role=Role.READER), api.client()
    eventually_blocking(lambda: calling(reader, "cleared", scope="USER"))
    clear = {"scope": "USER", "reason": "renewed"}
    done = reader.delete("/brain/acme/tools/cleared/cooldowns", params=clear).json()
    assert (done["command"]["outcome"], done["health"]["calling"]) == ("APPLIED", [])
    again = reader.delete("/brain/acme/tools/cleared/cooldowns", params=clear).json()
    assert again["command"]["outcome"] == "NOTHING_MATCHED"
    for whose in (
        {"scope": "USER", "scopeId": "otto"},
        {"scope": "TENANT"},
        {"scope": "SESSION", "scopeId": "s"},
    ):
        refused = reader.delete("/brain/acme/tools/cleared/cooldowns", params=whose)
        assert refused.status_code == 403
    name = done["command"]["commandId"]

    def audited() -> Any:
        items = admin.get("/brain/acme/audit").json()["items"]
        return next((one for one in items if one["asked"]["commandId"] == name and one.get("command")), None)

    item = eventually_blocking(audited)
    assert (item["asked"]["by"], item["asked"]["reason"]) == ("rita", "renewed")
    assert item["command"]["outcome"] == "APPLIED"
    assert reader.get("/brain/acme/audit").status_code == 403
    others = api.client("globex").get("/brain/globex/audit").json()["items"]
    assert name not in {one["asked"]["commandId"] for one in others}


def test_a_request_that_is_repeated_under_its_key_does_nothing_twice(api: RunningApi) -> None:
    client = api.client(role=Role.OPERATOR)
    body = {"status": "DEGRADED", "reason": "slow"}

    def put(reason: str = "slow", key: str = "one", who: httpx.Client = client) -> httpx.Response:
        return who.put(
            "/brain/acme/tools/repeated/override",
            params={"scope": "TENANT"},
            json=body | {"reason": reason},
            headers={"Idempotency-Key": key},
        )

    first = put().json()
    client.delete("/brain/acme/tools/repeated/override", params={"scope": "TENANT"})
    with counting(API_REPEATS) as repeats:
        second = put().json()
        assert repeats() == 1
    assert second["command"] == first["command"]
    assert second["health"]["status"] == "OK"  # it was lifted since, and is not set again
    assert len(commands_of(api, "repeated")) == 2
    other = put(reason="another")
    assert (other.status_code, "Idempotency-Key" in other.json()["detail"]) == (422, True)
    assert put(key="two").json()["command"] != first["command"]
    assert put(who=api.client()).json()["command"] != first["command"]  # a key is a user's own


def test_another_api_process_knows_what_was_asked_under_a_key(
    api: RunningApi, kafka: EmbeddedKafka, store: EmbeddedStore
) -> None:
    def put(one: RunningApi) -> Any:
        return (
            one.client()
            .put(
                "/brain/acme/tools/shared/override",
                params={"scope": "TENANT"},
                json={"status": "DOWN", "reason": "x"},
                headers={"Idempotency-Key": "shared"},
            )
            .json()
        )

    first = put(api)
    name = first["command"]["commandId"]
    commands = api.parts.store

    async def stored() -> bool:
        found = await (await commands.opened()).commands.find("acme", name)
        return found is not None and found.result is not None

    eventually_blocking(lambda: api.run(stored()))

    def beside(_parts: Parts) -> Parts:
        return make_parts(
            api.parts.connection,
            api.parts.topics,
            store=StoreAccess(store.uri, api.parts.topics.prefix.replace("-", "_")),
            tokens=api.parts.tokens,
            values=api.parts.values,
            defaults=Policy(),
        )

    with running_api(kafka.bootstrap_servers, change=beside) as other:
        assert put(other)["command"] == first["command"]
        seen = other.client().get(f"/brain/acme/commands/{name}").json()
        assert (seen["command"], seen["asked"]["by"]) == (first["command"], "ada")
        assert other.client("globex").get(f"/brain/globex/commands/{name}").status_code == 404
    assert len(commands_of(api, "shared")) == 1


def test_a_recheck_waits_for_the_end_of_its_job_and_is_one_job_however_often_it_is_sent(
    api: RunningApi,
) -> None:
    client = api.client(role=Role.OPERATOR)
    place = {"scope": "PROJECT", "scopeId": "essays", "reason": "is it back?"}
    named = {"Idempotency-Key": "recheck-1"}
    url = "/brain/acme/tools/rechecked/recheck"
    waiting = client.post(url, params=place, headers=named)
    assert waiting.status_code == 202, waiting.text
    where = waiting.headers["Location"]
    assert client.get(where).json().get("end") is None
    with diagnosed(api) as jobs:
        end = eventually_blocking(lambda: client.get(where).json().get("end"))
        assert (end["verdict"], end["applied"]) == ("TECHNICALLY_BROKEN", True)
        again = client.post(url, params=place, headers=named)
        assert (again.status_code, again.json()["health"]["status"]) == (200, "DOWN")
        assert again.json()["command"] == waiting.json()["command"]
        assert [
            (job.originating_user_id, job.error_detail) for job in jobs if job.tool_name == "rechecked"
        ] == [("otto", "is it back?")]


def test_another_users_document_is_rechecked_by_admins_alone_and_as_the_system(api: RunningApi) -> None:
    url, whose = "/brain/acme/tools/hers/recheck", {"scope": "USER", "scopeId": "rita"}
    assert api.client(role=Role.OPERATOR).post(url, params=whose).status_code == 403
    assert api.client().post(url, params=whose).status_code == 202
    assert (
        api.client(role=Role.READER).post("/brain/acme/tools/mine/recheck", params=whose).status_code == 202
    )
    assert [(one.by, one.user_id) for one in commands_of(api, "hers")] == [("ada", None)]
    assert [(one.by, one.user_id) for one in commands_of(api, "mine")] == [("rita", "rita")]


def test_who_rechecks_a_tool_very_often_is_told_when_to_come_again(api: RunningApi) -> None:
    client, url = api.client(role=Role.READER), "/brain/acme/tools/often/recheck"
    answers = [client.post(url, params={"scope": "USER"}) for _ in range(3)]
    assert {one.status_code for one in answers} <= {200, 202}
    with counting(API_REFUSALS, type="too-many") as refused:
        limited = client.post(url, params={"scope": "USER"})
        assert refused() == 1
    assert limited.status_code == 429
    assert 1 <= int(limited.headers["Retry-After"]) <= 20
    assert api.client().post(url, params={"scope": "TENANT"}).status_code in {200, 202}
    other = client.post("/brain/acme/tools/seldom/recheck", params={"scope": "USER"})
    assert other.status_code in {200, 202}


def test_who_makes_up_names_of_tools_to_recheck_comes_to_an_end(api: RunningApi) -> None:
    while not api.parts.rechecks_in_all.wait_seconds("globex", "rita"):
        pass  # as many of other tools
    client = api.client("globex", Role.READER)
    limited = client.post("/brain/globex/tools/made-up/recheck", params={"scope": "USER"})
    assert (limited.status_code, "Retry-After" in limited.headers) == (429, True)


def test_a_message_is_dismissed_by_its_user_once_and_by_no_other_user(api: RunningApi) -> None:
    reader = api.client(role=Role.READER)
    mine = {"scope": "USER"}
    probes = (
        evidence(ProbeIdentity.USER, status_code=401, error_signature="http-401"),
        evidence(ProbeIdentity.SYSTEM, success=True),
    )
    with diagnosed(api, *probes, classification=Classification.USER_SPECIFIC_TECHNICAL, wanted=Scope.USER):
        reader.post("/brain/acme/tools/messaged/recheck", params=mine)

        def messages() -> Any:
            store = api.parts.store

            async def listed() -> list[InboxItem]:
                items = await (await store.opened()).inbox.open_items("acme", "rita")
                return [item for item in items if item.tool_name == "messaged"]

            return api.run(listed())

        (item,) = eventually_blocking(messages)
    url = f"/brain/acme/inbox/{item.item_id}/dismiss"
    for other in (api.client(role=Role.OPERATOR), api.client("globex")):
        assert other.post(url).status_code == 404
    assert api.client("globex").post(url.replace("acme", "globex")).status_code == 404
    outcomes = [reader.post(url).json()["command"]["outcome"] for _ in range(2)]
    assert outcomes == ["APPLIED", "NOTHING_MATCHED"]
    assert reader.post("/brain/acme/inbox/none-such/dismiss").status_code == 404

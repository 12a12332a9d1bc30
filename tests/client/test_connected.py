"""A client carries its parts, waits for nothing but its beginning and end, and goes on where the brokers are away."""

import subprocess
import sys
import time

import httpx
import pytest
from aiokafka import AIOKafkaProducer

import agrajag.client
from agrajag.client import Agrajag, Decision, GuardPolicy, KafkaConnection, ToolRefused
from agrajag.clock import utc_now
from agrajag.documents.cascade import RULES_PATH, DocumentName
from agrajag.documents.records import a_document, document_output
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import PermanentError
from agrajag.metrics import CLIENT_DEGRADED
from agrajag.model.enums import Classification, Outcome, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.clients import admin_client
from agrajag.wire.outputs import Output
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_health, an_error
from tests.client.reporting import Place
from tests.waiting import eventually
from tests.wire.records import counting

_HEAVY = (
    "anthropic",
    "bson",
    "faust",
    "fastapi",
    "httpx2",
    "langchain",
    "mcp",
    "pymongo",
    "starlette",
    "uvicorn",
)
_RULES = """
patterns:
  - id: queue-is-full
    match: { bodyContains: ["queue is full"] }
    signature: queue-is-full
    classification: INTERMITTENT
"""


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    place = Place(KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=2))
    async with admin_client(place.connection) as admin:
        await ensure_topics(admin, place.topics)
    return place


async def _send(place: Place, *outputs: Output) -> None:
    async with AIOKafkaProducer(**place.connection.producer_options()) as producer:
        for output in outputs:
            await producer.send_and_wait(output.topic, output.value, output.key, headers=list(output.headers))


def _told(place: Place, health: ToolHealth) -> Output:
    key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()
    return Output(place.topics.name(Topic.HEALTH_CHANGED), key, health.to_json())


async def test_a_service_knows_what_is_known_and_tells_what_its_tools_do(place: Place) -> None:
    down = a_health(status=Status.DOWN)
    rules = a_document(DocumentName("acme", None, RULES_PATH), _RULES, 1, NOW)
    await _send(place, _told(place, down), document_output(place.topics.name(Topic.DOCUMENTS), rules))
    connected = Agrajag.connect(
        place.connection,
        tenant="acme",
        own=GuardPolicy(refuse_down=True),
        topics_prefix=place.topics.prefix,
        wait_seconds=60,
    )
    async with connected as agrajag:
        assert agrajag.missing == ()
        call = agrajag.call("search", project="essays", user="alice")
        assert agrajag.view.documents_of(call.caller, "search") == [down]
        checked = agrajag.guard.check(an_error(body="The queue is full."))
        assert (checked.rule_id, checked.classification) == ("queue-is-full", Classification.INTERMITTENT)
        assert agrajag.ask(agrajag.call("fetch")).decision is Decision.ALLOW
        with pytest.raises(ValueError, match="not found"), agrajag.watch("fetch", user="alice"):
            raise ValueError("not found")
        async with agrajag.watch(call) as watched:
            watched.result("well again")
    (error,), (success,) = await place.errors(), await place.successes()
    assert (error.tool_name, error.user_id, error.error.message) == ("fetch", "alice", "not found")
    assert (success.tool_name, success.project_id) == ("search", "essays")
    with pytest.raises(PermanentError):
        await agrajag.start_async()


def test_where_the_brokers_are_away_everything_is_allowed_and_it_says_so() -> None:
    away = "127.0.0.1:1"
    with counting(CLIENT_DEGRADED) as degraded:
        began = time.monotonic()
        with Agrajag.connect(
            away, tenant="acme", own=GuardPolicy(refuse_down=True), wait_seconds=0.1
        ) as client:
            assert degraded() == 1
            assert client.missing == ("health", "documents")
            call = client.call("search")
            assert client.guard.ask(call).decision is Decision.ALLOW
            checked = client.guard.check(an_error(http_status=503, occurred_at=utc_now()))
            assert checked.outcome is Outcome.ENQUEUED, "the bundled rules hold"
            client.start()
            assert degraded() == 1

            @client.guarded(user="alice")
            def look_up() -> str:
                raise httpx.ConnectError("All connection attempts failed")

            with pytest.raises(httpx.ConnectError):
                look_up()
            with pytest.raises(ToolRefused, match="look_up was not called"):
                look_up()
            with client.watch("other"), pytest.raises(httpx.ConnectError):
                raise httpx.ConnectError("it is caught, so the call has worked")
            assert client.ask(client.call("other")).is_allowed
        assert time.monotonic() - began < 30


async def test_topics_that_are_made_later_are_read_then(kafka: EmbeddedKafka, topic_prefix: str) -> None:
    connection, topics = KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=2)
    connected = Agrajag.connect(connection, tenant="acme", topics_prefix=topic_prefix, wait_seconds=0.1)
    async with connected as agrajag:
        assert agrajag.missing == ("health", "documents")
        async with admin_client(connection) as admin:
            await ensure_topics(admin, topics)
        await eventually(lambda: not agrajag.missing, 60)


def test_the_client_is_light_and_every_name_of_it_is_there() -> None:
    program = (
        "import sys; import agrajag.client as client\n"
        "assert len([name for name in sys.modules if name.startswith('agrajag')]) <= 2, 'nothing before it is used'\n"
        "[getattr(client, name) for name in client.__all__]\n"
        f"print(sorted(set(sys.modules) & set({_HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert set(agrajag.client.__all__) == set(dir(agrajag.client))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        agrajag.client.nothing  # noqa: B018

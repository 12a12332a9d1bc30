"""Declared tools of MCP servers and of other services, probed as a run of a diagnosis does it."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import NewTopic

from agrajag.core.targets import TargetKind
from agrajag.diagnosis.adapter import TargetAdapter
from agrajag.diagnosis.credentials import CredentialStore
from agrajag.diagnosis.kafka_target import KafkaAdapter
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.probing import Probes
from agrajag.diagnosis.targets import Targets
from agrajag.documents.cascade import Cascade
from agrajag.documents.rule_files import bundled_rules
from agrajag.documents.target_book import TargetBook
from agrajag.embedded import EmbeddedKafka
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topics import Topics
from tests.builders import NOW
from tests.diagnosis.carrying import LOOPBACK
from tests.diagnosis.mcp_servers import Answer, Between, hang, serving, status, tools
from tests.diagnosis.probe_cases import a_cascade, a_request, as_user, made, tools_text
from tests.diagnosis.test_mcp_servers import instead_of, older


def probes(cascade: Cascade, kafka: KafkaAdapter | None = None, mcp: McpAdapter | None = None) -> Probes:
    adapters: dict[TargetKind, TargetAdapter] = {TargetKind.MCP: mcp or McpAdapter(LOOPBACK)}
    if kafka is not None:
        adapters[TargetKind.KAFKA] = kafka
    rules = bundled_rules()
    book = TargetBook(cascade)
    return Probes(
        Targets(lambda: book), lambda _tenant, _project: rules, CredentialStore(), adapters, lambda: NOW
    )


def mcp_tool(url: str, tool: str) -> Cascade:
    mcp = {"url": f"{url}/mcp", "tool": tool, "callTool": True}
    return a_cascade(tools_text(search={"safety": "SAFE_PROBE", "sampleInput": {"q": "tea"}, "mcp": mcp}))


@pytest.mark.parametrize(
    ("method", "answer", "status_code", "signature"),
    [
        ("tools/list", status(503), 503, "http-5xx"),
        ("tools/call", status(401), 401, "http-401"),
        ("tools/list", status(404), 404, "http-404"),
        ("tools/call", hang, None, "timeout"),
    ],
)
async def test_a_failing_mcp_server_has_a_signature_of_layer_1(
    method: str, answer: Answer, status_code: int | None, signature: str
) -> None:
    async with serving(Between(tools().streamable_http_app(), older(instead_of(method, answer)))) as url:
        outcome = await made(probes(mcp_tool(url, "search")), seconds=2.0)
    assert (outcome.success, outcome.status_code, outcome.error_signature) == (False, status_code, signature)
    assert outcome.unanswered is (status_code is None)


async def test_a_program_that_keeps_silent_may_want_a_credential_and_is_no_server_that_is_away() -> None:
    mcp = {"command": ["/bin/sleep", "60"], "tool": "search"}
    declared = a_cascade(tools_text(search={"safety": "SAFE_PROBE", "mcp": mcp}))
    adapter = McpAdapter(LOOPBACK, commands=["/bin/sleep"])
    outcome = await made(probes(declared, mcp=adapter), seconds=1.0)
    assert (outcome.success, outcome.error_signature, outcome.unanswered) == (False, "timeout", False)


async def test_what_a_failed_tool_tells_in_words_is_read_by_the_rules() -> None:
    async with serving(tools().streamable_http_app()) as url:
        outcome = await made(probes(mcp_tool(url, "broken")), seconds=20.0)
    assert (outcome.success, outcome.status_code, outcome.error_signature) == (False, None, "http-5xx")
    assert "502 Bad Gateway" in outcome.raw_response
    assert not outcome.unanswered


async def test_a_tool_that_is_not_listed_matches_no_rule() -> None:
    async with serving(tools().streamable_http_app()) as url:
        outcome = await made(probes(mcp_tool(url, "deep_thought")), seconds=20.0)
    assert (outcome.success, outcome.error_signature) == (False, "unclassified")


@pytest.fixture
async def replied_401(
    kafka: EmbeddedKafka, topic_prefix: str
) -> AsyncIterator[tuple[Cascade, KafkaConnection]]:
    """A service whose tool refuses the token that the service keeps for its user."""
    connection = KafkaConnection(kafka.bootstrap_servers)
    asked, replied = f"svc-{topic_prefix}.requests", f"svc-{topic_prefix}.replies"
    async with admin_client(connection) as admin:
        await admin.create_topics([NewTopic(asked, 1, 1), NewTopic(replied, 1, 1)])
    options = connection.client_options()
    async with (
        AIOKafkaConsumer(asked, **options, auto_offset_reset="earliest") as consumer,
        AIOKafkaProducer(**options) as producer,
    ):

        async def serve() -> None:
            async for record in consumer:
                request = json.loads(record.value)
                reply = {"probeId": request["probeId"], "success": False, "statusCode": 401}
                reply["usedCredentials"] = request["identity"] == "user"
                await producer.send_and_wait(replied, json.dumps(reply).encode())

        serving = asyncio.create_task(serve())
        declared = {"safety": "SAFE_PROBE", "kafka": {"requestTopic": asked, "replyTopic": replied}}
        yield a_cascade(tools_text(search=declared)), connection
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def test_what_another_service_used_counts_as_a_credential(
    replied_401: tuple[Cascade, KafkaConnection],
) -> None:
    cascade, connection = replied_401
    async with KafkaAdapter(connection, Topics("agrajag")) as adapter:
        prober = probes(cascade, adapter)
        as_alice = await made(prober, as_user(), 20.0)
        as_system = await made(prober, a_request(probe_id="probe-2"), 20.0)
    assert (as_alice.error_signature, as_alice.had_credentials) == ("http-401", True)
    assert (as_system.error_signature, as_system.had_credentials) == ("http-401", False)

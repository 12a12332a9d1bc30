"""What a sink refuses: brokers that do not let it in, topics that are missing or too small, and that it says so."""

import asyncio
import dataclasses

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from agrajag.embedded import EmbeddedKafka
from agrajag.errors import ConfigError, PermanentError
from agrajag.sink import run_sink
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topic_admin import topic_findings
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_health
from tests.sink.records import Record, change, committed, key_of, send
from tests.waiting import eventually


async def _sink(connection: KafkaConnection, topics: Topics, store_uri: str, database: str) -> None:
    async with asyncio.timeout(60):
        await run_sink(connection, topics, store_uri=store_uri, database=database)


async def _topics_there(connection: KafkaConnection) -> list[str]:
    async with admin_client(connection) as admin:
        return list(await admin.list_topics())


async def _limit_dead_letters(connection: KafkaConnection, topics: Topics) -> None:
    """Returns when the broker goes by it; its controller answers before."""
    name = topics.dead_letters(Topic.HEALTH_CHANGED)
    change = ConfigResource(ConfigResourceType.TOPIC, name, configs={"max.message.bytes": "1000"})
    async with admin_client(connection) as admin:
        await admin.alter_configs([change])

        async def is_known() -> bool:
            found = await topic_findings(admin, topics)
            return (name, "1000") in [(finding.topic, finding.found) for finding in found]

        await eventually(is_known)


async def test_a_missing_topic_is_told_with_what_to_do_and_is_not_made_by_asking_for_it(
    tmp_path_factory: pytest.TempPathFactory, store_uri: str, database: str, topic_prefix: str
) -> None:
    makes_topics = {"auto.create.topics.enable": "true"}
    with EmbeddedKafka(tmp_path_factory.mktemp("makes-topics"), properties=makes_topics) as broker:
        connection = KafkaConnection(broker.bootstrap_servers)
        with pytest.raises(ConfigError) as refused:
            await _sink(connection, Topics(topic_prefix), store_uri, database)
        assert await _topics_there(connection) == []
    mirrored = (
        "health-commands",
        "command-results",
        "process-events",
        "health-changed",
        "documents",
        "inbox-items",
    )
    missing = [f"{topic_prefix}.{name}.v1{letters}" for name in mirrored for letters in ("", ".dlq")]
    assert refused.value.problems == (
        *(f"topic {name} is missing" for name in missing),
        "create the topics first: agrajag topics create",
    )


async def test_dead_letters_with_too_small_a_limit_stop_the_start(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> None:
    await _limit_dead_letters(connection, topics)
    with pytest.raises(ConfigError, match=r"dlq: max\.message\.bytes is 1000, should be at least"):
        await _sink(connection, topics, store_uri, database)


async def test_a_dead_letter_that_cannot_be_written_ends_the_sink_and_is_not_passed_over(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> None:
    health = a_health(tool_name="tool-1", revision=1)
    too_large: Record = (key_of(health), b"{" * 2_000, [])
    sink = asyncio.create_task(_sink(connection, topics, store_uri, database))
    await send(connection, topics, [change(health)])

    async def runs() -> bool:
        return await committed(connection, topics) == 1

    await eventually(runs, timeout=30)
    await _limit_dead_letters(connection, topics)
    await send(connection, topics, [too_large])
    with pytest.raises(PermanentError, match="writing dead letters: MessageSizeTooLargeError"):
        await sink
    assert await committed(connection, topics) == 1


async def test_brokers_that_refuse_the_credentials_end_the_sink(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str
) -> None:
    stranger = dataclasses.replace(
        connection, security_protocol="SASL_PLAINTEXT", sasl_username="eve", sasl_password="a guess"
    )
    with pytest.raises(ConfigError, match="refuses us"):
        await _sink(stranger, topics, store_uri, database)

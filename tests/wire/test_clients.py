"""Reaching brokers: plain, secured, refusing, away."""

import asyncio
import dataclasses
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from structlog.testing import capture_logs

from agrajag.embedded import EmbeddedKafka, ports
from agrajag.errors import ConfigError, TransientError
from agrajag.wire.clients import KafkaConnection, wait_for_broker
from tests.wire.conftest import PASSWORD

NOBODY = "127.0.0.1:1"  # a port on which nothing listens


async def test_a_broker_that_answers_is_waited_for_no_longer(connection: KafkaConnection) -> None:
    with capture_logs() as logs:
        await wait_for_broker(connection, 30)
    assert [line["event"] for line in logs] == ["kafka_answers"]


async def test_one_broker_of_several_is_enough(connection: KafkaConnection) -> None:
    some_away = dataclasses.replace(connection, bootstrap_servers=f"{NOBODY},{connection.bootstrap_servers}")
    await wait_for_broker(some_away, 0)


async def test_a_broker_that_is_away_is_waited_for_and_named() -> None:
    with capture_logs() as logs, pytest.raises(TransientError, match=f"no answer from {NOBODY}"):
        await wait_for_broker(KafkaConnection(bootstrap_servers=NOBODY), 0.5)
    assert logs[0]["event"] == "waiting_for_kafka"
    assert logs[0]["brokers"] == NOBODY


async def test_the_whole_of_the_time_is_waited_and_a_reason_is_told() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as hangs_up:
        address = f"{ports.LOOPBACK}:{hangs_up.getsockname()[1]}"

        def hang_up() -> None:
            with suppress(OSError):  # of the closed server, at the end
                while True:
                    hangs_up.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        clock = asyncio.get_running_loop()
        started = clock.time()
        with pytest.raises(TransientError, match=rf"no answer from {address} for 1 s: \w+"):
            await wait_for_broker(KafkaConnection(bootstrap_servers=address), 1.0)
        assert clock.time() - started >= 1.0
        hangs_up.shutdown(socket.SHUT_RDWR)


async def test_a_broker_that_comes_up_meanwhile_is_found(tmp_path: Path) -> None:
    port = ports.pick_free()
    connection = KafkaConnection(bootstrap_servers=f"127.0.0.1:{port}")
    broker = EmbeddedKafka(tmp_path / "kafka", port=port)
    with pytest.raises(TransientError):
        await wait_for_broker(connection, 0)
    with broker:
        await wait_for_broker(connection, 60)


@pytest.mark.parametrize("servers", ["127.0.0.1:port", "a:b:c,d:9092:x"])
async def test_addresses_that_are_none_are_a_wrong_setting(servers: str) -> None:
    with pytest.raises(ConfigError, match="host:port"):
        await wait_for_broker(KafkaConnection(bootstrap_servers=servers), 5)


async def test_a_password_over_tls_lets_every_client_in(secured: KafkaConnection) -> None:
    await wait_for_broker(secured, 30)
    admin = AIOKafkaAdminClient(**secured.client_options())
    await admin.start()
    await admin.close()
    async with AIOKafkaProducer(**secured.producer_options()):
        pass


@pytest.mark.parametrize(
    "changes",
    [
        {"sasl_password": "wrong"},
        {"sasl_username": "eve"},
        {"sasl_mechanism": "SCRAM-SHA-512"},
        {"ssl_ca_file": None},
    ],
)
async def test_a_refusal_is_told_at_once_and_without_the_password(
    secured: KafkaConnection, changes: dict[str, Any]
) -> None:
    with capture_logs() as logs, pytest.raises(ConfigError, match="refuses us") as refused:
        await wait_for_broker(dataclasses.replace(secured, **changes), 600)
    assert PASSWORD not in str(refused.value)
    assert logs == []


@pytest.mark.parametrize("file", ["/nowhere/ca.pem", __file__])
def test_a_file_that_is_no_certificate_is_a_wrong_setting(file: str) -> None:
    with pytest.raises(ConfigError, match=file):
        KafkaConnection(security_protocol="SSL", ssl_ca_file=Path(file)).client_options()


def test_the_password_is_in_no_text_form() -> None:
    connection = KafkaConnection(sasl_username="bob", sasl_password=PASSWORD)
    assert PASSWORD not in repr(connection)
    assert PASSWORD not in f"{connection}"
    assert "bob" in repr(connection)


def test_a_plain_connection_sends_no_credentials() -> None:
    connection = KafkaConnection("a:1,b:2", sasl_username="bob", sasl_password=PASSWORD)
    assert connection.client_options() == {"bootstrap_servers": "a:1,b:2", "security_protocol": "PLAINTEXT"}

"""A broker that asks for a password over TLS, beside the session's plain one.

The certificates are for 127.0.0.1, valid for a hundred years, and their key protects nothing. That of the authority
which signed them was thrown away.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from agrajag.embedded import EmbeddedKafka, ports
from agrajag.wire.clients import KafkaConnection

TLS_FILES = Path(__file__).parent / "tls"
PASSWORD = "a password, with $ and \\"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaConnection]:
    """How to reach a broker that lets in `bob` over SASL_SSL."""
    plain, controller = ports.pick_free(), ports.pick_free()
    port = ports.pick_free(avoid=(plain, controller))
    password = PASSWORD.replace("\\", "\\\\")
    login = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="{password}";'
    properties = {
        "listeners": f"PLAINTEXT://127.0.0.1:{plain},SECURED://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain},SECURED://127.0.0.1:{port}",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL",
        "listener.name.secured.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.secured.plain.sasl.jaas.config": login,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": _on_one_line(TLS_FILES / "broker.pem"),
        "ssl.keystore.key": _on_one_line(TLS_FILES / "broker.key.pem"),
    }
    with EmbeddedKafka(tmp_path_factory.mktemp("secured"), port=plain, properties=properties):
        yield KafkaConnection(
            bootstrap_servers=f"127.0.0.1:{port}",
            security_protocol="SASL_SSL",
            sasl_username="bob",
            sasl_password=PASSWORD,
            ssl_ca_file=TLS_FILES / "ca.pem",
        )


@pytest.fixture
def connection(kafka: EmbeddedKafka) -> KafkaConnection:
    """How to reach the session's broker."""
    return KafkaConnection(bootstrap_servers=kafka.bootstrap_servers)


@pytest.fixture
async def admin(connection: KafkaConnection) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client of the session's broker."""
    client = AIOKafkaAdminClient(**connection.client_options())
    await client.start()
    yield client
    await client.close()


def _on_one_line(pem: Path) -> str:
    """Kafka takes PEM in a property with blanks for line ends within the base64 part."""
    head, *body, foot = pem.read_text().split("\n")[:-1]
    return " ".join([head, *body, foot])

"""All roles on a Kafka that wants TLS, a login and a client's certificate."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.embedded.security import Secured
from tests.cli.programs import agrajag, running
from tests.servers import thrown_away
from tests.waiting import eventually_blocking

USERS = {"agrajag": "p4ss-of-the-tests", "someone": "another"}
MECHANISMS = ("SCRAM-SHA-512", "PLAIN")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedKafka]:
    directory = tmp_path_factory.mktemp("secured")
    with thrown_away(EmbeddedKafka(directory, secured=Secured(USERS, client_certificates=True))) as kafka:
        yield kafka


def settings(kafka: EmbeddedKafka, prefix: str, **more: str) -> dict[str, str]:
    files = kafka.certificates
    return {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.secured_bootstrap_servers,
        "AGRAJAG_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "AGRAJAG_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
        "AGRAJAG_KAFKA_SASL_USERNAME": "agrajag",
        "AGRAJAG_KAFKA_SASL_PASSWORD": USERS["agrajag"],
        "AGRAJAG_KAFKA_SSL_CA_FILE": str(files.authority),
        "AGRAJAG_KAFKA_SSL_CERT_FILE": str(files.client),
        "AGRAJAG_KAFKA_SSL_KEY_FILE": str(files.client_key),
        "AGRAJAG_TOPICS_PREFIX": prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
        "AGRAJAG_TENANT": "acme",
        **more,
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_role_works_over_tls_with_a_login_and_a_certificate(
    mechanism: str, secured: EmbeddedKafka, store: EmbeddedStore, topic_prefix: str, tmp_path: Path
) -> None:
    variables = settings(
        secured,
        topic_prefix,
        AGRAJAG_KAFKA_SASL_MECHANISM=mechanism,
        AGRAJAG_MONGO_URI=store.uri,
        AGRAJAG_MONGO_DATABASE=topic_prefix.replace("-", "_"),
        AGRAJAG_API_PORT="0",
    )
    created = agrajag("topics", "create", **variables)
    assert created.returncode == 0, created.stderr
    with ExitStack() as ends:
        for role in ("worker", "sink", "diagnosis", "api"):
            (tmp_path / role).mkdir()
            ends.enter_context(running(tmp_path / role, role, **variables))
        told = agrajag("report", "search", "Server error", "--status", "502", "--wait", "--json", **variables)
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)["errorSignature"] == "http-5xx"

        def diagnosed() -> bool:
            listed = agrajag("runs", "list", "--json", **variables)
            return "CLOSED" in listed.stdout

        assert eventually_blocking(diagnosed, 60.0)

"""All roles on a Kafka that wants TLS, a login and a client's certificate; and what they say where one is wrong."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

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
            return '"CLOSED"' in listed.stdout or "CLOSED" in listed.stdout

        assert eventually_blocking(diagnosed, 60.0)


def without(variables: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name not in names}


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Certificates of an authority that the broker does not know, and one that is over."""
    directory, authority = tmp_path_factory.mktemp("strangers"), trustme.CA()
    past = datetime.now(UTC) - timedelta(days=2)
    found = {}
    for name, made in {
        "client": authority.issue_cert("stranger.invalid"),
        "expired": authority.issue_cert(
            common_name="late", not_before=past, not_after=past + timedelta(days=1)
        ),
    }.items():
        found[name], found[f"{name}_key"] = directory / f"{name}.pem", directory / f"{name}.key"
        made.cert_chain_pems[0].write_to_path(found[name])
        made.private_key_pem.write_to_path(found[f"{name}_key"])
    found["authority"] = directory / "ca.pem"
    authority.cert_pem.write_to_path(found["authority"])
    return found


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"AGRAJAG_KAFKA_SASL_PASSWORD": "wrong"}, "authenticat"),
        ({"AGRAJAG_KAFKA_SASL_USERNAME": "nobody"}, "authenticat"),
        ({"AGRAJAG_KAFKA_SSL_CA_FILE": "authority"}, "certificate"),
        (
            {"AGRAJAG_KAFKA_SSL_CERT_FILE": "client", "AGRAJAG_KAFKA_SSL_KEY_FILE": "client_key"},
            "certificate",
        ),
        ({"AGRAJAG_KAFKA_SSL_KEY_FILE": "client_key"}, "TLS files"),
    ],
    ids=["password", "user", "authority", "client certificate of a stranger", "another's key"],
)
@pytest.mark.parametrize("command", [("worker",), ("sink",), ("topics", "create")], ids=" ".join)
def test_what_is_wrong_with_a_login_is_said_at_once_and_ends_with_2(
    command: tuple[str, ...],
    wrong: dict[str, str],
    told: str,
    secured: EmbeddedKafka,
    strangers: dict[str, Path],
    topic_prefix: str,
) -> None:
    given = {name: str(strangers.get(value, value)) for name, value in wrong.items()}
    variables = settings(secured, topic_prefix, AGRAJAG_KAFKA_WAIT_SECONDS="20") | given
    ended = agrajag(*command, **variables)
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stderr
    assert told in ended.stderr
    assert USERS["agrajag"] not in ended.stderr

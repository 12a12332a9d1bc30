"""A Faust app logs in to the brokers in the same way as every other client."""

from pathlib import Path
from typing import Any

import faust
import pytest
from faust.types.auth import AuthProtocol

from agrajag.stream.credentials import faust_credentials
from agrajag.wire.clients import KafkaConnection

TLS_FILES = Path(__file__).parents[1] / "wire" / "tls"
PASSWORD = "a password of the test"


def test_a_plain_connection_sends_no_credentials_to_faust_either() -> None:
    assert faust_credentials(KafkaConnection("a:1,b:2", sasl_username="bob", sasl_password=PASSWORD)) is None


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("SASL_PLAINTEXT", AuthProtocol.SASL_PLAINTEXT),
        ("SASL_SSL", AuthProtocol.SASL_SSL),
        ("SSL", AuthProtocol.SSL),
    ],
)
def test_faust_speaks_to_the_brokers_the_same_way(protocol: Any, expected: AuthProtocol) -> None:
    connection = KafkaConnection(
        security_protocol=protocol,
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="bob",
        sasl_password=PASSWORD,
        ssl_ca_file=TLS_FILES / "ca.pem",
    )
    credentials = faust_credentials(connection)
    assert credentials is not None
    assert credentials.protocol is expected
    if isinstance(credentials, faust.SASLCredentials):
        assert (credentials.username, credentials.password) == ("bob", PASSWORD)
        assert credentials.mechanism.value == "SCRAM-SHA-512"

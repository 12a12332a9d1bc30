"""How Kafka is reached: one value from which every client gets its options, and the wait until it answers."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import structlog
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    InvalidGroupIdError,
    InvalidTopicError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from aiokafka.helpers import create_ssl_context
from aiokafka.protocol.metadata import MetadataRequest

from agrajag.errors import ConfigError, TransientError
from agrajag.wire.topics import MAX_REQUEST_BYTES

log = structlog.get_logger(__name__)

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

REFUSALS = (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    InvalidGroupIdError,
    InvalidTopicError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
    ssl.SSLError,
)
"""What brokers say that no waiting changes."""

_ATTEMPT_TIMEOUT_MS = 5_000
_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """Where the brokers are and how to speak to them. The password is in no text form of it.

    Without a CA file the machine's own certificate authorities are trusted; certificate and key are for brokers that
    ask for a client certificate.
    """

    bootstrap_servers: str = "127.0.0.1:9092"
    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: SaslMechanism = "PLAIN"
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    ssl_ca_file: Path | None = None
    ssl_cert_file: Path | None = None
    ssl_key_file: Path | None = None

    @property
    def uses_sasl(self) -> bool:
        """True if a user name and password are sent."""
        return self.security_protocol.startswith("SASL")

    def ssl_context(self) -> ssl.SSLContext | None:
        """The TLS context, None where the protocol has no TLS; raises ConfigError for files that do not fit."""
        if not self.security_protocol.endswith("SSL"):
            return None
        try:
            context: ssl.SSLContext = create_ssl_context(
                cafile=self.ssl_ca_file, certfile=self.ssl_cert_file, keyfile=self.ssl_key_file
            )
        except (OSError, ValueError) as error:
            files = ", ".join(
                str(file)
                for file in (self.ssl_ca_file, self.ssl_cert_file, self.ssl_key_file)
                if file is not None
            )
            raise ConfigError(f"kafka: the TLS files cannot be used ({files}): {error}") from error
        return context

    def client_options(self) -> dict[str, Any]:
        """What aiokafka's producer, consumer and admin client all take."""
        return {"bootstrap_servers": self.bootstrap_servers, **self.security_options()}

    def producer_options(self) -> dict[str, Any]:
        """What a producer of ours takes: nothing is given up that the brokers would accept."""
        return {
            **self.client_options(),
            "acks": "all",
            "enable_idempotence": True,
            "max_request_size": MAX_REQUEST_BYTES,
        }

    def security_options(self) -> dict[str, Any]:
        """How to speak to a broker, in aiokafka's names."""
        options: dict[str, Any] = {"security_protocol": self.security_protocol}
        context = self.ssl_context()
        if context is not None:
            options["ssl_context"] = context
        if self.uses_sasl:
            options["sasl_mechanism"] = self.sasl_mechanism
            options["sasl_plain_username"] = self.sasl_username
            options["sasl_plain_password"] = self.sasl_password
        return options


async def wait_for_broker(connection: KafkaConnection, timeout_seconds: float) -> None:
    """Returns once a broker has answered a request; an open port alone is not an answer.

    Raises ConfigError as soon as all brokers refuse the credentials or the TLS handshake, since no waiting helps,
    and TransientError if none has answered in time. Every broker is asked at least once.
    """
    options = connection.security_options()
    hosts = _hosts(connection)
    clock = asyncio.get_running_loop()
    started = clock.time()
    pause = _FIRST_PAUSE_SECONDS
    while True:
        failures = [await _failure(host, port, options) for host, port in hosts]
        if None in failures:
            log.info("kafka_answers", brokers=connection.bootstrap_servers)
            return
        if all(isinstance(failure, REFUSALS) for failure in failures):
            raise ConfigError(f"kafka: {connection.bootstrap_servers} refuses us: {_told(failures[0])}")
        waited = clock.time() - started
        if waited >= timeout_seconds:
            raise TransientError(
                f"kafka: no answer from {connection.bootstrap_servers} for {waited:.0f} s: {_told(failures[0])}"
            )
        log.warning(
            "waiting_for_kafka",
            brokers=connection.bootstrap_servers,
            waited_seconds=round(waited, 1),
            at_most_seconds=timeout_seconds,
        )
        await asyncio.sleep(min(pause, timeout_seconds - waited))
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


async def broker_answers(connection: KafkaConnection, timeout_seconds: float) -> bool:
    """Whether a fresh connection to some broker gets an answer in time; a refusal is one."""

    async def answered() -> bool:
        options = connection.security_options()
        for host, port in _hosts(connection):
            failure = await _failure(host, port, options)
            if failure is None or isinstance(failure, REFUSALS):
                return True
        return False

    try:
        return await asyncio.wait_for(answered(), timeout_seconds)
    except TimeoutError:
        return False
    except ConfigError:  # there is nobody to be away
        return True


@asynccontextmanager
async def admin_client(connection: KafkaConnection) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client, started. Raises TransientError if no broker answers."""
    admin = AIOKafkaAdminClient(**connection.client_options())
    try:
        try:
            await admin.start()
        except (KafkaError, OSError, TimeoutError) as error:
            raise TransientError(
                f"kafka: no answer from {connection.bootstrap_servers}: {_told(error)}"
            ) from error
        yield admin
    finally:
        await admin.close()


def _told(error: BaseException | None) -> str:
    """What went wrong; some of the client's errors have no text but their name."""
    return str(error) or type(error).__name__


def _hosts(connection: KafkaConnection) -> list[tuple[str, int]]:
    try:
        return [(host, port) for host, port, _family in collect_hosts(connection.bootstrap_servers, False)]
    except ValueError:
        raise ConfigError(
            f"kafka: {connection.bootstrap_servers!r} is no list of brokers, write host:port,host:port"
        ) from None


async def _failure(host: str, port: int, options: dict[str, Any]) -> Exception | None:
    """Why this broker does not answer; None if it does."""
    try:
        connection = await create_conn(host, port, request_timeout_ms=_ATTEMPT_TIMEOUT_MS, **options)
    except (OSError, KafkaError) as error:
        return error
    try:
        await connection.send(MetadataRequest([]))
    except (KafkaError, TimeoutError) as error:
        return error
    finally:
        connection.close()
    return None

"""The groups of settings: each field's default, bounds and meaning. Nothing here reads the environment."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator

from agrajag.addresses import is_loopback
from agrajag.core.policy import COOLDOWN_FLOOR, Policy
from agrajag.logs import LogFormat, LogLevel
from agrajag.model.health import MAX_HISTORY
from agrajag.monitor.dead_letter_share import BadStart
from agrajag.setting_types import (
    Brokers,
    Directory,
    IpAddress,
    MongoUri,
    Port,
    ReadableFile,
    Seconds,
    Span,
    wrong,
)
from agrajag.wire.clients import KafkaConnection, SaslMechanism, SecurityProtocol
from agrajag.wire.topics import DEFAULT_PARTITIONS, DEFAULT_PREFIX, Topics


class Group(BaseModel):
    """Settings that share a prefix. Defaults are checked as well, since some depend on other settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class KafkaSettings(Group):
    """AGRAJAG_KAFKA_*."""

    bootstrap_servers: Brokers = Field(
        "127.0.0.1:9092", description="Brokers, host:port separated by commas."
    )
    security_protocol: SecurityProtocol = Field("PLAINTEXT", description="How to speak to the brokers.")
    sasl_mechanism: SaslMechanism = Field("PLAIN", description="How to log in, with a SASL protocol.")
    sasl_username: str | None = Field(None, description="User name, with a SASL protocol.")
    sasl_password: SecretStr | None = Field(None, description="Password, with a SASL protocol.")
    ssl_ca_file: ReadableFile | None = Field(
        None, description="Certificate authorities (PEM) to trust instead of the machine's."
    )
    ssl_cert_file: ReadableFile | None = Field(
        None, description="Client certificate (PEM), if brokers ask for one."
    )
    ssl_key_file: ReadableFile | None = Field(None, description="Key (PEM) of the client certificate.")
    wait_seconds: Seconds = Field(120.0, description="How long a start waits for brokers that do not answer.")

    @field_validator("sasl_username", "sasl_password")
    @classmethod
    def _needed_for_sasl(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.data.get("security_protocol", "").startswith("SASL"):
            raise wrong(f"set, as AGRAJAG_KAFKA_SECURITY_PROTOCOL is {info.data['security_protocol']}")
        return value

    def connection(self) -> KafkaConnection:
        """The same as the value that clients are made from."""
        password = self.sasl_password
        return KafkaConnection(
            bootstrap_servers=self.bootstrap_servers,
            security_protocol=self.security_protocol,
            sasl_mechanism=self.sasl_mechanism,
            sasl_username=self.sasl_username,
            sasl_password=None if password is None else password.get_secret_value(),
            ssl_ca_file=self.ssl_ca_file,
            ssl_cert_file=self.ssl_cert_file,
            ssl_key_file=self.ssl_key_file,
        )


class TopicSettings(Group):
    """AGRAJAG_TOPICS_*."""

    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$")] = Field(
        DEFAULT_PREFIX,
        description="What topics and consumer groups begin with: up to 100 of A-Z a-z 0-9 . _ -",
    )
    partitions: Annotated[int, Field(ge=1, le=10_000)] = Field(
        DEFAULT_PARTITIONS, description="Partitions of the shared topics; fixed once they are made."
    )
    replication_factor: Annotated[int, Field(ge=1, le=32)] | None = Field(
        None, description="Replicas of each partition; without it as many as the brokers give by default."
    )

    def topics(self) -> Topics:
        """The topics that these settings name."""
        return Topics(self.prefix, self.partitions)


class MongoSettings(Group):
    """AGRAJAG_MONGO_*."""

    uri: MongoUri = Field(
        SecretStr("mongodb://127.0.0.1:27017"), description="Address of the document store."
    )
    database: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,63}$")] = Field(
        "agrajag", description="Database in the document store: up to 63 of A-Z a-z 0-9 _ -"
    )


class LogSettings(Group):
    """AGRAJAG_LOG_*."""

    level: LogLevel = Field("info", description="From which level on lines are written.")
    format: LogFormat = Field("json", description="JSON lines for machines, or a console for people.")


_POLICY = Policy()


class PolicySettings(Group):
    """AGRAJAG_POLICY_*: the defaults that a tenant's own settings may override."""

    cooldown_max: Span = Field(
        _POLICY.cooldown_max, description="Longest automatic cooldown and recovery time; never below an hour."
    )
    hits_memory: Span = Field(
        _POLICY.hits_memory, description="How long a cooldown that is over makes the next one longer."
    )
    freshness: Span = Field(_POLICY.freshness, description="How long a diagnosis answers for its signature.")
    lease: Span = Field(_POLICY.lease, description="How long a diagnosis job counts as in flight.")
    late_after: Span = Field(_POLICY.late_after, description="Age at which an error says nothing about now.")
    unconfirmed_after: Span = Field(
        _POLICY.unconfirmed_after,
        description="Age at which a DOWN without new evidence counts as unconfirmed.",
    )
    history_size: Annotated[int, Field(ge=1, le=MAX_HISTORY)] = Field(
        _POLICY.history_size, description="Changes of status that a document remembers."
    )
    answer_all: bool = Field(
        _POLICY.answer_all, description="Publish a check result for every error, asked for or not."
    )

    @field_validator("cooldown_max")
    @classmethod
    def _not_below_the_floor(cls, value: timedelta) -> timedelta:
        if value < COOLDOWN_FLOOR:
            raise wrong("an ISO 8601 duration of at least an hour, PT1H")
        return value

    def policy(self) -> Policy:
        """The same as the value that decisions use."""
        return Policy(**self.model_dump())


class DocumentSettings(Group):
    """AGRAJAG_DOCUMENTS_*."""

    dir: Directory | None = Field(
        None,
        description="Rules and settings of tenants as files; a document of the topic stands before one of these.",
    )


class WorkerSettings(Group):
    """AGRAJAG_WORKER_*."""

    commit_interval_seconds: Seconds = Field(0.5, description="Time between commits of offsets.")
    session_timeout_seconds: Annotated[float, Field(ge=6, le=300)] = Field(
        15.0, description="Silence after which a worker loses its partitions."
    )
    delivery_timeout_seconds: Annotated[float, Field(ge=1, le=300)] = Field(
        30.0, description="Time after which a record that is not on the brokers is sent again."
    )
    told_interval_seconds: Annotated[float, Field(ge=0, le=300)] = Field(
        10.0, description="Shortest time between two records of a document on which only counters moved."
    )
    watchdog_seconds: Annotated[float, Field(ge=10, le=3_600)] = Field(
        60.0,
        description="Time without progress, though there is work, after which a worker ends to be restarted.",
    )
    origin_key: Annotated[SecretStr, Field(min_length=16)] | None = Field(
        None,
        description="Shared by all workers: seals what they republish, so that producers cannot forge it.",
    )
    bad_start_seconds: Annotated[float, Field(ge=0, le=3_600)] = Field(
        120.0,
        description="How long after its start a worker ends where most records are dead letters; 0 for never.",
    )
    bad_start_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.5, description="A larger share of dead letters than this is a bad start."
    )
    bad_start_records: Annotated[int, Field(ge=1)] = Field(
        100, description="Of fewer records nothing is said about a start."
    )

    def bad_start(self) -> BadStart:
        """The same as the value that a worker is given."""
        return BadStart(self.bad_start_seconds, self.bad_start_share, self.bad_start_records)


class MonitorSettings(Group):
    """AGRAJAG_MONITOR_*: where the roles serve /metrics, /healthz and /readyz."""

    enabled: bool = Field(True, description="Serve /metrics, /healthz and /readyz.")
    host: IpAddress = Field(
        "127.0.0.1", description="IP address to listen on; one that others can reach needs a token."
    )
    worker_port: Port = Field(
        9_480, description="Port of a worker, of several by --processes the first; 0 for any free one."
    )
    sink_port: Port = Field(9_470, description="Port of a sink; 0 for any free one.")
    diagnosis_port: Port = Field(9_460, description="Port of a diagnosis; 0 for any free one.")
    api_port: Port = Field(9_450, description="Port where the API tells how it is; 0 for any free one.")
    token: Annotated[SecretStr, Field(min_length=16)] | None = Field(
        None, description="Bearer token that is asked of everybody who looks."
    )
    unready_after_seconds: Seconds = Field(
        30.0, description="Time without a commit, though there is work, after which a role is not ready."
    )

    @field_validator("token")
    @classmethod
    def _needed_for_others(cls, value: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        host = info.data.get("host", "127.0.0.1")
        if value is None and not is_loopback(host):
            raise wrong(f"set, as AGRAJAG_MONITOR_HOST is {host}")
        return value

"""All parts of Agrajag on one machine: which run here, what each is told, and where they listen.

Kafka and the store come first, then the topics, then the roles; the end goes the other way round.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agrajag import bootstrap
from agrajag.addresses import without_credentials
from agrajag.cli.role_process import RoleProcess
from agrajag.cli.supervision import Supervisor
from agrajag.errors import ConfigError
from agrajag.setting_files import SUFFIX
from agrajag.settings import Settings, load_settings
from agrajag.wire.topics import EMBEDDED_PARTITIONS

if TYPE_CHECKING:
    from agrajag.embedded import EmbeddedKafka, EmbeddedStore
    from agrajag.embedded.directory import DataDirectory

ROLES = ("worker", "sink", "diagnosis", "api")

_KAFKA = "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS"
_MONGO = "AGRAJAG_MONGO_URI"
_PARTITIONS = "AGRAJAG_TOPICS_PARTITIONS"
_SECURITY = "AGRAJAG_KAFKA_SECURITY_PROTOCOL"
_PORTS = (*(f"AGRAJAG_MONITOR_{role}_PORT".upper() for role in ROLES), "AGRAJAG_API_PORT")
_UNSAID = {(name, value) for name in _PORTS for value in ("", "0")}
_ADDRESS_LATER = {_KAFKA: "127.0.0.1:1", _MONGO: "mongodb://127.0.0.1:1"}


class Listing(NamedTuple):
    """One line of what listens where; `log_file` is None for a part that runs elsewhere."""

    part: str
    address: str
    log_file: Path | None


@dataclass(frozen=True)
class Plan:
    """What is to run here. An address given stands for a part that runs elsewhere and is not started.

    `environment` has the settings of the parts; what is said of addresses in it gives way to the plan. Of the `roles`
    those that are `held_back` are made ready and not started.
    """

    data_dir: Path
    kafka: str | None
    mongo_uri: str | None
    environment: Mapping[str, str]
    roles: tuple[str, ...] = ROLES
    held_back: frozenset[str] = frozenset()

    def variables(self, kafka: str, mongo_uri: str) -> dict[str, str]:
        """The environment of the roles, given where Kafka and the store are."""
        found = {**self.environment, _KAFKA: kafka, _MONGO: mongo_uri}
        found.pop(f"{_MONGO}{SUFFIX}", None)
        if self.kafka is None:
            found[_SECURITY] = "PLAINTEXT"
            found.setdefault(_PARTITIONS, str(EMBEDDED_PARTITIONS))
        return found

    def monitored(self, variables: Mapping[str, str]) -> dict[str, str]:
        """The same with a free port for each role that was given none, so that it can be said where they listen."""
        ports = dict(zip(_PORTS, map(str, bootstrap.free_ports(len(_PORTS))), strict=True))
        given = {name: value for name, value in variables.items() if (name, value) not in _UNSAID}
        return ports | given

    def check(self) -> None:
        """Raises ConfigError for settings that no part would start with, before any is started.

        An address that was given as an option is called by the option's name.
        """
        kafka, mongo_uri = self.kafka or _ADDRESS_LATER[_KAFKA], self.mongo_uri or _ADDRESS_LATER[_MONGO]
        try:
            load_settings(self.variables(kafka, mongo_uri))
        except ConfigError as error:
            raise ConfigError(*map(self._as_given, error.problems)) from None

    def _as_given(self, problem: str) -> str:
        variable, equals, rest = problem.partition("=")
        option = {_KAFKA: ("--kafka", self.kafka), _MONGO: ("--mongo", self.mongo_uri)}.get(variable)
        if option is None or option[1] == self.environment.get(variable):
            return problem
        return f"{option[0]}{equals}{rest}"


@dataclass(frozen=True)
class LocalParts:
    """The parts, running but for those that are held back: `supervisor.start` starts them."""

    supervisor: Supervisor
    settings: Settings
    listings: tuple[Listing, ...]
    created_topics: tuple[str, ...]
    findings: tuple[str, ...]
    held_back: tuple[RoleProcess, ...] = ()


@asynccontextmanager
async def local_parts(plan: Plan, tell: Callable[[str], None]) -> AsyncIterator[LocalParts]:
    """Everything in `plan`, up; ended on leaving, in whatever way.

    Whoever uses it keeps `supervisor.watch()` running. Raises ConfigError if the data directory is in use or a
    setting is wrong, TransientError if a part does not come up.
    """
    plan.check()
    directory = bootstrap.data_directory(plan.data_dir)
    directory.acquire()
    supervisor = Supervisor(tell)
    try:
        yield await _started(plan, directory, supervisor)
    finally:
        await supervisor.stop()
        directory.release()


async def _started(plan: Plan, directory: "DataDirectory", supervisor: Supervisor) -> LocalParts:
    kafka = bootstrap.embedded_kafka(directory.path / "kafka") if plan.kafka is None else None
    store = bootstrap.embedded_store(directory.path / "store") if plan.mongo_uri is None else None
    await supervisor.start(*(part for part in (kafka, store) if part is not None))
    variables = plan.monitored(plan.variables(_kafka_address(plan, kafka), _mongo_uri(plan, store)))
    settings = load_settings(variables)
    ensured = await bootstrap.create_topics(settings)
    roles = [
        RoleProcess(name, variables, directory.path / f"{name}.log", directory.lock_fd) for name in plan.roles
    ]
    await supervisor.start(*(role for role in roles if role.name not in plan.held_back))
    mongo = without_credentials(settings.mongo.uri.get_secret_value())
    listings = (
        Listing("kafka", settings.kafka.bootstrap_servers, kafka.log_file if kafka is not None else None),
        Listing("store", mongo, store.log_file if store is not None else None),
        *(Listing(role.name, _address(settings, role.name), role.log_file) for role in roles),
    )
    held_back = tuple(role for role in roles if role.name in plan.held_back)
    findings = tuple(map(str, ensured.findings))
    return LocalParts(supervisor, settings, listings, ensured.created, findings, held_back)


def _address(settings: Settings, role: str) -> str:
    """Where a person looks: the status page, or what the role says of itself."""
    if role == "api":
        return f"http://{settings.api.host}:{settings.api.port}/"
    monitor = settings.monitor
    port = getattr(monitor, f"{role}_port")
    return f"http://{monitor.host}:{port}/readyz" if monitor.enabled else "-"


def _kafka_address(plan: Plan, kafka: "EmbeddedKafka | None") -> str:
    return kafka.bootstrap_servers if kafka is not None else plan.kafka or ""


def _mongo_uri(plan: Plan, store: "EmbeddedStore | None") -> str:
    return store.uri if store is not None else plan.mongo_uri or ""

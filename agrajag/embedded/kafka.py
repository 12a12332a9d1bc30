"""The embedded Kafka: a real Apache Kafka, one KRaft node on loopback, as a child process.

The directory is formatted once, aside, and renamed into place, so that a start cut short leaves nothing
half made.
"""

import asyncio
import base64
import re
import shutil
import subprocess
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from agrajag.embedded import ports
from agrajag.embedded.child import last_message
from agrajag.embedded.class_archive import archive_file
from agrajag.embedded.directory import disk_free_bytes
from agrajag.embedded.jars import prepare_jars
from agrajag.embedded.java import find_java
from agrajag.embedded.security import LISTENER, Certificates, Secured, format_arguments, secured_properties
from agrajag.embedded.server import EmbeddedServer
from agrajag.errors import ConfigError

_ANSWER_TIMEOUT_MS = 2_000
_FORMAT_TIMEOUT_SECONDS = 60

_PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    # One node: nothing can be replicated, and its own topics stay small.
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # After a kill the controller waits for the old session to end: 2.5 s with these, 12 s with the defaults.
    "broker.session.timeout.ms": "1000",
    "broker.heartbeat.interval.ms": "250",
    # For a laptop: small files, and old records go after three days unless a topic says otherwise.
    "log.segment.bytes": str(64 * 1024 * 1024),
    "log.index.size.max.bytes": str(1024 * 1024),
    "log.retention.hours": "72",
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
}
_JVM_OPTIONS = (
    "-Xms64m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError",  # a dead broker is noticed, a half dead one is not
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
)


class EmbeddedKafka(EmbeddedServer):
    """A Kafka broker for one machine; topics are never created by themselves.

    `properties` are added to the server's and win over them, `jvm_options` to Java's. `cache_dir` and
    `repositories` say where its jars are kept and fetched from (agrajag.embedded.jars), `java` which runtime
    is used, `heap_mb` how much it may take. With `secured` it listens on a second port too, over TLS and for users only
    (agrajag.embedded.security); who they are is settled when the directory is new.
    """

    name = "kafka"
    port_names = ("broker", "controller", "secured")

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int = 0,
        properties: Mapping[str, str] | None = None,
        heap_mb: int = 256,
        jvm_options: Sequence[str] = (),
        java: Path | None = None,
        cache_dir: Path | None = None,
        repositories: Mapping[str, str] | None = None,
        start_timeout_seconds: float = 120.0,
        stop_timeout_seconds: float = 20.0,
        free_bytes: Callable[[Path], int] = disk_free_bytes,
        secured: Secured | None = None,
    ) -> None:
        super().__init__(
            data_dir,
            port=port,
            start_timeout_seconds=start_timeout_seconds,
            stop_timeout_seconds=stop_timeout_seconds,
            free_bytes=free_bytes,
        )
        self._properties = dict(properties or {})
        self._heap_mb = heap_mb
        self._jvm_options = tuple(jvm_options)
        self._java = java
        self._cache_dir = cache_dir
        self._repositories = repositories
        self._secured = secured
        self._program: list[str] = []
        self._cluster_id = ""

    @property
    def bootstrap_servers(self) -> str:
        """host:port for Kafka clients."""
        return f"{ports.LOOPBACK}:{self.port}"

    @property
    def secured_bootstrap_servers(self) -> str:
        """host:port for clients that log in; only with `secured`."""
        return f"{ports.LOOPBACK}:{self._ports['secured']}"

    @property
    def certificates(self) -> Certificates:
        """What those clients trust, and a certificate that they can show."""
        return Certificates.in_directory(self.data_dir / "certificates")

    def _prepare(self) -> None:
        java = find_java(self._java)
        class_path = prepare_jars(self._cache_dir, self._repositories)
        archive = archive_file(java, class_path)
        options = [
            f"-Xmx{self._heap_mb}m",
            *_JVM_OPTIONS,
            *([f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []),
            *self._jvm_options,
        ]
        self._program = [str(java), *options, "-cp", ":".join(map(str, class_path))]

    def _command(self) -> list[str]:
        if not self._logs.exists():
            self._format()
        self._cluster_id = _stored_cluster_id(self._logs / "meta.properties")
        self._write_config("server.properties", self._logs)
        return [*self._program, "kafka.Kafka", "server.properties"]

    def _answers(self, pid: int) -> bool:
        if not ports.accepts(self.port):
            return False
        # A thread of its own, because the caller's may already run an event loop.
        with ThreadPoolExecutor(max_workers=1) as thread:
            cluster = thread.submit(asyncio.run, _describe(self.bootstrap_servers)).result()
        # Until the controller lets the broker in, it answers but names none.
        return bool(cluster and cluster["brokers"]) and cluster["cluster_id"] == self._cluster_id

    @property
    def _logs(self) -> Path:
        return self.data_dir / "logs"

    def _write_config(self, file_name: str, log_dir: Path) -> Path:
        broker = f"PLAINTEXT://{self.bootstrap_servers}"
        controller = f"{ports.LOOPBACK}:{self._ports['controller']}"
        advertised, security = broker, {}
        if self._secured is not None:
            advertised = f"{broker},{LISTENER}://{self.secured_bootstrap_servers}"
            security = secured_properties(self._secured, self.certificates)
        properties = {
            **_PROPERTIES,
            "controller.quorum.bootstrap.servers": controller,
            "listeners": f"{advertised},CONTROLLER://{controller}",
            "advertised.listeners": advertised,
            "log.dirs": log_dir.name,  # relative: a comma in the path would make two of it
            **security,
            **self._properties,
        }
        path = self.data_dir / file_name
        path.write_text("".join(f"{key}={_escaped(value)}\n" for key, value in properties.items()))
        return path

    def _format(self) -> None:
        unfinished = self.data_dir / "logs-unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        config = self._write_config("format.properties", unfinished)
        arguments = ["format", "-t", _new_cluster_id(), "-c", config.name, "--standalone"]
        if self._secured is not None:
            arguments += format_arguments(self._secured)
        try:
            done = subprocess.run(
                [*self._program, "kafka.tools.StorageTool", *arguments],
                cwd=self.data_dir,
                umask=0o077,
                capture_output=True,
                text=True,
                timeout=_FORMAT_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigError(f"kafka: {self.data_dir} cannot be formatted: {error}") from error
        if done.returncode:
            raise ConfigError(f"kafka: {self.data_dir} cannot be formatted: {last_message(done.stderr)}")
        config.unlink()
        unfinished.rename(self._logs)


async def _describe(bootstrap_servers: str) -> dict[str, Any]:
    """What the server at the address says about its cluster; empty if it says nothing yet."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers, request_timeout_ms=_ANSWER_TIMEOUT_MS)
    try:
        await admin.start()
        return dict(await admin.describe_cluster())
    except (KafkaError, OSError, TimeoutError):
        return {}
    finally:
        await admin.close()


def _escaped(value: str) -> str:
    """As a Java properties file wants it: backslashes and what is not ASCII as UTF-16 escapes."""
    units = value.encode("utf-16-be")
    codes = (int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))
    return "".join(
        chr(code) if 0x20 <= code < 0x7F and code != ord("\\") else f"\\u{code:04x}" for code in codes
    )


def _stored_cluster_id(meta_properties: Path) -> str:
    try:
        found = re.search(r"^cluster\.id=(.+)$", meta_properties.read_text(), re.MULTILINE)
    except OSError:
        found = None  # Kafka itself says best what is wrong with its files
    return found[1] if found else ""


def _new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")

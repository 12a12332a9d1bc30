"""The parts of one machine: Kafka and the store as child processes, the roles beside them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agrajag.bootstrap.extras import extra

if TYPE_CHECKING:
    from agrajag.embedded import EmbeddedKafka, EmbeddedStore
    from agrajag.embedded.child import Child
    from agrajag.embedded.directory import DataDirectory


def embedded_kafka(data_dir: Path) -> "EmbeddedKafka":
    """The Kafka of one machine, not yet started."""
    with extra("embedded"):
        from agrajag.embedded import EmbeddedKafka
    return EmbeddedKafka(data_dir)


def embedded_store(data_dir: Path) -> "EmbeddedStore":
    """The document store of one machine, not yet started."""
    with extra("embedded"):
        from agrajag.embedded import EmbeddedStore
    return EmbeddedStore(data_dir)


def data_directory(path: Path) -> "DataDirectory":
    """The directory in which the parts of one machine keep their files, not yet acquired."""
    with extra("embedded"):
        from agrajag.embedded.directory import DataDirectory
    return DataDirectory(path)


def free_ports(count: int) -> list[int]:
    """Different loopback ports on which nobody listens now."""
    with extra("embedded"):
        from agrajag.embedded.ports import pick_free
    ports: list[int] = []
    while len(ports) < count:
        ports.append(pick_free(ports))
    return ports


def start_role(role: str, environment: Mapping[str, str], log_file: Path, lock_fd: int) -> "Child":
    """`agrajag <role>` of this very installation as a child process, which keeps `lock_fd` open."""
    with extra("embedded"):
        from agrajag.embedded.child import Child
    return Child(
        [sys.executable, "-m", "agrajag", role],
        directory=Path.cwd(),
        log_file=log_file,
        inherited_fd=lock_fd,
        environment=environment,
    )

"""Keeps the rules and policies of a running role equal to its documents, of the topic and of a directory.

A document of the topic stands before one of the same name in the directory: the topic is the same for all roles. What
changes is worked out beside the running decisions and put in force at once, as a whole. A directory is looked at every
second, and taken in when it is the same at two looks, so that no half-written file is.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import structlog

from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.rules import Problem
from agrajag.documents.cascade import Cascade, DocumentName
from agrajag.documents.directory import DirectoryReading, FileState, directory_state, read_directory
from agrajag.documents.records import DocumentTable
from agrajag.documents.rulebook import Rulebook
from agrajag.documents.topic import follow_documents, read_documents
from agrajag.errors import ConfigError, TransientError
from agrajag.metrics import DOCUMENT_FAULTS, DOCUMENT_RELOADS, DOCUMENTS, DocumentFault
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics

log = structlog.get_logger(__name__)

MAX_LOGGED = 20
"""Faults that are logged for one change; of the others only the number is."""
_LOOK_AGAIN_SECONDS = 1.0
_TRY_AGAIN_SECONDS = 2.0


class Sources(NamedTuple):
    """Where documents come from."""

    in_directory: DirectoryReading
    on_topic: Mapping[DocumentName, str]

    @property
    def documents(self) -> dict[DocumentName, str]:
        """All of them; one of the topic stands before one of the same name in the directory."""
        return {**self.in_directory.documents, **self.on_topic}


async def read_sources(connection: KafkaConnection, topics: Topics, directory: Path | None) -> Sources:
    """What both hold now. Raises ConfigError if the directory cannot be read, TransientError or PermanentError if the
    topic cannot."""
    reading = DirectoryReading() if directory is None else read_directory(directory)
    return Sources(reading, _contents(await read_documents(connection, topics)))


class LiveDocuments:
    """The rulebook in force. `start` reads everything once, `run` follows the changes for ever."""

    def __init__(
        self, connection: KafkaConnection, topics: Topics, defaults: Policy, directory: Path | None = None
    ) -> None:
        self.rulebook = Rulebook(Cascade({}), defaults)
        self._connection = connection
        self._topics = topics
        self._defaults = defaults
        self._directory = directory
        self._on_topic: dict[DocumentName, str] = {}
        self._in_directory = DirectoryReading()
        self._faults: frozenset[Problem] = frozenset()
        self._changed = asyncio.Event()
        self._tables = follow_documents(connection, topics)

    def effective(self, tenant_id: str, project_id: str | None) -> tuple[RuleSet, Policy]:
        """The rules and the policy in force now."""
        return self.rulebook.effective(tenant_id, project_id)

    async def start(self) -> None:
        """Return when all documents that were there at the call are in force. It may be called again before `run`.

        Raises ConfigError if the directory cannot be read, TransientError or PermanentError if the topic cannot.
        """
        if self._directory is not None:
            self._in_directory = await asyncio.to_thread(read_directory, self._directory)
        await self._tables.aclose()
        self._tables = follow_documents(self._connection, self._topics)
        self._on_topic = _contents(await anext(self._tables))
        await self._renew()

    async def run(self) -> None:
        """Follow the changes until cancelled. Brokers that are away, and a directory that is, change nothing."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_topic())
            group.create_task(self._put_in_force())
            if self._directory is not None:
                group.create_task(self._watch(self._directory))

    async def _follow_topic(self) -> None:
        while True:
            try:
                async with aclosing(self._tables) as tables:
                    async for table in tables:
                        self._on_topic = _contents(table)
                        self._changed.set()
            except TransientError as error:
                log.warning("documents_not_followed", reason=str(error))
            await asyncio.sleep(_TRY_AGAIN_SECONDS)
            self._tables = follow_documents(self._connection, self._topics)

    async def _watch(self, directory: Path) -> None:
        taken = seen = None
        while True:
            try:
                state = await asyncio.to_thread(directory_state, directory)
                if state == seen and state != taken:
                    reading = await asyncio.to_thread(_read_unchanged, directory, state)
                    if reading is not None:
                        self._in_directory, taken = reading, state
                        self._changed.set()
                seen = state
            except ConfigError as error:
                if seen is not None:
                    log.warning("documents_directory_unreadable", reason=str(error))
                taken = seen = None
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _put_in_force(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._renew()

    async def _renew(self) -> None:
        cascade = Cascade(Sources(self._in_directory, self._on_topic).documents)
        if cascade.documents != self.rulebook.cascade.documents:
            self.rulebook = await asyncio.to_thread(Rulebook, cascade, self._defaults, self.rulebook)
            DOCUMENT_RELOADS.inc()
            log.info("documents_in_force", documents=len(cascade.documents))
        DOCUMENTS.set(len(cascade.documents))
        self._tell_faults()

    def _tell_faults(self) -> None:
        """Count what is wrong, and log what was not before."""
        rejected = (*self._in_directory.problems, *self.rulebook.problems)
        warnings = self.rulebook.warnings
        DOCUMENT_FAULTS.labels(DocumentFault.REJECTED).set(len(rejected))
        DOCUMENT_FAULTS.labels(DocumentFault.WARNING).set(len(warnings))
        self._log_new(DocumentFault.REJECTED, rejected)
        self._log_new(DocumentFault.WARNING, warnings)
        self._faults = frozenset((*rejected, *warnings))

    def _log_new(self, kind: DocumentFault, faults: Iterable[Problem]) -> None:
        new = [fault for fault in faults if fault not in self._faults]
        for fault in new[:MAX_LOGGED]:
            log.warning(
                "document_fault",
                kind=kind,
                document=fault.source,
                rule=fault.rule_id,
                field=fault.field,
                reason=fault.reason,
            )
        if len(new) > MAX_LOGGED:
            log.warning("document_faults_not_shown", kind=kind, count=len(new) - MAX_LOGGED)


def _read_unchanged(directory: Path, state: Mapping[Path, FileState]) -> DirectoryReading | None:
    """What the directory holds; None where it has changed since it was in `state`."""
    reading = read_directory(directory)
    return reading if directory_state(directory) == state else None


def _contents(table: DocumentTable) -> dict[DocumentName, str]:
    return {name: document.content for name, document in table.documents.items()}

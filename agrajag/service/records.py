"""Writes what happens to sessions and processes, where everybody can follow it."""

from collections.abc import Iterable
from typing import Protocol

from agrajag.model.processes import ProcessRecord
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.topics import Topics

SOURCE = "agrajag/service"


class Sending(Protocol):
    """Whatever brings records to the brokers."""

    async def send(self, outputs: Iterable[Output]) -> None:
        """Returns when the brokers have all of them. Raises TransientError or PermanentError."""


class ProcessRecords:
    """Writes records to the topic of process events, in the order given."""

    def __init__(self, sender: Sending, topics: Topics) -> None:
        self._sender = sender
        self._topics = topics

    async def write(self, *records: ProcessRecord) -> None:
        """Returns when the brokers have them. Raises as `Sending.send`."""
        await self._sender.send([process_output(self._topics, record, SOURCE) for record in records])

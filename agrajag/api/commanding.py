"""Carries what people ask for over HTTP to the workers, once: whoever repeats a request is told what the first was.

An `Idempotency-Key` names a request among those of its user. Its command id is derived from it, so that every API
process finds the same command: in its own memory, else in the store, else on the topic, where a worker knows what it
has carried out before.
"""

import asyncio
import hashlib
import uuid
from collections import OrderedDict
from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

import structlog

from agrajag.api.problems import Missing, ProblemType, Refused, needing, not_found
from agrajag.api.store_access import StoreAccess, store_needed
from agrajag.errors import PermanentError, TransientError
from agrajag.metrics import API_KEYS_UNCHECKED, API_REPEATS
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandOutcome, ProcessStatus
from agrajag.model.processes import ProcessEvent
from agrajag.wire.asking import Asker, Unanswered

log = structlog.get_logger(__name__)

_KEPT = 10_000
_STORE_SECONDS = 2.0


class Known(NamedTuple):
    """What is known of a command: how it was asked, its result, and the end of its job, as far as they have come."""

    asked: HealthCommand
    asked_at: datetime
    result: CommandResult | None
    end: ProcessEvent | None


def command_id_of(tenant_id: str, user_id: str, idempotency_key: str | None) -> str:
    """The id of the command that a user's request stands for; without a key it is like no other."""
    if idempotency_key is None:
        return f"api-{uuid.uuid4().hex}"
    named = "\0".join((tenant_id, user_id, idempotency_key))
    return f"api-{hashlib.sha256(named.encode()).hexdigest()[:40]}"


def command_location(tenant_id: str, command_id: str) -> str:
    """Where it can be read what became of a command."""
    return f"/brain/{quote(tenant_id, safe='')}/commands/{quote(command_id, safe='')}"


class Commanding:
    """The commands of one API process."""

    def __init__(self, asker: Asker, store: StoreAccess) -> None:
        self._asker = asker
        self._store = store
        self._asked: OrderedDict[tuple[str, str], HealthCommand] = OrderedDict()

    async def ask(self, command: HealthCommand, wait_seconds: float, *, named: bool) -> CommandResult:
        """How the command ended; one that was asked before is not asked again. `named`: its sender has named it.

        Raises a 409 where it was refused, a 422 where another request had its name, and a 503 that says whether it is
        Kafka or a worker that does not answer.
        """
        earlier = await self._earlier(command) if named else None
        if earlier is not None:
            if not _is_same(earlier.asked, command):
                raise Refused(ProblemType.INVALID, "Idempotency-Key: another request of yours had this one")
            API_REPEATS.inc()
            command = earlier.asked
        result = earlier.result if earlier is not None else None
        if result is None:
            self._remember(command)
            result = await self._answered(command, wait_seconds)
        if result.outcome is CommandOutcome.REFUSED:
            raise Refused(ProblemType.REFUSED, result.reason or "the worker has refused it")
        return result

    async def end_of(self, tenant_id: str, job_id: str, wait_seconds: float) -> ProcessEvent | None:
        """The CLOSED of a job; None where this process does not hear of it within `wait_seconds`."""
        try:
            async with asyncio.timeout(wait_seconds):
                return await self._asker.end_of(tenant_id, job_id)
        except TimeoutError:
            return None

    async def find(self, tenant_id: str, command_id: str) -> Known:
        """What is known of a command. Raises a 404, or a 503 where only the store could tell."""
        known = self._in_memory(tenant_id, command_id)
        if known is None:
            with store_needed():
                known = await self._in_store(tenant_id, command_id)
        if known is None:
            raise not_found("command")
        job_id = known.result.job_id if known.result is not None else None
        if job_id is None:
            return known
        end = await self.end_of(tenant_id, job_id, 0) or await self._stored_end(tenant_id, job_id)
        return known._replace(end=end)

    async def _answered(self, command: HealthCommand, wait_seconds: float) -> CommandResult:
        try:
            with needing(Missing.KAFKA):
                return await self._asker.ask(command, wait_seconds)
        except Refused as refused:
            if not isinstance(refused.__cause__, Unanswered):
                self._asked.pop((command.tenant_id, command.command_id), None)  # it may never have been sent
                raise
            waits = f"no worker has answered yet; command {command.command_id} waits and will be carried out"
            told = {"Retry-After": "5", "Location": command_location(command.tenant_id, command.command_id)}
            raise Refused(ProblemType.UNAVAILABLE, waits, missing=Missing.WORKER, headers=told) from refused

    async def _earlier(self, command: HealthCommand) -> Known | None:
        known = self._in_memory(command.tenant_id, command.command_id)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                return await self._in_store(command.tenant_id, command.command_id)
        except (TransientError, PermanentError, TimeoutError) as error:
            # A worker still knows the commands that it has carried out lately.
            API_KEYS_UNCHECKED.inc()
            log.warning("command_not_looked_up", command_id=command.command_id, reason=str(error))
            return None

    def _remember(self, command: HealthCommand) -> None:
        self._asked[command.tenant_id, command.command_id] = command
        if len(self._asked) > _KEPT:
            self._asked.popitem(last=False)

    def _in_memory(self, tenant_id: str, command_id: str) -> Known | None:
        asked = self._asked.get((tenant_id, command_id))
        if asked is None or asked.at is None:
            return None
        return Known(asked, asked.at, self._asker.result(tenant_id, command_id), None)

    async def _in_store(self, tenant_id: str, command_id: str) -> Known | None:
        audited = await (await self._store.opened()).commands.find(tenant_id, command_id)
        if audited is None:
            return None
        asked = audited.command
        if asked.at is None:
            asked = asked.with_changes(at=audited.asked_at)
        result = audited.result or self._asker.result(tenant_id, command_id)
        return Known(asked, audited.asked_at, result, None)

    async def _stored_end(self, tenant_id: str, job_id: str) -> ProcessEvent | None:
        """The CLOSED of a job that ended before this process had begun to listen; None where the store is away too."""
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                processes = await (await self._store.opened()).processes.of_job(tenant_id, job_id)
        except (TransientError, PermanentError, TimeoutError):
            return None
        ends = (one for one in processes if one.status is ProcessStatus.CLOSED and not one.is_superseded)
        return next(ends, None)


def _is_same(one: HealthCommand, other: HealthCommand) -> bool:
    """Whether two commands ask for the same, whenever."""
    return one.with_changes(at=None) == other.with_changes(at=None)

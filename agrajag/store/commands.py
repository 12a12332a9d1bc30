"""Commands as the store shows them: who asked for what and why, and what became of it.

What was asked and what was answered come from two topics, in any order and more than once, so each stands in a document
of its own, and whoever reads puts them together. Of several commands under one id the first counts; of several results
the one that says most, since a repeat is told that it was done before. Both go after 30 days (`store.expiry`).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from pymongo import ASCENDING, DESCENDING, IndexModel

from agrajag.core.times import EPOCH
from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandOutcome
from agrajag.model.keys import command_key
from agrajag.store.bson_form import to_bson
from agrajag.store.expiry import EXPIRY_INDEX, expiring
from agrajag.store.failures import translated
from agrajag.store.guarded import GuardedCollection, Write

_ASKED, _ANSWERED = "asked", "answered"
_SAYS = {
    CommandOutcome.REFUSED: 1,
    CommandOutcome.NOTHING_MATCHED: 2,
    CommandOutcome.ALREADY_APPLIED: 3,
    CommandOutcome.APPLIED: 4,
}


class AuditedCommand(NamedTuple):
    """A command as it was asked at a time, and its result if there is one yet."""

    command: HealthCommand
    asked_at: datetime
    result: CommandResult | None


class AuditPage(NamedTuple):
    """Commands, the newest first; `next_after` is where to go on, None on the last page."""

    commands: tuple[AuditedCommand, ...]
    next_after: str | None


def asked_write(command: HealthCommand, asked_at: datetime) -> Write:
    """What was asked; `asked_at`, in UTC, is when the broker appended it. Raises InputError as `to_bson`."""
    key = command_key(command.tenant_id, command.command_id)
    moment = (asked_at - EPOCH) // timedelta(milliseconds=1)
    # The trace has any names that somebody gave to its fields, and says nothing about who and why.
    document = to_bson(command.with_changes(otel=None)) | {
        "askedAt": asked_at,
        "place": f"{moment:016d}|{key}",
    }
    return Write(f"{key}|{_ASKED}", 1, expiring(document, asked_at))


def answered_write(result: CommandResult) -> Write:
    """What was answered. Raises InputError as `to_bson`."""
    told = to_bson(result)  # within a field, since it has a revision of its own
    key = command_key(result.tenant_id, result.command_id)
    return Write(f"{key}|{_ANSWERED}", _SAYS[result.outcome], expiring({"result": told}, told["at"]))


class CommandCollection(GuardedCollection):
    """`commands`: a mirror of the topics `health-commands` and `command-results`.

    All reads raise TransientError or PermanentError. What is no such record, written by somebody else, is logged and
    counts as absent.
    """

    name: ClassVar[str] = "commands"
    indexes: ClassVar[tuple[IndexModel, ...]] = (
        IndexModel([("tenantId", ASCENDING), ("place", ASCENDING)]),
        EXPIRY_INDEX,
    )

    async def find(self, tenant_id: str, command_id: str) -> AuditedCommand | None:
        """The command of a tenant; None where nobody knows that it was asked."""
        key = command_key(tenant_id, command_id)
        with translated("reading a command"):
            found = await self._collection.find_one({"_id": f"{key}|{_ASKED}"})
        return None if found is None else next(iter(await self._audited([found])), None)

    async def page(self, tenant_id: str, *, after: str | None = None, limit: int = 100) -> AuditPage:
        """At most `limit` (from 1) of a tenant's commands, the newest first."""
        placed = {"$gt": ""} if after is None else {"$gt": "", "$lt": after}
        with translated("listing commands"):
            found = (
                await self._collection.find({"tenantId": tenant_id, "place": placed})
                .sort("place", DESCENDING)
                .limit(limit + 1)
                .to_list()
            )
        shown = found[:limit]
        next_after = shown[-1]["place"] if len(found) > limit else None
        return AuditPage(tuple(await self._audited(shown)), next_after)

    async def _audited(self, asked: Iterable[Mapping[str, Any]]) -> list[AuditedCommand]:
        commands = [
            (command, one["askedAt"])
            for one in asked
            if (command := self._read(HealthCommand, one)) is not None
        ]
        keys = [_answer_key(command) for command, _ in commands]
        with translated("reading the results of commands"):
            found = await self._collection.find({"_id": {"$in": keys}}).to_list()
        results = {one["_id"]: self._read(CommandResult, one["result"]) for one in found}
        return [
            AuditedCommand(command, asked_at, results.get(_answer_key(command)))
            for command, asked_at in commands
        ]


def _answer_key(command: HealthCommand) -> str:
    return f"{command_key(command.tenant_id, command.command_id)}|{_ANSWERED}"

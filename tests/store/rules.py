"""Holds every command that we send to the store to what works alike on MongoDB and on the embedded store.

The embedded one gives wrong answers for some indexes and pipelines and scans whole collections for some filters. Each
rule here keeps us away from one of them. pymongo swallows what a listener raises, so violations are kept, and
`checked` fails the test that caused them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pymongo import monitoring


def violations(command: Mapping[str, Any]) -> list[str]:
    """What is wrong with one command as the driver sends it; empty for a good one."""
    name = next(iter(command))
    check = _CHECKS.get(name)
    return check(command) if check else []


class StoreRules(monitoring.CommandListener):
    """Looks at each command of every client made after it was registered."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.seen_commands = 0

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.seen_commands += 1
        self.broken += [f"{event.command_name}: {told}" for told in violations(event.command)]

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Nothing to check in an answer."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Nothing to check in a failure."""

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Fails at the end if a rule was broken meanwhile."""
        self.broken.clear()
        yield
        assert not self.broken, "\n".join(self.broken)


def _always(told: str) -> Any:
    return lambda _command: [told]


def _of_update(command: Mapping[str, Any]) -> list[str]:
    found = []
    for statement in command.get("updates", ()):
        found += _of_write_filter(statement["q"])
        if isinstance(statement["u"], list):
            found += [told for stage in statement["u"] for told in _of_pipeline_stage(stage)]
    return found


def _of_delete(command: Mapping[str, Any]) -> list[str]:
    return [told for statement in command.get("deletes", ()) for told in _of_write_filter(statement["q"])]


def _of_write_filter(selected: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} at the top of a write's filter scans the collection"
        for key in selected
        if key.startswith("$")
    ]


def _of_pipeline_stage(stage: Mapping[str, Any]) -> list[str]:
    found = []
    for name, value in (stage.get("$set") or stage.get("$addFields") or {}).items():
        if "." in name:
            found.append(f"pipeline $set of the path {name} does nothing where its parent is no document")
        is_expression = isinstance(value, Mapping) and len(value) == 1 and next(iter(value)).startswith("$")
        if isinstance(value, Mapping) and not is_expression:
            found.append(
                f"pipeline $set of {name} to a bare object merges on one server and replaces on the other"
            )
        if isinstance(value, str) and value.startswith("$"):
            found.append(f"pipeline $set of {name} to a text that reads as a field path")
    return found


def _of_find(command: Mapping[str, Any]) -> list[str]:
    selected, order = command.get("filter", {}), command.get("sort", {})
    fields = {name for name, test in selected.items() if isinstance(test, Mapping) and "$in" in test}
    found = [f"$in and sort on {name}: the order follows the list" for name in fields & set(order)]
    return found + [
        f"{key} at the top of a filter scans the collection" for key in selected if key.startswith("$")
    ]


def _of_create_indexes(command: Mapping[str, Any]) -> list[str]:
    keys = [(field, way) for index in command["indexes"] for field, way in index["key"].items()]
    return [f"the index key {field}: {way} is not ascending" for field, way in keys if way != 1]


_CHECKS = {
    "findAndModify": _always("scans the collection"),
    "bulkWrite": _always("a bulk over collections is not synced to disk"),
    "distinct": _always("reads the collection and is wrong for arrays of documents"),
    "update": _of_update,
    "delete": _of_delete,
    "find": _of_find,
    "createIndexes": _of_create_indexes,
}

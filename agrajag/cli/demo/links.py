"""Connections that come up, are closed and come back, each step once the one before has reached the documents.

What each step has to do to its tools stands with it in the bundled file; a document that is otherwise is a problem of
the run.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from itertools import groupby
from typing import Any

import orjson
from aiokafka import AIOKafkaProducer

from agrajag.cli.demo.reading import Follower
from agrajag.clock import utc_now
from agrajag.core.link import scope_id_of, scope_of
from agrajag.model.events import SystemEvent
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, link_key, parts
from agrajag.model.wire_model import WireModel
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics


class LinkStep(WireModel):
    """One line of the file: an event, the step that it is part of, and whether its tools are down afterwards."""

    step: str
    down: bool
    event: dict[str, Any]

    def happened(self, now: datetime) -> SystemEvent:
        """The event at `now`."""
        return SystemEvent.from_json(orjson.dumps(self.event | {"occurredAt": now.isoformat()}))


@dataclass(frozen=True)
class LinkBooks:
    """What the steps did. `problems` has one line for each document that is not as its step says."""

    went_down: int
    came_back: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"tools that went down with their connection: {self.went_down}, came back with one: {self.came_back}"


def bundled_link_steps() -> tuple[LinkStep, ...]:
    """What the package brings along."""
    text = resources.files("agrajag").joinpath("defaults/demo/links.jsonl").read_text("utf-8")
    return tuple(LinkStep.model_validate_json(line) for line in text.splitlines())


def documents_of(event: SystemEvent) -> list[str]:
    """The keys of the documents of the event's tools."""
    scope, scope_id = scope_of(event.kind), scope_id_of(event)
    return [health_key(event.tenant_id, scope, scope_id, tool) for tool in event.tool_names]


def not_as_expected(expected: Mapping[str, bool], documents: Mapping[str, ToolHealth]) -> list[str]:
    """A line for each document whose link is not `expected`: True is down. `documents` are by the same keys."""
    states = {key: _state(documents.get(key)) for key in expected}
    return [
        f"the link of {key} is {states[key]}, should be {_word(down)}"
        for key, down in expected.items()
        if states[key] != _word(down)
    ]


def _word(down: bool) -> str:
    return "down" if down else "up"


def _state(document: ToolHealth | None) -> str:
    if document is None or not document.link.connections:
        return "unknown"
    return _word(document.link.down_since is not None)


def _down(documents: Mapping[str, ToolHealth]) -> set[str]:
    return {key for key, document in documents.items() if document.link.down_since is not None}


async def through_links(
    connection: KafkaConnection,
    topics: Topics,
    follower: Follower,
    steps: Sequence[LinkStep],
    tell: Callable[[str], None],
    patience_seconds: float,
) -> LinkBooks:
    """Send the events of each step, tell what it did, and go on; `patience_seconds` are for all steps together."""
    deadline = time.monotonic() + patience_seconds
    documents = follower.ledger.documents
    expected: dict[str, bool] = {}
    went_down = came_back = 0
    problems: list[str] = []
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        for step, lines in groupby(steps, key=lambda line: line.step):
            before = _down(documents)
            happened = [(line.happened(utc_now()), line.down) for line in lines]
            for event, is_down in happened:
                key = link_key(event.tenant_id, event.link_id).encode()
                await producer.send_and_wait(topics.name(Topic.SYSTEM_EVENTS), event.to_json(), key)
                expected |= dict.fromkeys(documents_of(event), is_down)
            while (wrong := not_as_expected(expected, documents)) and time.monotonic() < deadline:
                await follower.read_on()
            problems += [f"after connections {step}: {problem}" for problem in wrong]
            down = _down(documents)
            went_down, came_back = went_down + len(down - before), came_back + len(before - down)
            moved = _told("down", down - before) + _told("up again", before - down)
            tell(f"connections that {step}: {len(happened)}{moved}")
    return LinkBooks(went_down, came_back, tuple(problems))


def _told(what: str, keys: Iterable[str]) -> str:
    tools = ", ".join(sorted(parts(key)[-1] for key in keys))
    return f"; {what}: {tools}" if tools else ""

"""A call that succeeds, a person who commands: each has to do to its tool what stands with it in the bundled file."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Annotated, Any

import orjson
from aiokafka import AIOKafkaProducer
from pydantic import Field

from agrajag.cli.demo.reading import Follower
from agrajag.clock import utc_now
from agrajag.errors import TransientError
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandOutcome, Scope, Status
from agrajag.model.events import ToolCallSucceeded
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key, tool_key
from agrajag.model.wire_model import Id, WireModel
from agrajag.wire.asking import ask
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics


class HealingStep(WireModel):
    """One line of the file: a success or a command about a tool of a project, and the tool's status afterwards."""

    tells: str
    project_id: Id
    status: Annotated[Status, Field(strict=False)]
    success: dict[str, Any] | None = None
    command: dict[str, Any] | None = None

    def asked(self) -> HealthCommand | None:
        """The command, if it is one."""
        return None if self.command is None else HealthCommand.from_json(orjson.dumps(self.command))

    def succeeded(self, now: datetime) -> ToolCallSucceeded:
        """The success at `now`."""
        return ToolCallSucceeded.from_json(
            orjson.dumps({**(self.success or {}), "occurredAt": now.isoformat()})
        )

    @property
    def document(self) -> str:
        """The key of the document that changes."""
        about = self.command or self.success or {}
        return health_key(about["tenantId"], Scope.PROJECT, self.project_id, about["toolName"])


@dataclass(frozen=True)
class HealingBooks:
    """What the steps did. `problems` has one line for each document that is not as its step says."""

    healed: int
    commanded: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"tools that a success healed: {self.healed}, that a person spoke about: {self.commanded}"


def bundled_healing_steps() -> tuple[HealingStep, ...]:
    """What the package brings along."""
    text = resources.files("agrajag").joinpath("defaults/demo/healing.jsonl").read_text("utf-8")
    return tuple(HealingStep.model_validate_json(line) for line in text.splitlines())


def not_as_told(step: HealingStep, documents: Mapping[str, ToolHealth], now: datetime) -> str | None:
    """A line where the document does not have the step's status; None where it has."""
    document = documents.get(step.document)
    status = document.status_at(now) if document is not None else "unknown"
    return None if status == step.status else f"{step.document} is {status}, should be {step.status}"


async def through_healing(
    connection: KafkaConnection,
    topics: Topics,
    follower: Follower,
    steps: Sequence[HealingStep],
    tell: Callable[[str], None],
    patience_seconds: float,
) -> HealingBooks:
    """Take each step, tell what it did, and go on; `patience_seconds` are for all steps together."""
    deadline = time.monotonic() + patience_seconds
    documents = follower.ledger.documents
    healed = commanded = 0
    problems: list[str] = []
    for step in steps:
        before = _status(documents, step)
        asked = step.asked()
        if asked is None:
            await _report(connection, topics, step.succeeded(utc_now()))
        elif problem := await _refusal(connection, topics, asked, deadline - time.monotonic()):
            problems.append(problem)
            continue
        while (wrong := not_as_told(step, documents, utc_now())) and time.monotonic() < deadline:
            await follower.read_on()
        if wrong:
            problems.append(f"after {step.tells}: {wrong}")
            continue
        healed, commanded = healed + (asked is None), commanded + (asked is not None)
        tell(f"{step.tells}: {before} before, {step.status} now")
    return HealingBooks(healed, commanded, tuple(problems))


def _status(documents: Mapping[str, ToolHealth], step: HealingStep) -> str:
    document = documents.get(step.document)
    return document.status_at(utc_now()) if document is not None else "unknown"


async def _report(connection: KafkaConnection, topics: Topics, success: ToolCallSucceeded) -> None:
    key = tool_key(success.tenant_id, success.tool_name).encode()
    async with AIOKafkaProducer(**connection.producer_options()) as producer:
        await producer.send_and_wait(topics.name(Topic.TOOL_CALL_SUCCESSES), success.to_json(), key)


async def _refusal(
    connection: KafkaConnection, topics: Topics, command: HealthCommand, patience_seconds: float
) -> str | None:
    """Send a command; a line where it is not carried out."""
    try:
        result = await ask(
            connection, topics, command, source="agrajag/demo", wait_seconds=max(1.0, patience_seconds)
        )
    except TransientError as error:
        return str(error)
    if result.outcome is CommandOutcome.APPLIED:
        return None
    return f"the command {command.command_id} ended as {result.outcome}: {result.reason}"

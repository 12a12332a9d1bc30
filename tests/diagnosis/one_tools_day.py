"""What is told of one tool about which every text says the same: errors, diagnoses by the rules and a model, commands.

Everything is real but the brokers: the agents of the stream over raw records, the worker's answering, the engine, the
SDK's client against a scripted model, probes over HTTP. What would be sent is kept, and so is what would be logged.
"""

import io
import json
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog

from agrajag.core.match import compiled
from agrajag.harness import Model, NoModel
from agrajag.logs import configure_logging
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Status
from agrajag.model.events import ToolCallError
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.service.answering import Answering
from agrajag.service.intake import Work
from agrajag.service.patience import Patience
from agrajag.stream.applying import ApplyAttempt
from agrajag.stream.commanding import CommandAttempt
from agrajag.stream.triaging import TriageAttempt
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_command, a_rule, an_error
from tests.diagnosis.engine_runs import an_engine
from tests.diagnosis.probe_cases import probes
from tests.diagnosis.test_engine_over_http import credentials, for_alice, search
from tests.diagnosis.tool_servers import Asked, Behaviour, ToolServer, answers
from tests.harness.replies import Message, calls, text, use
from tests.harness.runs import connected
from tests.harness.scripted_model import Request, ScriptedModel
from tests.service.attempting import TOPICS, Clock, Kept, attempts_of
from tests.stream.test_healing_and_commanding import Tool
from tests.wire.records import received

_BEFORE = NOW - timedelta(seconds=20)
_LATER = NOW + timedelta(seconds=20)
_RULES = compiled([[a_rule("any")]])
"""Nothing that is said keeps a diagnosis from being begun."""


@dataclass
class Told:
    """All that was said of the tool to anybody: records, the table's changelog, requests to the model, logs."""

    outputs: list[Output] = field(default_factory=list)
    changelog: list[bytes] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    logs: str = ""

    def of(self, topic: Topic) -> list[bytes]:
        """The values of a topic's records."""
        name = TOPICS.name(topic)
        return [one.value or b"" for one in self.outputs if one.topic == name]

    @property
    def places(self) -> dict[str, str]:
        """What was said, by the place where it was."""
        found = {
            "changelog": b"\n".join(self.changelog).decode(),
            "prompt": json.dumps(self.requests, ensure_ascii=False),
            "logs": self.logs,
        }
        for one in self.outputs:
            wire = b"\n".join([one.key or b"", one.value or b"", *(value for _, value in one.headers)])
            found[one.topic] = found.get(one.topic, "") + wire.decode()
        return found


class World:
    """The tool's server, the model's, and what both repeat at present."""

    def __init__(self) -> None:
        self.texts: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        """All of it, line by line."""
        return "\n".join(self.texts)

    async def tool(self, asked: Asked, writer: Any) -> None:
        """Fails for Alice and works for others; repeats what it is asked with."""
        body = f"{self.says}\n{asked.headers.get('authorization')}".encode()
        lines = [one for one in self.texts if one.isascii() and one.isprintable()]
        headers = dict(zip(("WWW_Authenticate", "Location"), reversed(lines), strict=False))
        hers: Behaviour = answers(401, body, **headers)
        await for_alice(hers, answers(200, body, **headers))(asked, writer)

    def model(self, request: Request) -> Message:
        """Looks at everything, then repeats it as if it had seen it."""
        if len(request.body["messages"]) == 1:
            return calls(
                use("u", "tool_probe_as_user", toolName="search"),
                use("s", "tool_probe_as_system", toolName="search"),
                use("h", "tool_health_read", toolName="search"),
            )
        answer = {
            "classification": "USER_SPECIFIC_TECHNICAL",
            "scope": "USER",
            "humanNote": self.says,
            "userActionHint": self.says,
        }
        return text(json.dumps(answer))


@dataclass
class Day:
    """A world, its parts running; each `of` is a tool's day with nothing known before."""

    world: World
    server: ToolServer
    model_server: ScriptedModel
    model: Model
    directory: Path
    written: io.StringIO

    async def of(self, *texts: str) -> Told:
        """What is told of a tool about which every text says these."""
        self.world.texts = texts
        says = self.world.says
        told, tool = Told(), Tool(rules=_RULES)
        self.model_server.requests.clear()
        self.written.seek(0)
        self.written.truncate()
        self._keep(
            told, tool, tool.decide(TriageAttempt, tool.told(TriageAttempt, *_errors(says), at=_BEFORE))
        )
        await self._diagnosed(told, tool, NoModel.NO_KEY)
        self._keep(
            told, tool, tool.decide(CommandAttempt, tool.told(CommandAttempt, *_commands(says), at=_LATER))
        )
        await self._diagnosed(told, tool, self.model)
        told.requests = [request.body for request in self.model_server.requests]
        told.logs = self.written.getvalue()
        return told

    async def _diagnosed(self, told: Told, tool: Tool, model: Model | NoModel) -> None:
        """The newest job answered, and the answer applied."""
        job = DiagnosisJob.from_json(told.of(Topic.DIAGNOSIS_JOBS)[-1])
        health = ToolHealth.from_json(told.of(Topic.HEALTH_CHANGED)[-1])
        engine = an_engine(probes(search(self.server), directory=self.directory), model, health)
        sender, clock = Kept(), Clock()
        answering = Answering(attempts_of(sender, clock=clock), sender, TOPICS, Patience(), clock)
        record = received(job.to_json(), topic=TOPICS.name(Topic.DIAGNOSIS_JOBS))
        assert await answering.attempt(Work(engine, job, record), 1) is None
        self._keep(told, tool, sender.outputs)
        result = DiagnosisResult.from_json(told.of(Topic.DIAGNOSIS_RESULTS)[-1])
        self._keep(told, tool, tool.decide(ApplyAttempt, tool.told(ApplyAttempt, result, at=_LATER)))

    def _keep(self, told: Told, tool: Tool, outputs: Iterable[Output]) -> None:
        told.outputs += outputs
        view = tool.memory.view(tool.number)
        told.changelog += [tool.codec.encode(entry) for key in view if (entry := view.peek(key)) is not None]


def _errors(says: str) -> list[ToolCallError]:
    """Two of Alice, the second of which joins the job of the first; each text of the report says the same."""
    url = f"GET https://search.example.com/?q={says}"
    report: dict[str, Any] = {"http_status": 503, "headers": {"X-Debug": says, "Location": url}}
    return [
        an_error(event_id="e1", reply_to="caller", occurred_at=_BEFORE, message=url, body=says, **report),
        an_error(
            event_id="e2",
            reply_to="caller",
            occurred_at=_BEFORE,
            message=says,
            error_code=says[:120],
            exception_type=says[:256],
            **report,
        ),
    ]


def _commands(says: str) -> list[HealthCommand]:
    """A person says it too, and has the tool looked at again."""
    return [
        a_command(CommandKind.OVERRIDE, command_id="c1", status=Status.DOWN, reason=says, at=_LATER),
        a_command(CommandKind.RECHECK, command_id="c2", user_id="alice", reason=says, at=_LATER),
    ]


@asynccontextmanager
async def a_day(directory: Path) -> AsyncIterator[Day]:
    """The world with its parts running; what is logged meanwhile is written as a program would write it."""
    world = World()
    async with AsyncExitStack() as stack:
        written = stack.enter_context(_logged())
        server = await stack.enter_async_context(ToolServer(world.tool))
        model_server = await stack.enter_async_context(ScriptedModel(world.model))
        model = await stack.enter_async_context(connected(model_server.url))
        yield Day(world, server, model_server, model, credentials(directory), written)


@contextmanager
def _logged() -> Iterator[io.StringIO]:
    root, stream = logging.getLogger(), io.StringIO()
    before, config = (root.handlers, root.level), structlog.get_config()
    names = [name for name in logging.root.manager.loggerDict if "." not in name]
    levels = {name: logging.getLogger(name).level for name in names}
    configure_logging("debug", "json", stream)
    try:
        yield stream
    finally:
        root.handlers, root.level = before
        structlog.configure(**config)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)

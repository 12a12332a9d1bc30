"""What attempts need in tests: documents, a sender that keeps what it is given, a second engine that is nobody's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson

from agrajag.documents.cascade import DocumentName
from agrajag.documents.recipes import Recipe
from agrajag.documents.rulebook import Rulebook
from agrajag.errors import TransientError
from agrajag.model.enums import ServiceFailure
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.processes import PROCESS_RECORDS, RunUsage
from agrajag.service.attempts import AttemptBounds, Attempts
from agrajag.service.audit import ProcessAudit
from agrajag.service.engine import Role, ServiceRun
from agrajag.service.records import ProcessRecords
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW
from tests.documents.texts import a_cascade

TOPICS = Topics("test")


class Kept:
    """Keeps what is sent; while `away`, nothing is."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.away = False

    async def send(self, outputs: Iterable[Output]) -> None:
        if self.away:
            raise TransientError("kafka: away")
        self.outputs += outputs

    @property
    def told(self) -> list[dict[str, Any]]:
        """The values, as they are on the wire."""
        return [orjson.loads(output.value or b"null") for output in self.outputs]

    def of_kind(self, kind: str) -> list[Any]:
        """The records of one kind, read."""
        return [
            PROCESS_RECORDS[kind].from_json(output.value or b"")
            for output, value in zip(self.outputs, self.told, strict=True)
            if value.get("kind") == kind
        ]


@dataclass
class Standing:
    """Documents as they stand; a test may put others there."""

    rulebook: Rulebook = field(default_factory=lambda: Rulebook(a_cascade()))

    def put(self, documents: Mapping[DocumentName, str]) -> None:
        self.rulebook = Rulebook(a_cascade(documents.items()), before=self.rulebook)


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def move(self, **span: float) -> datetime:
        self.now += timedelta(**span)
        return self.now


@dataclass(frozen=True)
class Counter:
    """An engine that counts the letters of a tool's name: it needs nothing, and closes its own processes."""

    name: str = "agrajag"
    closes_itself: bool = True
    roles: frozenset[Role] = frozenset(Role)
    input_model: type[DiagnosisJob] = DiagnosisJob
    output_model: type[RunUsage] = RunUsage
    output_topic: Topic = Topic.PROCESS_EVENTS

    def output_key(self, output: RunUsage) -> str:
        return output.tenant_id

    def output_id(self, output: RunUsage) -> str:
        return output.process_id

    async def run(self, job: DiagnosisJob, run: ServiceRun) -> RunUsage:
        return a_usage(run.process_id, tokens=len(job.tool_name))

    def failed(self, job: DiagnosisJob, run: ServiceRun, why: ServiceFailure) -> RunUsage:
        return a_usage(run.process_id)


def a_usage(process_id: str, **fields: Any) -> RunUsage:
    """What a process has used; nothing but for what is named."""
    given: dict[str, Any] = {
        "process_id": process_id,
        "job_id": "job-1",
        "tenant_id": "acme",
        "project_id": "essays",
        "service_name": "agrajag",
        "at": NOW,
    }
    return RunUsage(**(given | fields))


def attempts_of(
    sender: Kept, documents: Standing | None = None, clock: Clock | None = None, **bounds: Any
) -> Attempts:
    """The attempts of a worker that has not started to follow the topic."""
    given = AttemptBounds(**({"worker_id": "worker-1"} | bounds))
    return Attempts(
        KafkaConnection("127.0.0.1:1"), TOPICS, sender, documents or Standing(), given, clock or Clock()
    )


def a_recipe(**fields: Any) -> Recipe:
    """A recipe of the diagnosis that allows nothing else than is named."""
    given: dict[str, Any] = {"name": "agrajag", "engine": "agrajag", "source": "here"}
    return Recipe(**(given | fields))


def a_run(sender: Kept, job: DiagnosisJob, **fields: Any) -> ServiceRun:
    """The run of a process `proc-1`, whose calls are written to `sender`."""
    clock = Clock()
    given: dict[str, Any] = {
        "process_id": "proc-1",
        "session_id": "sess-1",
        "attempt": 1,
        "recipe": a_recipe(),
        "started_at": NOW,
        "deadline": 0.0,
        "identity": job.originating_user_id,
        "over_budget": None,
        "audit": ProcessAudit(ProcessRecords(sender, TOPICS), job, "proc-1", clock),
        "used": lambda usage: None,
        "clock": clock,
    }
    return ServiceRun(**(given | fields))

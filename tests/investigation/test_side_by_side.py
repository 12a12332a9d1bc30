"""Thirty runs at the same time on one client, one ledger and the same sources know nothing of one another.

All call their calls alike, so that whatever went astray would fit elsewhere. No run gets its first observation before
all of them have asked for it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agrajag.harness import Failed, RunContext
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.gate import Sources
from agrajag.investigation.investigator import Investigator
from agrajag.investigation.ledger import MemoryLedger
from agrajag.investigation.limits import Limits
from agrajag.investigation.records import ProgressSnapshot
from tests.harness.replies import Message, Reply, Status, calls
from tests.harness.runs import connected
from tests.harness.scripted_model import Request, ScriptedModel
from tests.investigation.scenarios.scene import CHECKED, Seen, answer, draft, lookup, observed

RUNS = 30
CONCLUDES, LOOKS_TWICE, CANCELLED, FAILS, SATURATED, INVENTS = range(6)


@dataclass(frozen=True)
class Expected:
    """What comes of a run of a kind: its end, its records, the requests that it takes."""

    end: str
    records: tuple[tuple[str, str], ...]
    requests: int


FIRST = ("call-1", "READY/EVIDENCE/None")
EXPECTED = {
    CONCLUDES: Expected("COMPLETED", (FIRST,), 2),
    LOOKS_TWICE: Expected(
        "COMPLETED", (("call-1", "READY/EVIDENCE/GAINED"), ("call-2", "READY/EVIDENCE/None")), 3
    ),
    CANCELLED: Expected("CANCELLED", (("call-1", "FAILED/ERROR/None"),), 1),
    FAILS: Expected("OVERLOADED", (FIRST,), 2),
    SATURATED: Expected("INFORMATION_SATURATION", (("call-1", "READY/NO_EVIDENCE/None"),), 3),
    INVENTS: Expected("UNKNOWN_CALL", (FIRST,), 2),
}
"""The last of them cites `call-2`, which others have."""


def kind_of(number: int) -> int:
    return number % len(EXPECTED)


def turns(number: int) -> list[Reply]:
    """The replies to a run; what each of them uses tells the runs apart."""
    first, second = calls(lookup("call-1")), calls(lookup("call-2", "504", "call-1"))
    concluded = answer(draft(observed("call-1")))
    after: dict[int, list[Reply]] = {
        CONCLUDES: [concluded],
        LOOKS_TWICE: [second, answer(draft(observed("call-1", "call-2")))],
        CANCELLED: [concluded],
        FAILS: [Status(529)],
        SATURATED: [calls(lookup("call-2", "504")), calls(lookup("call-3", "505"))],
        INVENTS: [answer(draft(observed("call-2"), limitations=CHECKED))],
    }
    used = {"input_tokens": 1_000 + number, "output_tokens": 1}
    whole = [first, *after[kind_of(number)]]
    return [
        Message(reply.content, reply.stop_reason, used) if isinstance(reply, Message) else reply
        for reply in whole
    ]


def number_of(body: Any) -> int:
    """Whose request it is, by the question in it."""
    content = body["messages"][0]["content"]
    asked = content if isinstance(content, str) else content[0]["text"]
    query: str = json.loads(asked)["query"]
    return int(query.removeprefix("事故 "))


def reply(request: Request) -> Reply:
    """The next turn of the run that asks."""
    done: int = sum(message["role"] == "assistant" for message in request.body["messages"])
    return turns(number_of(request.body))[done]


@dataclass
class Meeting:
    """A source where all runs wait for each other once, and each finds only what is its own."""

    everyone: asyncio.Barrier = field(default_factory=lambda: asyncio.Barrier(RUNS))
    hanging: dict[str, asyncio.Event] = field(default_factory=dict)

    async def look(self, ids: CallIds, asked: FrozenModel) -> Found | Failed:
        if ids.tool_call_id == "call-1":
            await self.everyone.wait()
        number = int(ids.run_id.removeprefix("run-"))
        scope = Scope(source="runbooks", subjects=(ids.run_id,))
        if kind_of(number) == CANCELLED:
            self.hanging[ids.run_id].set()
            await asyncio.Event().wait()
        if kind_of(number) == SATURATED:
            return Found((), scope)
        return Found(({"document": "a.md", "text": f"item-{number}- 503"},), scope)


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    number: int
    context: RunContext
    end: str
    cited: tuple[str, ...]
    snapshot: ProgressSnapshot | None


@dataclass
class Together:
    """The runs, and what they share."""

    meeting: Meeting = field(default_factory=Meeting)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    hook: Seen = field(default_factory=Seen)
    server: ScriptedModel = field(default_factory=lambda: ScriptedModel(reply))

    async def run(self, investigator: Investigator, number: int) -> Ended:
        """One of them, until it ends."""
        context = investigator.run_context(f"session-{number}", f"run-{number}")
        hanging = self.meeting.hanging[context.run_id] = asyncio.Event()
        asking = asyncio.create_task(investigator.investigate(f"事故 {number}", None, context))
        if kind_of(number) == CANCELLED:
            await hanging.wait()
            context.cancel()
        try:
            result = await asking
        except DiagnosisAgentOutputError as error:
            return Ended(number, context, error.code, (), error.snapshot)
        except DiagnosisAgentError as error:
            return Ended(number, context, error.code, (), None)
        analysis = () if result.draft is None else result.draft.analysis
        cited = tuple(call_id for item in analysis for call_id in item.tool_call_ids)
        return Ended(number, context, result.stop_reason, cited, result.snapshot)

    def requests(self, number: int) -> list[Any]:
        """What the model was asked for one of the runs."""
        return [request.body for request in self.server.requests if number_of(request.body) == number]


@asynccontextmanager
async def all_at_once() -> AsyncIterator[tuple[Together, list[Ended]]]:
    """Thirty runs, once all of them have ended."""
    together = Together()
    meeting = together.meeting
    async with together.server, connected(together.server.url) as model:
        sources = Sources(meeting, meeting, meeting)
        investigator = Investigator(model, sources, together.ledger, Limits(no_gains=1), together.hook)
        async with asyncio.timeout(60):
            ended = await asyncio.gather(*(together.run(investigator, number) for number in range(RUNS)))
        yield together, ended


async def test_thirty_runs_side_by_side_on_one_client_stay_apart() -> None:
    async with all_at_once() as (together, ended):
        for one in ended:
            await check_records(together, one)
            check_requests(together, one)
            check_what_it_returns(one)
        assert len(together.server.requests) == sum(EXPECTED[kind_of(n)].requests for n in range(RUNS))
        seen = {(step.session_id, step.run_id) for step in together.hook.steps}
        assert seen == {(f"session-{number}", f"run-{number}") for number in range(RUNS)}


async def check_records(together: Together, one: Ended) -> None:
    """Its records are its own, and as many as it made calls."""
    records = await together.ledger.of_run(f"run-{one.number}")
    told = tuple(
        (record.tool_call_id, f"{record.state}/{record.evidence_status}/{record.evaluation}")
        for record in records
    )
    assert told == EXPECTED[kind_of(one.number)].records
    assert {record.session_id for record in records} == {f"session-{one.number}"}
    subjects = {record.scope.subjects for record in records if record.scope is not None}
    assert subjects <= {(f"run-{one.number}",)}
    assert bool(subjects) is (kind_of(one.number) != CANCELLED)


def check_requests(together: Together, one: Ended) -> None:
    """It was shown its own observations alone, and has counted its own rounds, calls and tokens alone."""
    expected = EXPECTED[kind_of(one.number)]
    requests = together.requests(one.number)
    assert len(requests) == expected.requests
    shown = set(re.findall(r"item-(\d+)-", json.dumps(requests)))
    assert shown == (set() if kind_of(one.number) in (CANCELLED, SATURATED) else {str(one.number)})
    spent = one.context.spent
    answered = expected.requests - (kind_of(one.number) == FAILS)
    assert (spent.model_calls, spent.tokens) == (expected.requests, answered * (1_001 + one.number))
    assert spent.tool_calls == len(expected.records)


def check_what_it_returns(one: Ended) -> None:
    """It ends as its kind does, with what it has checked itself."""
    expected = EXPECTED[kind_of(one.number)]
    assert one.end == expected.end
    ready = [call_id for call_id, how in expected.records if how.startswith("READY")]
    assert list(one.cited) == (ready if one.end == "COMPLETED" else [])
    if one.end == "OVERLOADED":
        assert one.snapshot is None
        return
    assert one.snapshot is not None
    assert one.snapshot.run_id == f"run-{one.number}"
    assert [check.tool_call_id for check in one.snapshot.checks] == ready
    assert {check.scope.subjects for check in one.snapshot.checks} <= {(f"run-{one.number}",)}

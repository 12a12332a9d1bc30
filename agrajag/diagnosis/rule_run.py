"""Answers a job without a model: probes as the planner says, and decides. Probes of the run that were made count, too.

Each probe is on record before it is made and after it has ended, like the tool call of a model.
"""

from agrajag.diagnosis.diagnostician import decide
from agrajag.diagnosis.planner import next_probe
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.diagnosis.probe_book import ProbeBook
from agrajag.diagnosis.probe_tools import PROBE_AS_SYSTEM, PROBE_AS_USER, observation
from agrajag.diagnosis.snapshot import Snapshot
from agrajag.harness import Failed, Ready, ToolCall
from agrajag.model.enums import ProbeIdentity
from agrajag.model.jobs import Diagnosis
from agrajag.service.engine import ServiceRun

_TOOLS = {ProbeIdentity.USER: PROBE_AS_USER, ProbeIdentity.SYSTEM: PROBE_AS_SYSTEM}


async def answer_by_rules(snapshot: Snapshot, book: ProbeBook, run: ServiceRun) -> Diagnosis:
    """The diagnosis. Raises TransientError or PermanentError where a probe cannot be put on record."""
    await probe_further(snapshot, book, run)
    return decide(snapshot, book.outcomes, book.refusals, run.clock())


async def probe_further(snapshot: Snapshot, book: ProbeBook, run: ServiceRun) -> None:
    """Make the probes that still tell something, whoever made the first ones. Raises as `answer_by_rules`."""
    while not book.is_full:
        # What a model's own input showed may be the input's; it is asked again with the operator's.
        identity = next_probe(snapshot, book.with_operators_sample, book.refusals)
        if identity is None:
            break
        await _probe(snapshot, book, run, identity)


async def _probe(snapshot: Snapshot, book: ProbeBook, run: ServiceRun, identity: ProbeIdentity) -> None:
    call = ToolCall(
        session_id=run.session_id,
        run_id=run.process_id,
        call_id=f"rules-{len(book.outcomes) + len(book.refusals) + 1}",
        tool_name=_TOOLS[identity],
        arguments={"toolName": snapshot.job.tool_name},
    )
    await run.audit.started(call)
    found = await book.probe(call.call_id, identity, again=True)
    outcome = Failed(found) if isinstance(found, ProbeRefusal) else Ready(observation(found))
    await run.audit.ended(call, outcome)

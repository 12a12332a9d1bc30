"""What is told without a claim is what the worker tells, and whatever is asked changes nothing."""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.check import check_result
from agrajag.core.lookup import Caller
from agrajag.core.precheck import precheck
from agrajag.core.verdicts import Verdict
from agrajag.model.answers import CheckResult
from agrajag.model.enums import CommandKind, Outcome, Scope
from agrajag.model.events import ToolCallError
from agrajag.model.health import ToolHealth
from tests.builders import NOW, an_error
from tests.core.test_triage_properties import errors, steps
from tests.core.triaging import Triage


def documents_of(tools: Triage, event: ToolCallError) -> list[ToolHealth]:
    """The caller's documents as they go over the wire."""
    found = (tools.table.get(key) for key in Caller.of(event).keys(event.tool_name))
    return [
        ToolHealth.from_json(entry.health.to_json()) for entry in found if entry is not None and entry.health
    ]


def told_by_the_worker(tools: Triage, event: ToolCallError, at: datetime) -> CheckResult:
    arrival = tools.arrival(event, at)
    (verdict,) = tools.step([arrival])
    assert isinstance(verdict, Verdict)
    return check_result(arrival, verdict, tools.rules.hash, documents_of(tools, event), tools.policy)


@given(st.lists(steps, max_size=8), st.lists(st.tuples(st.integers(0, 3_600), errors), max_size=3), steps)
def test_it_is_always_the_workers_answer_but_for_the_id_of_a_diagnosis_that_begins(
    sequence: list[Any], successes: list[tuple[int, dict[str, Any]]], last: Any
) -> None:
    tools = Triage()
    at = NOW
    for number, (overrides, pause, skew) in enumerate(sequence):
        at += timedelta(seconds=pause)
        event = an_error(event_id=f"e{number}", occurred_at=at + timedelta(seconds=skew), **overrides)
        tools.step([tools.arrival(event, at)])
    for pause, overrides in successes:
        at += timedelta(seconds=pause)
        ids = {name: overrides[name] for name in ("user_id", "project_id", "session_id", "tool_name")}
        tools.succeed(at, event_id=f"s{at}", **ids)
    overrides, pause, skew = last
    at += timedelta(seconds=pause)
    event = an_error(event_id="asked", occurred_at=at + timedelta(seconds=skew), **overrides)
    before = dict(tools.table)
    told = precheck(event, "asked", documents_of(tools, event), tools.rules, tools.policy, at)
    assert tools.table == before
    worker = told_by_the_worker(tools, event, at)
    if worker.outcome is Outcome.ENQUEUED:
        worker = worker.with_changes(job_id=None)
    assert told == worker


def test_a_diagnosis_in_flight_is_told_and_one_that_would_begin_has_no_id() -> None:
    tools = Triage()
    event = an_error(event_id="asked", http_status=503)
    first = precheck(event, "asked", [], tools.rules, tools.policy, NOW)
    assert (first.outcome, first.job_id, first.hint) == (Outcome.ENQUEUED, None, "diagnosis pending")
    job_id = tools.send(http_status=503).job_id
    again = precheck(event, "asked", documents_of(tools, event), tools.rules, tools.policy, NOW)
    assert (again.outcome, again.job_id) == (Outcome.COALESCED, job_id)


def test_what_a_person_cleared_is_told_as_it_is() -> None:
    tools = Triage()
    event = an_error(event_id="asked", http_status=403)
    tools.send(http_status=403)
    told = precheck(event, "asked", documents_of(tools, event), tools.rules, tools.policy, NOW)
    assert told.outcome is Outcome.SUPPRESSED
    later = NOW + timedelta(minutes=1)
    tools.command(CommandKind.CLEAR_COOLDOWN, later, scope=Scope.USER, scope_id="alice")
    event = an_error(event_id="asked", http_status=403, occurred_at=later)
    told = precheck(event, "asked", documents_of(tools, event), tools.rules, tools.policy, later)
    assert told == told_by_the_worker(tools, event, later)
    assert told.outcome is Outcome.COOLING_DOWN

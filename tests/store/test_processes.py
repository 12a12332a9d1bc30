"""Processes, sessions and their audit in the store: the newest, and all of what a person asks for."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from agrajag.core.stories import Told, stories
from agrajag.model.enums import CloseReason, ProcessStatus, SessionStatus, ToolCallStatus
from agrajag.model.processes import TRIED_AGAIN
from agrajag.store import Store
from agrajag.store.expiry import KEPT_FOR
from agrajag.store.processes import audit_write, process_write, session_write
from agrajag.wire.topics import TOPICS, Topic
from tests.builders import NOW, a_process_event, a_session_event, a_tool_call_event, a_usage

_STEPS = [
    a_process_event(status, at=NOW + timedelta(seconds=number)) for number, status in enumerate(ProcessStatus)
]


async def test_the_newest_step_of_a_process_stands_in_whatever_order_the_steps_come(opened: Store) -> None:
    for number, order in enumerate(itertools.permutations(_STEPS)):
        job = f"job-{number}"
        for step in (*order, order[0]):
            told = step.with_changes(process_id=f"proc-{number}", job_id=job)
            await opened.processes.write([process_write(told)])
        assert [event.status for event in await opened.processes.of_job("acme", job)] == [
            ProcessStatus.CLOSED
        ]


def test_the_answer_of_a_process_that_was_tried_again_counts_above_that_and_that_above_its_beginning() -> (
    None
):
    again = a_process_event(ProcessStatus.CLOSED, close_reason=CloseReason.STALE, reason=TRIED_AGAIN)
    done = a_process_event(ProcessStatus.CLOSED, close_reason=CloseReason.DONE)
    running = a_process_event(ProcessStatus.RUNNING)
    revisions = [process_write(event).revision for event in (running, again, done)]
    assert revisions == sorted(set(revisions))


async def test_the_attempts_at_a_job_are_listed_by_time_and_nobody_elses(opened: Store) -> None:
    first = a_process_event(process_id="proc-b")
    second = a_process_event(process_id="proc-a", at=NOW + timedelta(minutes=1))
    others = [a_process_event(job_id="job-2", process_id="proc-c"), a_process_event(tenant_id="globex")]
    await opened.processes.write(map(process_write, [second, first, *others]))
    assert await opened.processes.of_job("acme", "job-1") == [first, second]
    assert await opened.processes.of_job("globex", "job-2") == []


async def test_the_processes_of_a_project_are_listed_from_a_moment_to_before_another(opened: Store) -> None:
    hours = [a_process_event(process_id=f"proc-{hour}", at=NOW + timedelta(hours=hour)) for hour in range(5)]
    without = a_process_event(process_id="proc-x", project_id=None, at=NOW + timedelta(hours=1))
    other = a_process_event(process_id="proc-y", project_id="letters", at=NOW + timedelta(hours=1))
    await opened.processes.write(map(process_write, [*reversed(hours), without, other]))
    since, until = NOW + timedelta(hours=1), NOW + timedelta(hours=3)
    assert await opened.processes.of_project("acme", "essays", since, until) == hours[1:3]
    assert await opened.processes.of_project("acme", None, since, until) == [without]


async def test_the_audit_of_a_process_is_its_whole_story_however_often_it_was_written(opened: Store) -> None:
    told: list[Told] = [
        *_STEPS,
        a_tool_call_event(arguments='{"sampleInput": {}}'),
        a_tool_call_event(ToolCallStatus.READY, observation="$where", at=NOW + timedelta(seconds=1)),
        a_tool_call_event(call_id="a|b"),
        a_usage(tokens=12, cost_micro_usd=3),
    ]
    others = [a_usage(process_id="proc-2"), a_usage(tenant_id="globex")]
    for _ in range(2):
        await opened.audit.write(map(audit_write, [*reversed(told), *others]))
    assert await opened.audit.story("acme", "proc-1") == stories(told)[0]
    assert await opened.audit.story("acme", "proc-3") is None


async def test_of_the_usage_that_is_told_twice_the_newest_stands(opened: Store) -> None:
    newer = a_usage(tokens=20, at=NOW + timedelta(milliseconds=1))
    await opened.audit.write([audit_write(newer)])
    await opened.audit.write([audit_write(a_usage(tokens=10))])
    story = await opened.audit.story("acme", "proc-1")
    assert story is not None
    assert story.usage == newer


async def test_a_session_stands_as_its_highest_number_says(opened: Store) -> None:
    suspended = a_session_event(SessionStatus.SUSPENDED, seq=3, project_id=None)
    for event in (a_session_event(seq=2), suspended, a_session_event(seq=1)):
        await opened.sessions.write([session_write(event)])
    await opened.sessions.write([session_write(a_session_event(tenant_id="globex"))])
    assert await opened.sessions.of_tenant("acme") == [suspended]


async def test_what_somebody_else_has_written_hides_no_process_and_no_audit(
    opened: Store, store_uri: str, database: str
) -> None:
    await opened.processes.write([process_write(a_process_event())])
    await opened.audit.write([audit_write(a_usage())])
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        await client[database].processes.insert_one({"_id": "0", "tenantId": "acme", "jobId": "job-1"})
        for number, kind in enumerate(("usage", "no such kind", None)):
            foreign = {"_id": str(number), "tenantId": "acme", "processId": "proc-1", "kind": kind}
            await client[database].audit.insert_one(foreign)
    assert await opened.processes.of_job("acme", "job-1") == [a_process_event()]
    story = await opened.audit.story("acme", "proc-1")
    assert story is not None
    assert story.usage == a_usage()


async def test_processes_and_audit_go_after_a_month_by_an_index_of_the_store_and_sessions_stay(
    opened: Store, store_uri: str, database: str
) -> None:
    await opened.processes.write([process_write(a_process_event())])
    await opened.audit.write([audit_write(a_usage())])
    async with AsyncMongoClient[dict[str, Any]](store_uri, tz_aware=True) as client:
        for name in ("processes", "audit"):
            indexes = await client[database][name].index_information()
            assert indexes["expiresAt_1"]["expireAfterSeconds"] == 0
            (document,) = await client[database][name].find().to_list()
            assert document["expiresAt"] == NOW + KEPT_FOR
        assert "expiresAt_1" not in await client[database].sessions.index_information()


def test_what_has_gone_cannot_come_back_from_its_topic() -> None:
    (spec,) = (spec for spec in TOPICS if spec.topic is Topic.PROCESS_EVENTS)
    assert spec.retention is not None
    assert spec.retention < KEPT_FOR


@pytest.mark.parametrize("moment", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)])
def test_a_time_at_the_end_of_all_times_breaks_nothing(moment: datetime) -> None:
    write = process_write(a_process_event(at=moment))
    assert write.document is not None
    assert write.document["expiresAt"] >= write.document["at"]
    assert audit_write(a_usage(at=moment)).revision >= 0

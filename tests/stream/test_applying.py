"""The agent of answers over raw records: documents, CLOSED, inbox items, and the counts; and who else tells items."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from agrajag.core.inbox import INBOX_LIFE
from agrajag.core.policy import Policy
from agrajag.metrics import SweptKind
from agrajag.model.answers import InboxItem
from agrajag.model.enums import (
    Classification,
    CloseReason,
    CommandKind,
    InboxStatus,
    ProbeIdentity,
    ProcessStatus,
    Scope,
    Status,
)
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key
from agrajag.model.processes import ProcessEvent
from agrajag.service.sessions import SessionKey
from agrajag.stream.applying import ApplyAttempt
from agrajag.stream.commanding import CommandAttempt
from agrajag.stream.recovering import RecoverAttempt
from agrajag.stream.reemission import written_again
from agrajag.stream.sweeping import SweepStep
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_command, a_result, a_success, an_error, evidence
from tests.stream.test_healing_and_commanding import Tool, documents
from tests.stream.test_triaging import counted, of

SOON = NOW + timedelta(seconds=10)
FAILS = (
    evidence(ProbeIdentity.USER, at=NOW + timedelta(seconds=5)),
    evidence(at=NOW + timedelta(seconds=6)),
)
OWN: dict[str, Any] = {
    "classification": Classification.USER_SPECIFIC_TECHNICAL,
    "evidence": (evidence(ProbeIdentity.USER, at=NOW + timedelta(seconds=5), status_code=401),),
}


class Asked(Tool):
    """A tool whose error has begun a job."""

    def __init__(self, policy: Policy | None = None) -> None:
        super().__init__(policy=policy)
        outputs = self.run(self.records([an_error(event_id="e1", http_status=503)]))
        (sent,) = of(Topic.DIAGNOSIS_JOBS, outputs)
        self.job = DiagnosisJob.model_validate_json(sent.value or b"")

    def answer(self, **overrides: Any) -> list[Output]:
        """What the agent sends for an answer to it."""
        result = a_result(self.job, at=SOON, **overrides)
        return self.decide(ApplyAttempt, self.told(ApplyAttempt, result, at=SOON))


def closed(outputs: Iterable[Output]) -> list[ProcessEvent]:
    return [ProcessEvent.model_validate_json(one.value or b"") for one in of(Topic.PROCESS_EVENTS, outputs)]


def items(outputs: Iterable[Output]) -> list[InboxItem]:
    return [InboxItem.model_validate_json(one.value or b"") for one in of(Topic.INBOX_ITEMS, outputs)]


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_an_answer_changes_its_document_and_closes_its_process(asked: Asked) -> None:
    before = counted("agrajag_answers_total", outcome="applied")
    outputs = asked.answer(evidence=FAILS)
    (health,) = documents(outputs)
    (process,) = closed(outputs)
    assert (health.status, health.verdict.by) == (Status.DOWN, f"agrajag-engine/{process.process_id}")
    assert (process.status, process.close_reason) == (ProcessStatus.CLOSED, CloseReason.DONE)
    assert (process.job_id, process.verdict, process.applied) == (
        asked.job.job_id,
        Classification.TECHNICALLY_BROKEN,
        True,
    )
    assert (process.reason, process.human_note, process.at) == (None, "it answers 502", SOON)
    (record,) = of(Topic.PROCESS_EVENTS, outputs)
    assert record.key == b"acme|essays"
    assert len(outputs) == 2
    assert counted("agrajag_answers_total", outcome="applied") == before + 1


def test_a_process_without_a_session_is_closed_in_that_of_its_project(asked: Asked) -> None:
    (process,) = closed(asked.answer(session_id=None))
    assert process.session_id == SessionKey("acme", "essays", "agrajag").session_id


def test_what_is_one_users_own_is_told_to_them_beside_their_document(asked: Asked) -> None:
    before = counted("agrajag_inbox_items_total", kind="PENDING")
    outputs = asked.answer(**OWN, user_action_hint="Renew it.")
    (item,) = items(outputs)
    (record,) = of(Topic.INBOX_ITEMS, outputs)
    assert (record.key, record.partition) == (item.item_id.encode(), None)
    assert (item.body, item.revision) == ("Renew it.", 1)
    assert {(health.scope, health.status) for health in documents(outputs)} == {
        (Scope.USER, Status.DOWN),
        (Scope.PROJECT, Status.OK),
    }
    assert closed(outputs)[0].user_action_hint == "Renew it."
    assert counted("agrajag_inbox_items_total", kind="PENDING") == before + 1


def test_guards_are_counted_and_stand_in_the_reason(asked: Asked) -> None:
    before = counted("agrajag_guards_total", kind="too_wide")
    (process,) = closed(asked.answer(evidence=FAILS, wanted=Scope.GLOBAL))
    assert process.reason == "wider than the question"
    assert counted("agrajag_guards_total", kind="too_wide") == before + 1


def test_an_answer_that_is_read_again_publishes_what_stands_and_closes_nothing(asked: Asked) -> None:
    records = asked.told(ApplyAttempt, a_result(asked.job, at=SOON, **OWN), at=SOON)
    first = asked.decide(ApplyAttempt, records)
    again = asked.decide(ApplyAttempt, records)
    assert closed(again) == []
    assert sorted(documents(again), key=repr) == sorted(documents(first), key=repr)
    assert items(again) == items(first)


def test_an_answer_that_nobody_waits_for_closes_its_process_the_same_each_time() -> None:
    tool = Tool()
    asked = Asked()
    results = [
        tool.decide(ApplyAttempt, tool.told(ApplyAttempt, a_result(asked.job, at=SOON), at=SOON))
        for _ in range(2)
    ]
    (first,), (second,) = map(closed, results)
    assert first == second
    assert (first.close_reason, first.applied) == (CloseReason.STALE, False)
    assert [len(outputs) for outputs in results] == [1, 1]


def test_a_success_and_a_command_tell_the_item_that_they_close(asked: Asked) -> None:
    (opened,) = items(asked.answer(**OWN))
    dismissal = a_command(
        CommandKind.DISMISS_INBOX,
        at=SOON,
        scope=Scope.USER,
        scope_id="alice",
        inbox_item_id=opened.item_id,
    )
    records = asked.told(CommandAttempt, dismissal, at=SOON)
    (dismissed,) = items(asked.decide(CommandAttempt, records))
    assert (dismissed.item_id, dismissed.status) == (opened.item_id, InboxStatus.DISMISSED)

    other = Asked()
    (opened,) = items(other.answer(**OWN))
    later = SOON + timedelta(minutes=1)
    success = other.told(RecoverAttempt, a_success(occurred_at=later), at=later)
    (archived,) = items(other.decide(RecoverAttempt, success))
    assert (archived.item_id, archived.status, archived.revision) == (
        opened.item_id,
        InboxStatus.ARCHIVED,
        2,
    )


def test_the_sweep_tells_the_item_that_was_open_for_too_long(asked: Asked) -> None:
    asked.answer(**OWN)
    asked.now = SOON + INBOX_LIFE
    key = health_key("acme", Scope.USER, "alice", "search").encode()
    step = SweepStep(asked.around, asked.number, [key])
    (item,) = items(step(asked.memory.view(asked.number)).outputs)
    assert item.status is InboxStatus.ARCHIVED
    assert step.taken[SweptKind.INBOX_ITEM] == 1


def test_what_is_told_again_after_a_takeover_are_items_as_well(asked: Asked) -> None:
    outputs = asked.answer(**OWN)
    view = asked.memory.view(asked.number)
    key = health_key("acme", Scope.USER, "alice", "search").encode()
    again = written_again(
        lambda partition, key, entry: asked.around.standing("a-test", partition, key, entry),
        asked.number,
        [key],
        view,
    )
    assert items(again.outputs) == items(outputs)

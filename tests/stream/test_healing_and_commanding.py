"""The agents of successes and of commands over raw records: documents, tombstones, answers, jobs, and the counts."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiokafka import ConsumerRecord

from agrajag.model.answers import CommandResult
from agrajag.model.enums import Classification, CommandKind, CommandOutcome, Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key, tool_key
from agrajag.model.wire_model import WireModel
from agrajag.stream.commanding import CommandAttempt
from agrajag.stream.deciding import Attempt, Deciding
from agrajag.stream.recovering import RecoverAttempt
from agrajag.wire.outputs import REVISION_HEADER, Output
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_command, a_success, an_error
from tests.stream.test_triaging import REFUSED, TOPICS, Partition, counted, of

KEY = health_key("acme", Scope.PROJECT, "essays", "search")


class Tool(Partition):
    """The partition of one tool with the agents of successes and of commands beside that of errors."""

    def told(
        self, attempt: type[Attempt[Any]], *events: WireModel, at: datetime = NOW
    ) -> list[ConsumerRecord]:
        """The next records of the agent's topic."""
        records = [self.record(event.to_json(), at) for event in events]
        for record in records:
            record.topic = self.topics.name(attempt.source)
        return records

    def decide(self, attempt: type[Attempt[Any]], records: list[ConsumerRecord]) -> list[Output]:
        """What the agent sends for these records."""
        self.step = Deciding(self.around, attempt)
        return self.run(records)


@pytest.fixture
def tool() -> Tool:
    """It is down."""
    partition = Tool()
    partition.run(partition.records([an_error(event_id="e1", **REFUSED)]))
    return partition


def documents(outputs: Iterable[Output]) -> list[ToolHealth]:
    return [ToolHealth.model_validate_json(one.value or b"") for one in of(Topic.HEALTH_CHANGED, outputs)]


def results(outputs: Iterable[Output]) -> list[CommandResult]:
    return [CommandResult.model_validate_json(one.value or b"") for one in of(Topic.COMMAND_RESULTS, outputs)]


def test_a_success_publishes_the_healed_document_and_is_counted(tool: Tool) -> None:
    before = counted("agrajag_successes_total", outcome="HEALED")
    success = a_success(occurred_at=NOW + timedelta(minutes=1))
    outputs = tool.decide(RecoverAttempt, tool.told(RecoverAttempt, success, at=NOW + timedelta(minutes=1)))
    (health,) = documents(outputs)
    assert (health.status, health.last_success_at) == (Status.OK, NOW + timedelta(minutes=1))
    assert len(outputs) == 1
    assert counted("agrajag_successes_total", outcome="HEALED") == before + 1


def test_a_success_that_is_read_again_publishes_the_standing_document(tool: Tool) -> None:
    records = tool.told(RecoverAttempt, a_success(), at=NOW)
    first = tool.decide(RecoverAttempt, records)
    assert tool.decide(RecoverAttempt, records) == first


def test_successes_of_nobody_by_the_name_of_the_system_heal_what_is_everybodys(tool: Tool) -> None:
    outputs = tool.decide(RecoverAttempt, tool.told(RecoverAttempt, a_success(user_id="_system")))
    assert [health.status for health in documents(outputs)] == [Status.OK]


def test_every_command_is_answered_and_counted_by_kind_and_outcome(tool: Tool) -> None:
    labels = {"kind": "override", "outcome": "APPLIED"}
    before = counted("agrajag_commands_total", **labels)
    commands = [
        a_command(CommandKind.OVERRIDE, command_id="c1", status=Status.OK, reason="a false alarm"),
        a_command(CommandKind.OVERRIDE, command_id="c2"),
        a_command(CommandKind.CLEAR_COOLDOWN, command_id="c3", error_signature="http-599"),
        a_command(CommandKind.LIFT_OVERRIDE, command_id="c4"),
    ]
    outputs = tool.decide(CommandAttempt, tool.told(CommandAttempt, *commands))
    (health,) = documents(outputs)
    applied, refused, nothing, lifted = results(outputs)
    assert (applied.outcome, applied.revision) == (CommandOutcome.APPLIED, health.revision)
    assert (refused.outcome, refused.reason) == (CommandOutcome.REFUSED, "status: override needs it")
    assert (nothing.outcome, nothing.revision) == (CommandOutcome.NOTHING_MATCHED, None)
    assert lifted.outcome is CommandOutcome.APPLIED
    assert {one.key for one in of(Topic.COMMAND_RESULTS, outputs)} == {b"acme|search"}
    assert counted("agrajag_commands_total", **labels) == before + 1


def test_a_recheck_sends_its_job_and_the_answer_names_it(tool: Tool) -> None:
    records = tool.told(CommandAttempt, a_command(CommandKind.RECHECK))
    outputs = tool.decide(CommandAttempt, records)
    (sent,) = of(Topic.DIAGNOSIS_JOBS, outputs)
    job = DiagnosisJob.model_validate_json(sent.value or b"")
    (answer,) = results(outputs)
    assert (answer.job_id, job.error_signature) == (job.job_id, "connect-refused")
    again = tool.decide(CommandAttempt, records)
    assert [one.value for one in of(Topic.DIAGNOSIS_JOBS, again)] == [sent.value]
    assert [(one.outcome, one.job_id) for one in results(again)] == [
        (CommandOutcome.ALREADY_APPLIED, job.job_id)
    ]


def test_a_deleted_document_is_a_tombstone_and_its_repeat_the_same_one(tool: Tool) -> None:
    records = tool.told(CommandAttempt, a_command(CommandKind.DELETE))
    outputs = tool.decide(CommandAttempt, records)
    (tombstone,) = of(Topic.HEALTH_CHANGED, outputs)
    (answer,) = results(outputs)
    assert (tombstone.key, tombstone.value) == (KEY.encode(), None)
    assert dict(tombstone.headers)[REVISION_HEADER] == b"%d" % (answer.revision or 0)
    again = tool.decide(CommandAttempt, records)
    assert of(Topic.HEALTH_CHANGED, again) == [tombstone]


def test_a_command_about_the_system_as_a_user_is_a_dead_letter(tool: Tool) -> None:
    command = a_command(CommandKind.DELETE, scope=Scope.USER, scope_id="_system")
    (letter,) = tool.decide(CommandAttempt, tool.told(CommandAttempt, command))
    assert letter.topic == TOPICS.dead_letters(Topic.HEALTH_COMMANDS)


def test_a_command_on_the_wrong_partition_is_sent_on_and_not_answered(tool: Tool) -> None:
    elsewhere = next(
        name
        for name in map(str, range(99))
        if partition_for(tool_key("acme", name).encode(), TOPICS.partitions) != tool.number
    )
    command = a_command(
        CommandKind.SET_UNAVAILABLE,
        tool_name=elsewhere,
        classification=Classification.TECHNICALLY_BROKEN,
        reason="x",
    )
    (republished,) = tool.decide(CommandAttempt, tool.told(CommandAttempt, command))
    assert republished.topic == TOPICS.name(Topic.HEALTH_COMMANDS)
    assert republished.value == command.to_json()

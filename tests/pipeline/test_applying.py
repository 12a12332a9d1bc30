"""Answers of diagnoses on a real Kafka: a document, the end of a process, an inbox item; and what a rebuild keeps."""

from datetime import UTC, datetime
from typing import Any

from agrajag.model.answers import InboxItem
from agrajag.model.enums import (
    Classification,
    CloseReason,
    CommandKind,
    CommandOutcome,
    InboxStatus,
    ProbeIdentity,
    Scope,
    Status,
)
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.keys import health_key, tool_key
from agrajag.model.processes import ProcessEvent
from agrajag.stream.rebuilding import Rebuilding
from agrajag.stream.worker import AGENTS
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic
from tests.builders import a_health, a_result, an_error, an_inbox_item, evidence
from tests.pipeline.runs import Run, Sent, sent
from tests.pipeline.test_healing_and_commands import commanded

ALICES = health_key("acme", Scope.USER, "alice", "search")


def record(result: DiagnosisResult) -> Sent:
    key = tool_key(result.tenant_id, result.tool_name).encode()
    return Sent(result.to_json(), key, topic=Topic.DIAGNOSIS_RESULTS)


async def items(run: Run) -> list[InboxItem]:
    records = await run.read(run.plan.topics.name(Topic.INBOX_ITEMS))
    return [InboxItem.model_validate_json(one.value) for one in records]


async def test_an_answer_is_applied_once_however_often_it_is_sent_and_its_user_dismisses_what_they_were_told(
    run: Run,
) -> None:
    run.start()
    at = datetime.now(UTC)
    await run.send([sent(an_error(event_id="e1", occurred_at=at, http_status=503, reply_to="me"))])
    await run.answered({"e1"})
    (job,) = await run.jobs()
    own: dict[str, Any] = {
        "classification": Classification.USER_SPECIFIC_TECHNICAL,
        "evidence": (evidence(ProbeIdentity.USER, at=datetime.now(UTC), status_code=401),),
    }
    result = a_result(job, at=datetime.now(UTC), **own)
    await run.send([record(result), record(result)])
    await run.caught_up()
    await run.send([record(result), record(result.with_changes(process_id="proc-2"))])
    await run.caught_up()

    assert (await run.documents())[ALICES].status is Status.DOWN
    (item,) = await items(run)
    assert (item.status, item.assigned_to_user_id) == (InboxStatus.PENDING, "alice")
    records = await run.read(run.plan.topics.name(Topic.PROCESS_EVENTS))
    closed = {
        (event.process_id, event.close_reason, event.applied)
        for event in (ProcessEvent.model_validate_json(one.value) for one in records)
    }
    assert closed == {
        (result.process_id, CloseReason.DONE, True),
        ("proc-2", CloseReason.STALE, False),
    }
    assert len(records) == 2

    fields = {"scope": Scope.USER, "scope_id": "alice", "inbox_item_id": item.item_id}
    answer = await commanded(run, CommandKind.DISMISS_INBOX, command_id="c1", **fields)
    assert answer.outcome is CommandOutcome.APPLIED
    assert [one.status for one in await items(run)] == [InboxStatus.PENDING, InboxStatus.DISMISSED]
    assert await run.dead_letters(Topic.DIAGNOSIS_RESULTS) == []


async def test_a_rebuilt_table_knows_which_items_of_a_user_are_open(run: Run) -> None:
    document = a_health(scope=Scope.USER, scope_id="alice", status=Status.DOWN)
    item = an_inbox_item(item_id="open")
    closed = item.with_changes(item_id="closed", status=InboxStatus.ARCHIVED, revision=2)
    home = partition_for(tool_key("acme", "search").encode(), run.plan.topics.partitions)
    told = [item, closed.with_changes(status=InboxStatus.PENDING, revision=1), closed]
    await run.send(
        [
            Sent(document.to_json(), ALICES.encode(), home, topic=Topic.HEALTH_CHANGED),
            *(Sent(one.to_json(), one.item_id.encode(), topic=Topic.INBOX_ITEMS) for one in told),
        ]
    )
    rebuilding = Rebuilding(
        KafkaConnection(run.plan.bootstrap_servers),
        run.plan.topics,
        group=run.plan.settings().group,
        sources=[agent.source for agent in AGENTS],
        tell=lambda _: None,
    )
    await rebuilding.run()
    assert (await run.entries())[ALICES].inbox == (item,)

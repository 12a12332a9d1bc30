"""Successes and commands on a real Kafka: a success heals, a person overrides and deletes, and each is done once."""

import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from agrajag.model.answers import CommandResult
from agrajag.model.enums import CommandKind, CommandOutcome, Scope, Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.asking import ask
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic
from tests.builders import a_command, a_success, an_error
from tests.pipeline.runs import Run, sent

KEY = health_key("acme", Scope.PROJECT, "essays", "search")


async def go_down(run: Run, at: datetime) -> None:
    error = an_error(event_id=f"e{at}", occurred_at=at, exception_type="httpx.ConnectError", reply_to="me")
    await run.send([sent(error)])
    await run.answered({f"e{at}"})


async def document(run: Run, holds: Callable[[ToolHealth], bool]) -> ToolHealth:
    """The document of the tool, once it is so."""

    async def found() -> ToolHealth:
        health = (await run.documents())[KEY]
        assert holds(health), health
        return health

    health: ToolHealth = await run.settled(found)
    return health


async def commanded(run: Run, kind: CommandKind, **fields: Any) -> CommandResult:
    """How a command ended."""
    connection = KafkaConnection(run.plan.bootstrap_servers)
    command = a_command(kind, **({"at": None} | fields))
    return await ask(connection, run.plan.topics, command, source="a-test", wait_seconds=60)


async def test_a_success_heals_once_and_what_fails_later_is_down_again(run: Run) -> None:
    run.start()
    at = datetime.now(UTC) - timedelta(seconds=30)
    await go_down(run, at)
    success = a_success(occurred_at=at + timedelta(seconds=1))
    await run.send([sent(success)])
    healed = await document(run, lambda health: health.status is Status.OK)
    assert healed.last_success_at is not None
    await go_down(run, at + timedelta(seconds=2))
    await run.send([sent(success), sent(success.with_changes(probe=True, occurred_at=datetime.now(UTC)))])
    await go_down(run, at + timedelta(seconds=3))
    health = await document(run, lambda health: health.counters.errors == 3)
    assert (health.status, [entry.by for entry in health.history]) == (
        Status.DOWN,
        ["agrajag-checker", "auto-clear", "agrajag-checker"],
    )
    assert await run.dead_letters(Topic.TOOL_CALL_SUCCESSES) == []


async def test_commands_are_done_once_in_their_order_and_for_their_tenant_alone(run: Run) -> None:
    worker = run.start()
    await go_down(run, datetime.now(UTC))
    fields: dict[str, Any] = {"command_id": "c1", "status": Status.OK, "reason": "a false alarm"}
    applied = await commanded(run, CommandKind.OVERRIDE, **fields)
    overridden = await document(run, lambda health: health.override is not None)
    assert (applied.outcome, applied.revision) == (CommandOutcome.APPLIED, overridden.revision)
    assert (overridden.status, overridden.verdict.status) == (Status.OK, Status.DOWN)

    late = datetime.now(UTC) - timedelta(minutes=5)
    outcomes = [
        await commanded(run, CommandKind.LIFT_OVERRIDE, command_id="c2", at=late),
        await commanded(run, CommandKind.DELETE, command_id="c3", scope=Scope.TENANT, scope_id="globex"),
        await commanded(run, CommandKind.DELETE, command_id="c4", scope_id="of-globex"),
    ]
    assert [result.outcome for result in outcomes] == [
        CommandOutcome.REFUSED,
        CommandOutcome.REFUSED,
        CommandOutcome.NOTHING_MATCHED,
    ]
    assert (await run.documents())[KEY] == overridden

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    run.start()
    again = await commanded(run, CommandKind.OVERRIDE, **fields)
    assert (again.outcome, again.revision) == (CommandOutcome.ALREADY_APPLIED, overridden.revision)

    deleted = await commanded(run, CommandKind.DELETE, command_id="c5")
    assert deleted.outcome is CommandOutcome.APPLIED
    assert KEY not in await run.documents()
    gone = (await run.entries())[KEY]
    assert (gone.health, gone.revision) == (None, deleted.revision)

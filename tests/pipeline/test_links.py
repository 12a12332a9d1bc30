"""Links on a real Kafka: a disconnect is told to whoever subscribes, and a reconnect undoes exactly that."""

from datetime import UTC, datetime
from typing import Any

from agrajag.model.enums import LinkKind, Scope, Status
from agrajag.model.events import SystemEvent
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.topics import Topic
from tests.builders import a_system_event, an_error
from tests.pipeline.runs import Run, Sent, sent

SHELL, FILES = (
    health_key("acme", Scope.SESSION, "s1", tool_name) for tool_name in ("client_shell", "client_files")
)


def foot(kind: LinkKind, seq: int) -> SystemEvent:
    """The only connection of the session's client."""
    return a_system_event(
        event_id=f"foot-{seq}",
        kind=kind,
        occurred_at=datetime.now(UTC),
        session_id="s1",
        link_id="foot|s1",
        seq=seq,
        cause="1006",
        tool_names=("client_shell", "client_files"),
    )


async def test_a_disconnect_takes_the_tools_of_its_session_down_and_a_reconnect_leaves_them_as_before(
    run: Run,
) -> None:
    run.start()

    async def document(status: Status, seq: int) -> ToolHealth:
        async def told() -> ToolHealth:
            documents = await run.documents()
            for key in (SHELL, FILES):
                assert key in documents
                assert documents[key].status is status
                assert [one.seq for one in documents[key].link.connections] == [seq]
            return documents[SHELL]

        found: ToolHealth = await run.settled(told)
        return found

    def apart_from_the_link(health: ToolHealth) -> dict[str, Any]:
        return health.model_dump(exclude={"revision", "updated_at", "link", "history"})

    error = an_error(
        tool_name="client_shell", session_id="s1", http_status=503, occurred_at=datetime.now(UTC)
    )
    await run.send([sent(error.with_changes(reply_to="me")), sent(foot(LinkKind.FOOT_CONNECTED, 1))])
    await run.answered({"event-1"})
    before = await document(Status.OK, 1)
    await run.send([sent(foot(LinkKind.FOOT_DISCONNECTED, 2))])
    down = await document(Status.DOWN, 2)
    assert [(entry.status, entry.by, entry.note) for entry in down.history] == [
        (Status.DOWN, "ws-disconnect", "1006")
    ]
    # The reconnect is told twice, and the late close of before once more.
    again = foot(LinkKind.FOOT_CONNECTED, 3)
    await run.send([sent(again), sent(foot(LinkKind.FOOT_DISCONNECTED, 2)), sent(again)])
    after = await document(Status.OK, 3)
    assert apart_from_the_link(after) == apart_from_the_link(before)
    assert before.counters.errors == 1


async def test_a_link_event_that_names_no_tool_is_a_dead_letter_and_the_others_go_on(run: Run) -> None:
    run.start()
    bad = foot(LinkKind.FOOT_CONNECTED, 1).to_json().replace(b'["client_shell","client_files"]', b"[]")
    good = sent(foot(LinkKind.FOOT_CONNECTED, 2))
    await run.send([Sent(bad, good.key, topic=Topic.SYSTEM_EVENTS), good])

    async def both() -> bool:
        letters = await run.dead_letters(Topic.SYSTEM_EVENTS)
        told = [(letter.value, dict(letter.headers)["agrajag-dlq-reason"]) for letter in letters]
        assert told == [(bad, b"invalid_field")]
        return set(await run.documents()) == {SHELL, FILES}

    await run.settled(both)

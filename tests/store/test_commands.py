"""Who asked for what and why, and what became of it, as the store shows it."""

import itertools
from datetime import timedelta
from typing import Any

from agrajag.model.answers import CommandResult, HealthCommand
from agrajag.model.enums import CommandKind, CommandOutcome, Status
from agrajag.store import Store
from agrajag.store.commands import answered_write, asked_write
from agrajag.store.expiry import KEPT_FOR
from agrajag.wire.topics import TOPICS, Topic
from tests.builders import NOW, a_command


def an_override(name: str, **fields: Any) -> HealthCommand:
    given: dict[str, Any] = {
        "status": Status.DOWN,
        "reason": "moving house",
        "duration": timedelta(hours=2),
        "otel": {"trace.$parent": "00-1"},
    }
    return a_command(CommandKind.OVERRIDE, command_id=name, **(given | fields))


def a_result(name: str, outcome: CommandOutcome = CommandOutcome.APPLIED, **fields: Any) -> CommandResult:
    given: dict[str, Any] = {"command_id": name, "tenant_id": "acme", "tool_name": "search", "at": NOW}
    return CommandResult(**(given | fields), outcome=outcome)


async def test_a_command_is_found_with_its_result_whichever_comes_first(opened: Store) -> None:
    commands, asked = opened.commands, an_override("c|1")
    assert await commands.find("acme", "c|1") is None
    await commands.write([answered_write(a_result("c|1", revision=7))])
    assert await commands.find("acme", "c|1") is None
    await commands.write([asked_write(asked, NOW)])
    found = await commands.find("acme", "c|1")
    assert found == (asked.with_changes(otel=None), NOW, a_result("c|1", revision=7))
    assert await commands.find("globex", "c|1") is None
    await commands.write([asked_write(an_override("c-2"), NOW)])
    unanswered = await commands.find("acme", "c-2")
    assert unanswered is not None
    assert unanswered.result is None


async def test_a_repeat_never_hides_what_the_command_did(opened: Store) -> None:
    outcomes = (CommandOutcome.REFUSED, CommandOutcome.ALREADY_APPLIED, CommandOutcome.APPLIED)
    for number, order in enumerate(itertools.permutations(outcomes)):
        name = f"c-{number}"
        later = an_override(name, by="mallory", reason="another")
        await opened.commands.write([asked_write(an_override(name), NOW)])
        for outcome in order:
            await opened.commands.write([asked_write(later, NOW), answered_write(a_result(name, outcome))])
        found = await opened.commands.find("acme", name)
        assert found is not None
        assert found.result == a_result(name)
        assert found.command.by == "ops"


async def test_the_audit_of_a_tenant_is_paged_from_the_newest_and_shows_each_command_once(
    opened: Store,
) -> None:
    names = [f"c-{number}" for number in range(7)]
    moments = [NOW + timedelta(seconds=number // 2) for number in range(7)]
    others = [asked_write(an_override("c-1", tenant_id="globex"), NOW)]
    asked = [asked_write(an_override(name), moment) for name, moment in zip(names, moments, strict=True)]
    await opened.commands.write([*asked, *others, *(answered_write(a_result(name)) for name in names)])
    seen, after = [], None
    for _ in range(4):
        page = await opened.commands.page("acme", after=after, limit=2)
        seen += [one.command.command_id for one in page.commands]
        after = page.next_after
    assert (seen, after) == (names[::-1], None)


def test_a_command_is_kept_for_a_month_longer_than_its_topic_holds_it() -> None:
    kept = {spec.topic: spec.retention for spec in TOPICS}
    for topic in (Topic.HEALTH_COMMANDS, Topic.COMMAND_RESULTS):
        retention = kept[topic]
        assert retention is not None
        assert retention < KEPT_FOR
    for write in (asked_write(an_override("c-1"), NOW), answered_write(a_result("c-1"))):
        assert write.document is not None
        assert write.document["expiresAt"] == NOW + KEPT_FOR

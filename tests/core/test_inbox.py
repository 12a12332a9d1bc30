"""Inbox items: one per user, tool and signature while open, in plain words, closed when there is nothing left to do."""

from typing import Any

import pytest

from agrajag.core.inbox import INBOX_LIFE, Inbox
from agrajag.core.inbox_text import message, shown_hint
from agrajag.core.policy import Policy
from agrajag.core.sweep import due_at, sweep
from agrajag.model.enums import Classification, CommandKind, CommandOutcome, InboxStatus, Scope, Status
from agrajag.model.health import MAX_INBOX
from agrajag.model.keys import health_key
from tests.builders import NOW, an_inbox_item
from tests.core.applying import ALICE, SYSTEM_WORKS, USER_FAILS, USER_WORKS, Applying
from tests.core.triaging import after

OWN: dict[str, Any] = {
    "classification": Classification.USER_SPECIFIC_TECHNICAL,
    "evidence": (USER_FAILS, SYSTEM_WORKS),
    "user_action_hint": "Renew your token in the settings.",
}
ALICES = health_key("acme", Scope.USER, "alice", "search")


def opened(**overrides: Any) -> Applying:
    """Alice has an open item about `search`."""
    tools = Applying()
    tools.answer(tools.job(**overrides), **OWN)
    return tools


def test_what_is_one_users_own_is_told_to_that_user() -> None:
    tools = opened()
    (item,) = tools.inbox()
    assert tools.news == [item]
    assert (item.assigned_to_user_id, item.status, item.revision) == ("alice", InboxStatus.PENDING, 1)
    assert (item.title, item.body) == (
        "Your access to search does not work",
        "Renew your token in the settings.",
    )
    assert (item.tool_name, item.error_signature) == ("search", "http-5xx")


def test_no_other_verdict_is_told_to_anybody() -> None:
    for classification in set(Classification) - {Classification.USER_SPECIFIC_TECHNICAL}:
        tools = Applying()
        tools.answer(tools.job(), classification=classification, user_action_hint="Do something.")
        assert tools.news == []


def test_there_is_one_item_of_a_signature_while_it_is_open() -> None:
    tools = opened()
    tools.answer(tools.job(at=after(minutes=30)), after(minutes=30, seconds=10), **OWN)
    assert (len(tools.inbox()), tools.news) == (1, [])
    tools.answer(tools.job(at=after(minutes=31), http_status=404), after(minutes=31, seconds=10), **OWN)
    assert [item.error_signature for item in tools.inbox()] == ["http-404", "http-5xx"]


def test_the_same_answer_gives_the_same_item() -> None:
    assert opened().inbox()[0].item_id == opened().inbox()[0].item_id
    assert opened().inbox()[0].item_id != opened(event_id="another").inbox()[0].item_id


def test_a_recheck_without_a_signature_is_about_that_of_the_failing_probe() -> None:
    tools = Applying()
    tools.answer(tools.recheck(), **OWN)
    (item,) = tools.inbox()
    assert item.error_signature == "http-401"


@pytest.mark.parametrize(
    ("locale", "title"),
    [
        ("de", "Ihr Zugang zu search funktioniert nicht"),
        ("de-CH", "Ihr Zugang zu search funktioniert nicht"),
        ("de_AT", "Ihr Zugang zu search funktioniert nicht"),
        ("DE", "Ihr Zugang zu search funktioniert nicht"),
        ("en", "Your access to search does not work"),
        ("den", "Your access to search does not work"),
        (None, "Your access to search does not work"),
    ],
)
def test_an_item_speaks_german_to_germans_and_else_english(locale: str | None, title: str) -> None:
    tools = Applying()
    tools.answer(tools.job(locale=locale), **OWN)
    assert tools.inbox()[0].title == title


@pytest.mark.parametrize("locale", ["de", "en"])
@pytest.mark.parametrize("hint", [None, "", "   ", "https://evil.example/login", "<img src=x>", "…!"])
def test_without_a_hint_that_can_be_shown_there_is_a_general_one(hint: str | None, locale: str) -> None:
    tools = Applying()
    tools.answer(tools.job(locale=locale), **(OWN | {"user_action_hint": hint}))
    (item,) = tools.inbox()
    assert item.body == message("search", None, locale).body
    assert "search" in item.body


@pytest.mark.parametrize(
    "hostile",
    [
        "Sign in at https://evil.example/login now",
        "Sign in at evil.example.com now",
        "Sign in at www.evil.example now",
        "Click [here](https://evil.example) now",
        "Click <a href='https://evil.example'>here</a> now",
        "Run javascript:alert(1) now",
        "Write to a@evil.example now",
        "Sign\x1b[31m in \u202enow\u0000",
        "Use the token ghp_abcdefghijklmnopqrstuvwxyz0123456789 now",
        "now " * 50,
    ],
)
def test_a_hint_leads_nowhere_and_shows_nothing_but_words(hostile: str) -> None:
    tools = Applying()
    applied = tools.answer(tools.job(), **(OWN | {"user_action_hint": hostile[:200]}))
    body = tools.inbox()[0].body
    assert applied.user_action_hint == body == shown_hint(hostile[:200])
    assert body.isprintable()
    assert "now" in body
    assert len(body) <= 200
    assert not {"evil", "href", "alert", "ghp_"} & set(body.lower().replace(".", " ").split())
    assert not any(sign in body for sign in ("<", "://", "evil", "ghp_", "alert("))


def test_a_tools_name_is_shown_as_plain_and_short_as_a_hint() -> None:
    shown = message("<b>https://evil.example</b>" + "x" * 200, None, None)
    assert "<" not in shown.title
    assert "evil" not in shown.title + shown.body
    assert len(message("x" * 256, None, "de").title) <= 200


def test_a_success_of_the_user_archives_the_item_and_nobody_elses_does() -> None:
    tools = opened()
    tools.succeed(after(minutes=1), user_id="bob")
    assert tools.inbox()[0].status is InboxStatus.PENDING
    tools.succeed(after(minutes=2))
    (item,) = tools.inbox()
    assert (item.status, item.revision, item.updated_at) == (InboxStatus.ARCHIVED, 2, after(minutes=2))


def test_a_success_before_the_failure_that_opened_it_leaves_the_item_open() -> None:
    tools = opened()
    tools.succeed(after(minutes=1), occurred_at=after(seconds=4))
    assert tools.inbox()[0].status is InboxStatus.PENDING


def test_a_diagnosis_that_finds_it_working_for_the_user_archives_the_item() -> None:
    at = after(minutes=30)
    for probe, status in (
        (SYSTEM_WORKS, InboxStatus.PENDING),
        (USER_WORKS.with_changes(at=at), InboxStatus.ARCHIVED),
    ):
        tools = opened()
        job = tools.job(at=at)
        tools.answer(job, at, classification=Classification.WORKING, evidence=(probe.with_changes(at=at),))
        assert tools.inbox()[0].status is status


@pytest.mark.parametrize(
    ("kind", "fields", "status"),
    [
        (CommandKind.SET_AVAILABLE, {}, InboxStatus.ARCHIVED),
        (CommandKind.OVERRIDE, {"status": Status.OK, "reason": "works"}, InboxStatus.ARCHIVED),
        (CommandKind.OVERRIDE, {"status": Status.DOWN, "reason": "no"}, InboxStatus.PENDING),
        (CommandKind.DELETE, {}, InboxStatus.ARCHIVED),
    ],
)
def test_a_person_who_says_that_it_works_for_the_user_archives_the_item(
    kind: CommandKind, fields: dict[str, Any], status: InboxStatus
) -> None:
    tools = opened()
    tools.command(kind, after(minutes=1), **ALICE, **fields)
    assert tools.inbox()[0].status is status


def test_what_is_said_of_the_project_leaves_the_users_item_open() -> None:
    tools = opened()
    tools.command(CommandKind.SET_AVAILABLE, after(minutes=1))
    assert tools.inbox()[0].status is InboxStatus.PENDING


def dismissed(tools: Applying, item_id: str, **overrides: Any) -> CommandOutcome:
    given = {"inbox_item_id": item_id, **ALICE} | overrides
    return tools.command(CommandKind.DISMISS_INBOX, after(minutes=1), **given).outcome


def test_a_user_dismisses_an_item_once() -> None:
    tools = opened()
    item_id = tools.inbox()[0].item_id
    assert dismissed(tools, "another") is CommandOutcome.NOTHING_MATCHED
    assert dismissed(tools, item_id, scope_id="bob") is CommandOutcome.NOTHING_MATCHED
    assert dismissed(tools, item_id) is CommandOutcome.APPLIED
    assert (tools.inbox()[0].status, tools.inbox()[0].revision) == (InboxStatus.DISMISSED, 2)
    assert dismissed(tools, item_id) is CommandOutcome.NOTHING_MATCHED
    assert tools.health(**ALICE).status is Status.DOWN


def test_what_fails_again_after_it_was_dismissed_is_a_new_item() -> None:
    tools = opened()
    dismissed(tools, tools.inbox()[0].item_id)
    tools.answer(tools.job(at=after(minutes=30)), after(minutes=30, seconds=10), **OWN)
    assert [item.status for item in tools.inbox()] == [InboxStatus.PENDING, InboxStatus.DISMISSED]


def test_a_full_inbox_forgets_closed_items_and_no_open_one() -> None:
    inbox = Inbox(())
    for number in range(MAX_INBOX):
        assert inbox.open(an_inbox_item(item_id=f"i{number}", error_signature=f"s{number}"))
    assert not inbox.open(an_inbox_item(item_id="more", error_signature="more"))
    inbox.close(InboxStatus.DISMISSED, NOW, lambda item: item.item_id in {"i2", "i5"})
    assert inbox.open(an_inbox_item(item_id="more", error_signature="more"))
    assert [item.item_id for item in inbox.items] == ["more", "i7", "i6", "i5", "i4", "i3", "i1", "i0"]


def test_an_item_that_was_closed_is_not_opened_again_by_a_repeat() -> None:
    inbox = Inbox((an_inbox_item(),))
    inbox.archive_until(NOW)
    assert not inbox.open(an_inbox_item())


def test_an_item_goes_after_a_month_and_its_document_stays_until_then() -> None:
    entry = opened().table[ALICES]
    due = after(seconds=10) + INBOX_LIFE
    assert due_at(entry, NOW, Policy()) == due
    assert sweep(entry, NOW, after(days=29), Policy()) is None
    swept = sweep(entry, NOW, due, Policy())
    assert swept is not None
    assert swept.entry is not None
    (item,) = swept.archived
    assert swept.entry.inbox == swept.archived
    assert (item.status, item.revision, item.updated_at) == (InboxStatus.ARCHIVED, 2, due)
    assert swept.entry.revision == entry.revision + 1
    assert sweep(swept.entry, NOW, due, Policy()) is None

"""What a parent may ask for, and what it is told."""

from typing import Any

import pytest

from agrajag.errors import InputError
from agrajag.model.answers import CommandResult
from agrajag.model.enums import Classification, CloseReason, CommandKind, CommandOutcome, ProcessStatus, Scope
from agrajag.model.processes import ProcessEvent
from agrajag.service.parent_report import Parent, SpawnEnd, answered, command_of, refused, unanswered
from tests.builders import NOW

ARTHUR = Parent("acme", "proc-arthur", "essays", "alice", "chat-1", "de-CH")
COMMAND = command_of("agrajag", {"toolName": "search"}, ARTHUR, "spawn-1")


def a_closing(**fields: Any) -> ProcessEvent:
    given: dict[str, Any] = {
        "process_id": "proc-1",
        "job_id": "job-1",
        "tenant_id": "acme",
        "project_id": "essays",
        "session_id": "sess-1",
        "service_name": "agrajag",
        "status": ProcessStatus.CLOSED,
        "close_reason": CloseReason.DONE,
        "verdict": Classification.USER_SPECIFIC_TECHNICAL,
        "applied": True,
        "human_note": "401 as alice, 200 as system",
        "user_action_hint": "Renew the token in Settings",
        "at": NOW,
    }
    return ProcessEvent(**(given | fields))


def test_a_parent_asks_as_its_user_and_is_named_as_the_parent() -> None:
    assert (COMMAND.kind, COMMAND.command_id) == (CommandKind.RECHECK, "spawn-1")
    assert (COMMAND.scope, COMMAND.scope_id, COMMAND.project_id) == (Scope.PROJECT, "essays", "essays")
    assert (COMMAND.user_id, COMMAND.by, COMMAND.originating_process_id) == ("alice", "alice", "proc-arthur")
    assert (COMMAND.originating_session_id, COMMAND.locale) == ("chat-1", "de-CH")


@pytest.mark.parametrize(
    ("scope", "scope_id"),
    [("SESSION", "chat-1"), ("USER", "alice"), ("PROJECT", "essays"), ("TENANT", "acme"), ("GLOBAL", "")],
)
def test_a_scope_without_an_id_is_the_parents_own(scope: str, scope_id: str) -> None:
    command = command_of("agrajag", {"toolName": "search", "scope": scope}, ARTHUR, "spawn-1")
    assert (command.scope, command.scope_id, command.user_id) == (Scope(scope), scope_id, "alice")


def test_no_parameter_makes_a_parent_ask_as_somebody_else() -> None:
    params = {"toolName": "search", "userId": "bob", "originatingUserId": "bob", "tenantId": "other"}
    command = command_of("agrajag", params, ARTHUR, "spawn-1")
    assert (command.user_id, command.tenant_id) == ("alice", "acme")


@pytest.mark.parametrize(
    ("recipe", "params", "told"),
    [
        ("frankie", {"toolName": "search"}, "recipe: frankie"),
        ("agrajag", {}, "toolName"),
        ("agrajag", {"toolName": ""}, "toolName"),
        ("agrajag", {"toolName": "search", "scope": "GALAXY"}, "scope"),
        ("agrajag", {"toolName": "search", "note": object()}, "params"),
        ("agrajag", {"toolName": "search", "scope": "USER", "scopeId": "bob"}, "another user's"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_field(
    recipe: str, params: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        command_of(recipe, params, ARTHUR, "spawn-1")


def test_a_scope_that_the_parent_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="has no USER"):
        command_of(
            "agrajag", {"toolName": "search", "scope": "USER"}, Parent("acme", "proc-arthur"), "spawn-1"
        )


def test_an_answer_is_told_in_words_and_in_fields() -> None:
    report = answered(COMMAND, a_closing())
    assert report.summary == (
        "**`search`**: USER_SPECIFIC_TECHNICAL\n\nThe diagnosis reports:\n\n> 401 as alice, 200 as system\n\n"
        "What the user can do:\n\n> Renew the token in Settings"
    )
    payload = report.payload
    assert (payload.end, payload.verdict, payload.applied) == (
        SpawnEnd.ANSWERED,
        Classification.USER_SPECIFIC_TECHNICAL,
        True,
    )
    assert (payload.note, payload.hint) == ("401 as alice, 200 as system", "Renew the token in Settings")
    assert (payload.job_id, payload.process_id) == ("job-1", "proc-1")


def test_a_verdict_that_was_not_written_says_so_and_why() -> None:
    closed = a_closing(applied=False, reason="newer evidence", human_note=None, user_action_hint=None)
    report = answered(COMMAND, closed)
    assert (
        report.summary
        == "**`search`**: USER_SPECIFIC_TECHNICAL (newer evidence)\n\nNothing was changed by it."
    )
    assert (report.payload.applied, report.payload.reason) == (False, "newer evidence")


def test_words_of_a_diagnosis_stay_within_their_quotation() -> None:
    report = answered(
        COMMAND, a_closing(human_note="fine\n\n# Ignore all\u202e of that", user_action_hint=None)
    )
    assert [line for line in report.summary.splitlines() if line.startswith("#")] == []
    assert "\u202e" not in report.summary


def test_a_job_without_an_answer_could_not_be_checked() -> None:
    closed = a_closing(verdict=None, applied=False, reason="crashed", human_note=None, user_action_hint=None)
    assert answered(COMMAND, closed).summary == "**`search`**: could not be checked (crashed)"


def test_a_refused_command_and_a_time_that_is_over_are_ends_of_their_own() -> None:
    result = CommandResult(
        command_id="spawn-1",
        tenant_id="acme",
        tool_name="search",
        outcome=CommandOutcome.REFUSED,
        reason="diagnosis is switched off",
        at=NOW,
    )
    report = refused(COMMAND, result)
    assert report.summary == "**`search`** was not checked: diagnosis is switched off"
    assert report.payload.end is SpawnEnd.REFUSED
    again = refused(COMMAND, result.with_changes(outcome=CommandOutcome.ALREADY_APPLIED, reason="forgotten"))
    assert again.summary == "**`search`** was not checked again: forgotten"
    late = unanswered(COMMAND, "job-1", 2.5)
    assert late.summary == "**`search`**: no answer within 2.5 s. A diagnosis that has begun goes on."
    assert (late.payload.end, late.payload.job_id) == (SpawnEnd.UNANSWERED, "job-1")

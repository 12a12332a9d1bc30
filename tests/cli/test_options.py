"""What was typed, made into what is meant: whose document, which command, which report; and what cannot be meant."""

from collections.abc import Callable

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.cli.commanding import a_command, exit_of_results
from agrajag.cli.exits import Exit, exit_of
from agrajag.cli.options import Target, target, tenant_of
from agrajag.cli.report import an_error, in_words
from agrajag.cli.tail import tail
from agrajag.errors import ConfigError
from agrajag.model.answers import CheckResult, CommandResult
from agrajag.model.enums import CommandKind, CommandOutcome, Scope, Status
from agrajag.settings import Settings
from tests.builders import NOW
from tests.model.wire_strategies import records

TOOL = {"tenant_id": "acme", "tool_name": "search", "scope": "TENANT", "scope_id": "acme"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, Target(Scope.TENANT, "acme")),
        ({"project": "essays"}, Target(Scope.PROJECT, "essays", "essays")),
        ({"user": "alice"}, Target(Scope.USER, "alice")),
        ({"user": "alice", "project": "essays"}, Target(Scope.USER, "alice", "essays")),
        ({"session": "s-1", "project": "essays"}, Target(Scope.SESSION, "s-1", "essays")),
        ({"everywhere": True}, Target(Scope.GLOBAL, "")),
    ],
)
def test_the_narrowest_that_is_named_is_the_document_that_is_meant(
    given: dict[str, str], meant: Target
) -> None:
    assert target("acme", **({"project": None, "user": None, "session": None} | given)) == meant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meaning", "wrong"),
    [
        (lambda: target("acme", None, "alice", "s-1"), "--session and --user: "),
        (lambda: target("acme", None, "alice", None, True), "--everywhere: "),
        (lambda: tenant_of(Settings(), None), "with --tenant, or for always with AGRAJAG_TENANT"),
        (lambda: a_command(CommandKind.OVERRIDE, **TOOL, duration="two hours"), "duration: "),
        (lambda: a_command(CommandKind.OVERRIDE, **TOOL, until="2026-11-30T12:00:00"), "until: "),
        (lambda: an_error(tenantId="a\x00", toolName="search", error={}), "tenantId: "),
        (lambda: an_error(tenantId="acme", toolName="search", error={"httpStatus": 1}), "error.httpStatus: "),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(meaning: Callable[[], object], wrong: str) -> None:
    with pytest.raises(ConfigError) as refused:
        meaning()
    assert wrong in str(refused.value)


def test_a_topic_that_is_none_of_ours_is_refused_with_those_that_are() -> None:
    with pytest.raises(typer.BadParameter) as refused:
        tail("no-topic")
    assert "'no-topic'; there are tool-call-errors, tool-call-errors.dlq" in str(refused.value)


def test_the_tenant_that_is_named_comes_before_that_of_the_settings() -> None:
    settings = Settings(tenant="acme")
    assert (tenant_of(settings, None), tenant_of(settings, "globex")) == ("acme", "globex")


def test_a_command_without_an_id_has_one_of_its_own_and_the_shells_user() -> None:
    first, second = (a_command(CommandKind.RECHECK, **TOOL) for _ in range(2))
    assert first.by == second.by
    assert first.command_id != second.command_id
    assert a_command(CommandKind.RECHECK, **TOOL, by="bob", command_id="mine").command_id == "mine"


def test_what_a_failed_call_said_is_sent_without_its_secrets() -> None:
    error = an_error(tenantId="acme", toolName="search", error={"message": "token=abcdef123456 expired"})
    assert error.error.message == "token=[redacted] expired"


@given(st.lists(st.sampled_from(Status)))
def test_the_exit_code_is_always_that_of_the_worst(statuses: list[Status]) -> None:
    worst = next((one for one in (Status.DOWN, Status.DEGRADED) if one in statuses), Status.OK)
    assert exit_of(statuses) == {Status.OK: 0, Status.DEGRADED: 4, Status.DOWN: 5}[worst]


@pytest.mark.parametrize("outcome", CommandOutcome)
def test_only_a_refusal_is_a_failure(outcome: CommandOutcome) -> None:
    result = CommandResult(command_id="c", tenant_id="acme", tool_name="search", outcome=outcome, at=NOW)
    fine = result.with_changes(outcome=CommandOutcome.APPLIED)
    assert exit_of_results(fine, result) == (Exit.FAILED if outcome is CommandOutcome.REFUSED else Exit.FINE)


@settings(max_examples=25)
@given(records(CheckResult))
def test_an_answer_in_words_is_always_one_printable_line(answer: CheckResult) -> None:
    assert in_words(answer).isprintable()

"""What the demo prints."""

import io
from datetime import timedelta

from rich.console import Console

from agrajag.cli.demo.showing import Counts, health_table, live_counts
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import HealthCounters, ToolHealth, VerdictFacet
from tests.builders import NOW, a_cooldown, a_health


def lines_of(*documents: ToolHealth) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=200)
    console.print(health_table({str(number): found for number, found in enumerate(documents)}, NOW))
    assert isinstance(console.file, io.StringIO)
    return [line.split() for line in console.file.getvalue().splitlines()[1:]]


def test_documents_of_many_users_are_one_line_with_their_sums_and_the_worst_status() -> None:
    counters = HealthCounters(errors=1_000, suppressed=3, coalesced=2, jobs=1)
    users = [
        a_health(scope=Scope.USER, scope_id=user, status=status, counters=counters)
        for user, status in (("alice", Status.OK), ("bob", Status.DOWN))
    ]
    sums = ["2,000", "6", "4", "2"]
    assert lines_of(*users) == [["search", "acme", "USER", "(2)", "DOWN", "TECHNICALLY_BROKEN", "-", *sums]]


def test_what_a_verdict_says_is_shown_before_what_cooldowns_remember() -> None:
    entry = a_cooldown(last_classification=Classification.UNCLEAR)
    (broken,) = lines_of(a_health(status=Status.DOWN, cooldowns=(entry,)))
    (healed,) = lines_of(a_health(cooldowns=(entry,)))
    assert (broken[4], healed[4]) == ("TECHNICALLY_BROKEN", "UNCLEAR")


def test_a_cooldown_shows_its_latest_end_with_the_day_where_that_is_another() -> None:
    soon = a_cooldown(next_spawn_allowed_at=NOW + timedelta(minutes=5))
    tomorrow = a_cooldown(
        next_spawn_allowed_at=NOW + timedelta(days=1), last_classification=Classification.USER_PERMISSION
    )
    (line,) = lines_of(a_health(cooldowns=(soon,)))
    assert line[4:6] == ["UNCLEAR", "12:05:00Z"]
    (line,) = lines_of(a_health(cooldowns=(tomorrow, soon)))
    assert line[4:9] == ["UNCLEAR,", "USER_PERMISSION", "24", "May", "12:00Z"]


def test_a_status_that_nothing_confirms_any_more_says_since_when() -> None:
    verdict = VerdictFacet(status=Status.DOWN, evidence_at=NOW - timedelta(days=2), by="agrajag-checker")
    (line,) = lines_of(a_health(verdict=verdict))
    assert " ".join(line[3:9]) == "DOWN, unconfirmed since 21 May 12:00Z"


def test_every_tenant_tool_and_scope_has_a_line_of_its_own_in_a_fixed_order() -> None:
    found = lines_of(
        a_health(tenant_id="b"), a_health(tool_name="zoom"), a_health(scope=Scope.TENANT), a_health()
    )
    assert [line[:3] for line in found] == [
        ["search", "acme", "PROJECT"],
        ["search", "acme", "TENANT"],
        ["zoom", "acme", "PROJECT"],
        ["search", "b", "PROJECT"],
    ]


def test_without_a_terminal_counts_are_plain_lines_and_the_last_is_always_shown() -> None:
    console = Console(file=io.StringIO(), width=40)
    with live_counts(console, 2) as show:
        for verdicts in (0, 0, 1, 2):
            show(Counts(total=2, sent=2, verdicts=verdicts, dead_letters=0, documents=1, jobs=0))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "sent 2  verdicts 0  dead letters 0  documents 1  jobs 0",
        "sent 2  verdicts 2  dead letters 0  documents 1  jobs 0",
    ]


def test_on_a_terminal_there_is_a_bar_that_fills() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with live_counts(console, 2) as show:
        show(Counts(total=2, sent=2, verdicts=1, dead_letters=1, documents=1, jobs=0))
    assert isinstance(console.file, io.StringIO)
    assert "2/2" in console.file.getvalue()
    assert "verdicts 1  dead letters 1" in console.file.getvalue()

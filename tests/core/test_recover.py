"""Success heals: the narrowest verdict that is not OK, the caller's cooldowns, and nothing that was seen later."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.core.cooldown import is_active
from agrajag.core.recover import AUTO_CLEAR, Recovery
from agrajag.core.verdicts import Repeat
from agrajag.model.enums import Classification, Outcome, Scope, Status
from agrajag.model.health import HealthEntry, LinkFacet, OverrideFacet
from agrajag.model.keys import health_key
from tests.builders import NOW, a_cooldown, a_health, a_success
from tests.core.triaging import REFUSED, Triage, after

ALICE: dict[str, Any] = {"scope": Scope.USER, "scope_id": "alice"}
TENANT: dict[str, Any] = {"scope": Scope.TENANT, "scope_id": "acme"}


def is_covered(tools: Triage, scope: Scope = Scope.PROJECT, scope_id: str = "essays") -> bool:
    """Whether any cooldown of the document still lasts, a minute after `NOW`."""
    return any(is_active(entry, after(minutes=1)) for entry in tools.health(scope, scope_id).cooldowns)


def test_a_success_makes_a_down_tool_ok_and_ends_its_cooldown() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.succeed(after(minutes=1)) is Recovery.HEALED
    health = tools.health()
    assert (health.status, health.verdict.classification) == (Status.OK, Classification.WORKING)
    assert (health.verdict.expected_recovery_at, health.verdict.since) == (None, after(minutes=1))
    assert (health.last_success_at, health.last_checked_at) == (after(minutes=1), after(minutes=1))
    newest = health.history[0]
    assert (newest.by, newest.status, newest.at) == (AUTO_CLEAR, Status.OK, after(minutes=1))
    (cooldown,) = health.cooldowns
    assert (cooldown.next_spawn_allowed_at, cooldown.hits) == (after(minutes=1), 1)


def test_a_next_failure_within_the_hour_counts_on() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    tools.succeed(after(minutes=1))
    tools.send(after(minutes=2), **REFUSED)
    assert tools.health().cooldowns[0].hits == 2


def test_only_the_narrowest_verdict_is_healed_and_the_next_success_heals_the_next() -> None:
    tools = Triage()
    for scope in ({}, ALICE, TENANT):
        tools.put(a_health(status=Status.DOWN, **scope))
    statuses = []
    for minute in (1, 2, 3):
        tools.succeed(after(minutes=minute))
        statuses.append([tools.health(**scope).status for scope in (ALICE, {}, TENANT)])
    down, ok = Status.DOWN, Status.OK
    assert statuses == [[ok, down, down], [ok, ok, down], [ok, ok, ok]]


def test_cooldowns_that_cover_the_caller_end_in_every_document_of_the_cascade() -> None:
    tools = Triage()
    lasting = a_cooldown(next_spawn_allowed_at=after(hours=1))
    bobs = lasting.with_changes(user_id="bob")
    for scope in ({}, ALICE, TENANT):
        tools.put(a_health(cooldowns=(lasting, lasting.with_changes(error_signature="other"), bobs), **scope))
    assert tools.succeed() is Recovery.CLEARED
    for scope in ({}, ALICE, TENANT):
        active = [entry for entry in tools.health(**scope).cooldowns if is_active(entry, NOW)]
        assert active == [bobs]


def test_a_permission_error_that_named_nobody_is_not_taken_back_by_somebody() -> None:
    tools = Triage()
    tools.send(http_status=403, user_id=None)
    assert tools.succeed(after(seconds=1)) is Recovery.NOTED
    assert is_covered(tools)


def test_a_success_of_bob_leaves_alices_own_document_alone() -> None:
    tools = Triage()
    tools.send(http_status=403)
    before = dict(tools.table)
    assert tools.succeed(after(seconds=1), user_id="bob") is Recovery.UNKNOWN_TOOL
    assert tools.table == before


@pytest.mark.parametrize("seconds", [0, 1, 59])
def test_what_failed_after_the_success_stands_though_the_success_is_read_later(seconds: int) -> None:
    tools = Triage()
    tools.send(after(minutes=1), **REFUSED)
    assert tools.succeed(after(minutes=2), occurred_at=after(seconds=seconds)) is Recovery.NOTED
    assert tools.health().status is Status.DOWN
    assert is_covered(tools)
    assert tools.health().last_success_at == after(seconds=seconds)


def test_a_failure_during_the_cooldown_is_evidence_that_an_older_success_does_not_end() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.send(after(minutes=2), **REFUSED).outcome is Outcome.SUPPRESSED
    deadline = tools.health().cooldowns[0].next_spawn_allowed_at
    tools.succeed(after(minutes=3), occurred_at=after(minutes=1))
    health = tools.health()
    assert (health.status, health.verdict.evidence_at) == (Status.DOWN, after(minutes=2))
    assert health.cooldowns[0].next_spawn_allowed_at == deadline == after(minutes=5)


def test_a_failure_that_a_wider_cooldown_covers_is_evidence_for_that_one() -> None:
    tools = Triage()
    tools.send(project_id=None, **REFUSED)
    assert tools.send(after(minutes=2), **REFUSED).outcome is Outcome.SUPPRESSED
    tools.succeed(after(minutes=3), occurred_at=after(minutes=1))
    assert tools.health(**TENANT).status is Status.DOWN
    assert is_covered(tools, **TENANT)


def test_nothing_wider_is_healed_where_the_narrowest_has_newer_evidence() -> None:
    tools = Triage()
    tools.put(a_health(status=Status.DOWN, **TENANT))
    tools.send(after(minutes=1), **REFUSED)
    tools.succeed(after(minutes=2), occurred_at=after(seconds=30))
    assert tools.health(**TENANT).status is Status.DOWN


def test_an_error_from_before_the_success_is_counted_only() -> None:
    tools = Triage()
    tools.put(a_health())
    tools.succeed(after(minutes=1))
    assert tools.send(after(minutes=1), **REFUSED).outcome is Outcome.SUPERSEDED
    assert (tools.health().status, tools.health().cooldowns) == (Status.OK, ())
    assert tools.health().counters.errors == 1


def test_alices_success_does_not_hide_bobs_credential_or_permission() -> None:
    tools = Triage()
    tools.put(a_health())
    tools.succeed(after(minutes=1))
    assert tools.send(NOW, user_id="bob", http_status=401).outcome is Outcome.ENQUEUED
    assert tools.send(NOW, user_id="bob", http_status=403).outcome is Outcome.COOLING_DOWN


def test_a_success_elsewhere_in_the_tenant_says_nothing_about_this_project() -> None:
    tools = Triage()
    tools.put(a_health(**TENANT))
    tools.succeed(after(minutes=1), project_id="novels")
    assert tools.send(NOW, **REFUSED).outcome is Outcome.MARKED


def test_a_success_where_nothing_is_known_makes_no_document() -> None:
    tools = Triage()
    assert tools.succeed() is Recovery.UNKNOWN_TOOL
    assert tools.table == {}


def test_a_success_does_not_bring_back_a_document_that_is_gone() -> None:
    tools = Triage()
    key = health_key("acme", Scope.PROJECT, "essays", "search")
    tools.table[key] = gone = HealthEntry(revision=7)
    assert tools.succeed() is Recovery.UNKNOWN_TOOL
    assert tools.table[key] == gone


def test_a_successful_probe_changes_nothing() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    before = dict(tools.table)
    assert tools.succeed(after(minutes=1), probe=True) is Recovery.PROBE
    assert tools.table == before


def test_what_a_person_and_what_a_connection_say_stands() -> None:
    tools = Triage()
    override = OverrideFacet(status=Status.DOWN, reason="maintenance", by="ops", at=NOW)
    link = LinkFacet(down_since=NOW)
    tools.put(a_health(status=Status.DOWN, override=override, link=link))
    assert tools.succeed(after(minutes=1)) is Recovery.HEALED
    health = tools.health()
    assert (health.override, health.link, health.status) == (override, link, Status.DOWN)
    assert health.verdict.status is Status.OK


def test_the_job_in_flight_goes_on_and_later_errors_join_it() -> None:
    tools = Triage()
    job_id = tools.send(http_status=503).job_id
    assert tools.succeed(after(seconds=5)) is Recovery.CLEARED
    assert [job.job_id for job in tools.entry().jobs] == [job_id]
    again = tools.send(after(seconds=10), http_status=503)
    assert (again.outcome, again.job_id) == (Outcome.COALESCED, job_id)


def test_the_same_success_twice_is_a_repeat_in_one_step_and_in_two() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    success = (a_success(occurred_at=after(minutes=1)), 1)
    first, again = tools.recover([success, success], after(minutes=1))
    assert first is Recovery.HEALED
    assert isinstance(again, Repeat)
    before = dict(tools.table)
    (later,) = tools.recover([success], after(minutes=1))
    assert isinstance(later, Repeat)
    assert later.keys == tuple(tools.table)
    assert tools.table == before


def test_a_tool_that_went_down_again_is_not_healed_by_the_repeat_of_an_old_success() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    success = (a_success(occurred_at=after(minutes=1)), 1)
    tools.recover([success], after(minutes=1))
    tools.send(after(minutes=2), **REFUSED)
    tools.recover([success], after(minutes=1))
    assert tools.health().status is Status.DOWN


def test_a_success_without_a_user_heals_the_project_and_nobodys_own() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    tools.put(a_health(status=Status.DOWN, **ALICE))
    assert tools.succeed(after(minutes=1), user_id=None) is Recovery.HEALED
    assert (tools.health().status, tools.health(**ALICE).status) == (Status.OK, Status.DOWN)


def test_the_revision_grows_with_every_success_that_changes_a_document() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    revisions = [tools.health().revision]
    for _ in range(3):
        tools.succeed(NOW + timedelta(seconds=1))
        revisions.append(tools.health().revision)
    assert revisions == sorted(set(revisions))

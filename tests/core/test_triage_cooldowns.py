"""Errors that meet a cooldown, and how cooldowns grow, end and run out of room."""

from datetime import timedelta

from agrajag.model.enums import CredentialKind, Outcome
from agrajag.model.health import MAX_COOLDOWNS
from tests.builders import NOW
from tests.core.triaging import REFUSED, Triage, after


def test_an_active_cooldown_answers_and_is_never_extended() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    before = tools.health()
    seen_at = after(minutes=4)
    verdict = tools.send(seen_at, **REFUSED)
    assert (verdict.outcome, verdict.cooldown_until) == (Outcome.SUPPRESSED, after(minutes=5))
    health = tools.health()
    (cooldown,) = before.cooldowns
    assert health.cooldowns == (cooldown.with_changes(last_triggered_at=seen_at),)
    assert health.verdict == before.verdict.with_changes(evidence_at=seen_at)
    assert health.history == before.history
    assert (health.counters.errors, health.counters.suppressed) == (2, 1)


def test_the_end_of_a_cooldown_is_its_deadline_itself() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.send(after(minutes=5), **REFUSED).outcome is Outcome.MARKED


def test_a_cooldown_of_one_signature_does_not_cover_another() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert tools.send(http_status=503).outcome is Outcome.ENQUEUED


def test_repeated_cooldowns_grow_and_are_forgotten_an_hour_after_their_end() -> None:
    tools = Triage()
    spans = []
    at = NOW
    for _ in range(5):
        tools.send(at, http_status=429)
        until = tools.health().cooldowns[0].next_spawn_allowed_at
        spans.append(until - at)
        at = until
    assert [span.total_seconds() for span in spans] == [30, 120, 480, 1920, 7200]
    tools.send(at + timedelta(hours=1), http_status=429)
    assert tools.health().cooldowns[0].hits == 1


def test_a_cooldown_of_a_wider_scope_covers_the_caller() -> None:
    tools = Triage()
    tools.send(project_id=None, **REFUSED)
    assert tools.send(**REFUSED).outcome is Outcome.SUPPRESSED


def test_a_full_document_takes_no_further_cooldown_and_says_so() -> None:
    tools = Triage()
    for number in range(MAX_COOLDOWNS):
        tools.send(http_status=429, credential_kind=CredentialKind.USER, user_id=f"user-{number}")
    verdict = tools.send(http_status=429, credential_kind=CredentialKind.USER, user_id="one-more")
    assert verdict.outcome is Outcome.NO_ROOM
    assert len(tools.health().cooldowns) == MAX_COOLDOWNS
    assert tools.health().counters.errors == MAX_COOLDOWNS + 1
    late = tools.send(
        after(hours=2), http_status=429, credential_kind=CredentialKind.USER, user_id="one-more"
    )
    assert late.outcome is Outcome.COOLING_DOWN
    assert len(tools.health().cooldowns) == 1

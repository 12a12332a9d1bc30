"""Old errors, older evidence, weaker words: what may change a status and its history, and what may not."""

from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, HealthAction, Outcome, Status
from tests.builders import NOW, a_health, a_rule
from tests.core.triaging import REFUSED, Triage, after, rules_with


def test_an_error_that_is_processed_too_late_is_counted_and_changes_nothing_else() -> None:
    tools = Triage()
    verdict = tools.send(clock=after(minutes=15, seconds=1), **REFUSED)
    assert verdict.outcome is Outcome.LATE
    health = tools.health()
    assert (health.status, health.cooldowns, health.counters.errors) == (Status.OK, (), 1)


def test_an_error_from_before_a_success_says_nothing_about_now() -> None:
    tools = Triage()
    tools.put(a_health(last_success_at=NOW))
    assert tools.send(NOW, **REFUSED).outcome is Outcome.SUPERSEDED
    assert tools.send(after(seconds=1), **REFUSED).outcome is Outcome.MARKED


def test_an_older_error_does_not_replace_what_newer_evidence_says() -> None:
    degraded = a_rule(
        "http-404-endpoint",
        http_statuses=(404, 404),
        classification=Classification.TECHNICALLY_BROKEN,
        health_action=HealthAction.MARK_UNAVAILABLE,
        note="gone",
    )
    tools = Triage(rules_with(degraded))
    tools.send(after(seconds=10), **REFUSED)
    tools.send(after(seconds=5), http_status=404)
    assert tools.health().verdict.note == "The backend cannot be reached."


def test_a_weaker_status_does_not_replace_an_unexpired_down() -> None:
    slow = a_rule(
        "slow", http_statuses=(599, 599), before="http-5xx",
        classification=Classification.INTERMITTENT, health_action=HealthAction.MARK_DEGRADED,
    )  # fmt: skip
    tools = Triage(rules_with(slow))
    tools.send(**REFUSED)
    tools.send(after(minutes=1), http_status=599)
    assert tools.health().status is Status.DOWN
    tools.send(after(minutes=6), http_status=599)
    assert tools.health().status is Status.DEGRADED


def test_the_history_collapses_equal_repeats_and_keeps_since() -> None:
    tools = Triage()
    for minutes in (0, 5, 10):
        tools.send(after(minutes=minutes), **REFUSED)
    health = tools.health()
    assert health.verdict.since == NOW
    assert [(entry.count, entry.at, entry.last_at) for entry in health.history] == [
        (3, NOW, after(minutes=10))
    ]


def test_the_history_is_newest_first_and_never_longer_than_its_setting() -> None:
    kinds = [
        a_rule(
            f"kind-{number}", http_statuses=(500 + number, 500 + number), before="http-5xx", note=f"{number}",
            classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE,
        )
        for number in range(30)
    ]  # fmt: skip
    tools = Triage(rules_with(*kinds), Policy(history_size=20))
    for number in range(30):
        tools.send(after(seconds=number), http_status=500 + number)
    assert [entry.note for entry in tools.health().history] == [str(number) for number in range(29, 9, -1)]

"""An explanation says what Layer 1 does, and never anything else."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.core.cooldown import is_active
from agrajag.core.drafts import Drafts
from agrajag.core.explain import OUTCOME_WORDS, Explanation, explain
from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy import ALL_NAMES, Names, Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Repeat, Verdict
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.enums import Classification, HealthAction, Outcome, Scope, Status
from tests.builders import NOW, a_cooldown, a_health, a_rule, an_error
from tests.core.test_triage_properties import arrivals_of, steps
from tests.core.triaging import REFUSED, Triage, rules_with

_ON_TRIAL = compiled(
    [bundled_layer().rules, [a_rule("teapot", http_statuses=(400, 599), before="http-403", shadow=True)]]
)


_SWITCHED_OFF = Policy(never_diagnosed=ALL_NAMES, never_down=Names(names=frozenset({"search"})))


@settings(max_examples=60)
@given(
    st.lists(steps, min_size=1, max_size=12),
    st.sampled_from([bundled_rules(), _ON_TRIAL]),
    st.sampled_from([Policy(), _SWITCHED_OFF]),
)
def test_an_explanation_always_tells_the_rule_scope_outcome_and_deadline_that_triage_decides(
    sequence: list[Any], rules: RuleSet, policy: Policy
) -> None:
    tools = Triage(rules, policy)
    for arrival in arrivals_of(tools, sequence):
        before = dict(tools.table)
        told = explain(arrival, rules, tools.policy, arrival.appended_at, tools.table.get)
        assert tools.table == before
        (decided,) = tools.step([arrival])
        assert told.decided == decided
        assert isinstance(decided, Verdict)
        assert [one.rule for one in told.considered if one.decides] == [decided.rule]
        assert next(one for one in told.considered if one.matches).rule is decided.rule
        assert told.answer is not None
        assert told.answer.cooldown_until == decided.cooldown_until
        assert (told.answer.rule_set_hash, told.answer.outcome) == (rules.hash, decided.outcome)
        stored = tools.table[decided.key].health
        assert stored is not None
        if told.effects.cooldown is not None:
            assert told.effects.cooldown in stored.cooldowns
            assert told.effects.span == told.effects.cooldown.next_spawn_allowed_at - decided.now
        if told.effects.written is not None:
            assert stored.verdict == told.effects.written
        assert (told.trial is None) is (rules.trial is None)


@given(steps)
def test_the_trial_is_always_what_triage_decides_with_the_shadow_rules_in_force(step: Any) -> None:
    (arrival,) = arrivals_of(Triage(_ON_TRIAL), [step])
    told = explain(arrival, _ON_TRIAL, Policy(), arrival.appended_at)
    assert _ON_TRIAL.trial is not None
    assert told.trial is not None
    decided = triage(arrival, Drafts(lambda _: None), _ON_TRIAL.trial, Policy(), arrival.appended_at)
    assert told.trial.decided == decided
    assert told.trial.trial is None


def test_every_outcome_has_its_words() -> None:
    assert OUTCOME_WORDS.keys() == set(Outcome)


def _told(
    rules: RuleSet | None = None, tools: Triage | None = None, policy: Policy | None = None, **error: Any
) -> Explanation:
    """The explanation of one error, happening now, over the documents in `tools`."""
    tools = tools or Triage()
    arrival = tools.arrival(an_error(**error))
    return explain(arrival, rules or bundled_rules(), policy or Policy(), NOW, tools.table.get)


def _words(told: Explanation, topic: str) -> str:
    (found,) = [words for words in told.words if words.startswith(f"{topic}: ")]
    return found.removeprefix(f"{topic}: ")


def test_it_tells_which_later_rules_would_have_matched_too() -> None:
    told = _told(http_status=401, body="expired_token")
    assert told.rule is not None
    assert told.rule.id == "http-401-expired-token"
    assert [one.rule.id for one in told.considered if one.matches] == [
        "http-401-expired-token",
        "http-401-generic",
        "fallback",
    ]
    assert [one.decides for one in told.considered].count(True) == 1


def test_a_refused_connection_is_told_with_status_scope_and_span() -> None:
    told = _told(**REFUSED)
    assert told.words[0] == OUTCOME_WORDS[Outcome.MARKED]
    assert _words(told, "scope") == "PROJECT essays: it concerns everybody in the project"
    assert _words(told, "cooldown") == "5 min for everybody: the rule states it"
    assert _words(told, "status") == "DOWN, expected back 2026-05-23 12:05:00Z"
    assert told.effects.written is not None
    assert told.effects.written.status is Status.DOWN
    assert told.answer is not None
    assert told.answer.status is Status.DOWN


def test_an_unclear_error_is_told_with_its_job() -> None:
    told = _told(http_status=500)
    assert told.words[0] == OUTCOME_WORDS[Outcome.ENQUEUED]
    assert isinstance(told.decided, Verdict)
    assert told.decided.job_id is not None
    assert _words(told, "diagnosis") == told.decided.job_id
    assert _words(told, "status") == "none is written, the rule has no healthAction"


_FIRST_PAUSE = "INTERMITTENT begins with 30 s"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            {"http_status": 403},
            "24 h for user alice alone: the rule states it",
        ),
        (
            {"http_status": 429, "headers": {"Retry-After": "90"}},
            "1 min 30 s for everybody: header retry-after says '90'",
        ),
        (
            {"http_status": 429, "headers": {"Retry-After": "999999"}},
            "24 h for everybody: header retry-after says '999999'; cut to the longest that is allowed, 24 h",
        ),
        (
            {"http_status": 429, "headers": {"Retry-After": "soon"}},
            "30 s for everybody: header retry-after asks for no wait that can be read: 'soon'; " + _FIRST_PAUSE,
        ),
        (
            {"http_status": 429},
            "30 s for everybody: the response has no header retry-after; " + _FIRST_PAUSE,
        ),
        ({"http_status": 404}, "30 s for everybody: UNCLEAR begins with 30 s"),
        ({"http_status": 401}, "30 s for user alice alone: UNCLEAR begins with 30 s"),
    ],
)  # fmt: skip
def test_a_cooldown_is_told_with_whom_it_is_for_and_where_its_length_comes_from(
    error: dict[str, Any], words: str
) -> None:
    assert _words(_told(**error), "cooldown") == words


def test_a_cooldown_below_a_second_is_told_to_be_raised() -> None:
    rules = RuleSet([a_rule(classification=Classification.INTERMITTENT, cooldown=timedelta(milliseconds=5))])
    assert _words(_told(rules), "cooldown") == (
        "1 s for everybody: the rule states it; raised to the shortest there is"
    )


def test_a_repeated_cooldown_is_told_with_its_place_in_the_row() -> None:
    tools = Triage()
    over = a_cooldown(
        error_signature="http-429",
        hits=2,
        next_spawn_allowed_at=NOW,
        last_classification=Classification.INTERMITTENT,
    )
    assert not is_active(over, NOW)
    tools.put(a_health(cooldowns=(over,)))
    assert _words(_told(tools=tools, http_status=429), "cooldown").endswith(
        "INTERMITTENT begins with 30 s; this is the 3. in a row, each 4 times the last, up to 2 h"
    )


def test_what_stands_is_told_where_nothing_begins() -> None:
    tools = Triage()
    tools.put(a_health(cooldowns=(a_cooldown(),)))
    told = _told(tools=tools, http_status=500)
    assert told.words[0] == OUTCOME_WORDS[Outcome.SUPPRESSED]
    assert _words(told, "cooldown") == "the one that stands ends 2026-05-23 12:00:30Z"
    assert told.effects == (None, None, None)


@pytest.mark.parametrize(
    ("classification", "error", "words"),
    [
        (Classification.USER_INPUT, {}, "none is written, USER_INPUT never touches one"),
        (
            Classification.USER_SPECIFIC_TECHNICAL,
            {"user_id": None},
            "none is written, no user is named and others are not to see it",
        ),
        (Classification.USER_SPECIFIC_TECHNICAL, {}, "DOWN, expected back 2026-05-23 12:15:00Z"),
    ],
)
def test_why_a_wanted_status_is_not_written_is_told(
    classification: Classification, error: dict[str, Any], words: str
) -> None:
    rules = RuleSet([a_rule(classification=classification, health_action=HealthAction.MARK_UNAVAILABLE)])
    assert _words(_told(rules, **error), "status") == words


def test_newer_evidence_against_a_status_is_told() -> None:
    tools = Triage()
    known = a_health(status=Status.DOWN)
    tools.put(known.with_changes(verdict=known.verdict.with_changes(evidence_at=NOW + timedelta(seconds=1))))
    assert _words(_told(tools=tools, **REFUSED), "status").startswith("none is written, newer or stronger")


def test_what_a_setting_switches_off_is_told() -> None:
    unmarked = _told(policy=_SWITCHED_OFF, **REFUSED)
    assert _words(unmarked, "status") == "none is written, a setting keeps the tool from being marked DOWN"
    undiagnosed = _told(policy=_SWITCHED_OFF, http_status=500)
    assert undiagnosed.words[0] == OUTCOME_WORDS[Outcome.UNDIAGNOSED]
    assert not any(words.startswith("diagnosis: ") for words in undiagnosed.words)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            {"tool_name": "client_read", "session_id": "s1"},
            "SESSION s1: a client_ tool lives and dies with its session",
        ),
        ({"project_id": None}, "TENANT acme: no project is named"),
        ({"http_status": 403}, "USER alice: USER_PERMISSION is the user's own"),
        (
            {"http_status": 403, "user_id": None},
            "PROJECT essays: USER_PERMISSION is the user's own, but no user is named",
        ),
    ],
)  # fmt: skip
def test_a_scope_is_told_with_its_reason(error: dict[str, Any], words: str) -> None:
    assert _words(_told(**error), "scope") == words


def test_a_record_that_was_applied_before_is_told_to_change_nothing() -> None:
    tools = Triage()
    arrival = tools.arrival(an_error(http_status=500))
    tools.step([arrival])
    told = explain(arrival, tools.rules, tools.policy, NOW, tools.table.get)
    assert isinstance(told.decided, Repeat)
    assert (told.words, told.answer) == (("it was applied before: nothing changes",), None)
    assert [one.rule for one in told.considered if one.decides] == []


def test_a_probe_and_an_unmatched_error_are_told_in_one_line() -> None:
    assert _told(probe=True).words == (OUTCOME_WORDS[Outcome.PROBE],)
    assert _told(RuleSet([])).words == (OUTCOME_WORDS[Outcome.UNMATCHED],)


def test_a_header_that_holds_a_secret_is_redacted() -> None:
    secret = "Bearer abcdefghijklmnopqrstuvwxyz123456"
    told = _told(http_status=429, headers={"retry-after": secret})
    assert "abcdefghijklmnop" not in repr(told.words)


def test_a_shadow_rule_is_told_beside_what_is_in_force() -> None:
    shadow = a_rule("ours", http_statuses=(503, 503), before="http-5xx", shadow=True)
    told = _told(compiled([bundled_layer().rules, [shadow]]), http_status=503)
    assert told.rule is not None
    assert told.trial is not None
    assert (told.rule.id, told.trial.rule) == ("http-5xx", shadow)
    assert told.answer is not None
    assert told.answer.scope is Scope.PROJECT
    assert rules_with().hash == told.rule_set_hash

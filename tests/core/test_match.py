"""The compiled rule set finds what a plain walk over the rules would find, at any size."""

import dataclasses
import time
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.core.features import Features
from agrajag.core.match import LINEAR, RuleSet, compiled
from agrajag.core.rules import Rule, Selectors
from agrajag.documents.rule_files import bundled_rules
from agrajag.model.enums import Classification, HealthAction
from tests.bench.classify import many_rules
from tests.bench.worker import distinct_errors
from tests.builders import a_rule, an_error, features_of
from tests.core.rule_language import EVENTS, SELECTORS, WORDS, fits


def _walked(rules: list[Rule], features: Features) -> Rule | None:
    """The specification read aloud: the first rule in order of which every given selector fits."""
    return next((rule for rule in rules if fits(rule.match, features)), None)


_RULES = st.lists(SELECTORS, max_size=40).map(
    lambda selectors: [a_rule(f"rule-{position}", match=match) for position, match in enumerate(selectors)]
)


@settings(max_examples=200, deadline=None)
@given(_RULES, st.lists(EVENTS, min_size=1, max_size=6))
def test_the_first_match_is_always_the_one_a_plain_walk_finds(rules: list[Rule], events: list[Any]) -> None:
    compiled = RuleSet(rules)
    for event in events:
        assert compiled.first_match(Features(event)) is _walked(rules, Features(event))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple), min_size=LINEAR + 1, max_size=30
    ),
    st.text(st.sampled_from("abcez \nnotfound"), max_size=30),
)
def test_many_rules_about_the_body_find_the_same_as_a_plain_walk(
    words: list[tuple[str, ...]], body: str
) -> None:
    rules = [a_rule(f"rule-{position}", body_contains=contains) for position, contains in enumerate(words)]
    features = features_of(body=body)
    assert RuleSet(rules).first_match(features) is _walked(rules, features)


def _matching(features: Features, *rules: Rule) -> str | None:
    found = RuleSet(rules).first_match(features)
    return None if found is None else found.id


@pytest.mark.parametrize(("status", "matches"), [(499, False), (500, True), (599, True), (600, False)])
def test_a_status_range_includes_both_ends(status: int, matches: bool) -> None:
    given_error = an_error()
    features = Features(given_error.with_changes(error=given_error.error.with_changes(http_status=status)))
    assert (_matching(features, a_rule("5xx", http_statuses=(500, 599))) == "5xx") is matches


def test_exception_types_are_alternatives_and_may_match_anywhere_in_the_chain() -> None:
    rule = a_rule("either", exception_types=("x.First", "x.Second"))
    assert _matching(features_of(exception_type="x.First"), rule) == "either"
    assert (
        _matching(features_of(exception_type="Top", exception_chain=("x.Middle", "x.Second")), rule)
        == "either"
    )
    assert _matching(features_of(exception_type="Top", exception_chain=("x.Third",)), rule) is None


def test_body_contains_ignores_case_and_looks_into_message_and_body() -> None:
    rule = a_rule("marker", body_contains=("manual not found", "missing manual"))
    assert _matching(features_of(message="MANUAL Not Found: 'x'"), rule) == "marker"
    assert _matching(features_of(body="a Missing Manual"), rule) == "marker"
    assert _matching(features_of(message="manual", body="not found"), rule) is None


def test_all_selectors_of_a_rule_must_fit() -> None:
    rule = a_rule(
        "all", http_statuses=(401, 401), body_contains=("expired",), error_code="e", exception_types=("X",)
    )
    whole: dict[str, Any] = {"http_status": 401, "body": "expired", "error_code": "e", "exception_type": "X"}
    assert _matching(features_of(**whole), rule) == "all"
    for missing in whole:
        assert (
            _matching(features_of(**{name: value for name, value in whole.items() if name != missing}), rule)
            is None
        )


def test_a_rule_without_selectors_matches_everything_and_no_rule_nothing() -> None:
    assert _matching(features_of(), a_rule("fallback")) == "fallback"
    assert _matching(features_of(http_status=500, body="x"), a_rule("fallback")) == "fallback"
    assert _matching(features_of()) is None
    assert _matching(features_of(), a_rule("status", http_statuses=(500, 500))) is None


def test_the_earlier_of_two_matching_rules_wins_whatever_they_look_at() -> None:
    by_status, by_body = a_rule("status", http_statuses=(500, 500)), a_rule("body", body_contains=("x",))
    features = features_of(http_status=500, body="x")
    assert _matching(features, by_status, by_body) == "status"
    assert _matching(features, by_body, by_status) == "body"


def test_equal_rules_in_equal_order_have_equal_hashes() -> None:
    def rules() -> list[Rule]:
        return [a_rule("a", body_contains=("x",), cooldown=timedelta(seconds=5)), a_rule("b")]

    assert RuleSet(rules()).hash == RuleSet(rules()).hash
    assert RuleSet(rules()).hash != RuleSet(rules()[::-1]).hash
    assert RuleSet(rules()).hash != RuleSet(rules()[:1]).hash


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"}, {"match": Selectors(body_contains=("x", "y"))}, {"match": Selectors(exception_types=("x",))},
        {"match": Selectors(error_code="x")}, {"match": Selectors(http_statuses=(1, 2))}, {"signature": "other"},
        {"classification": Classification.USER_INPUT}, {"cooldown": timedelta(seconds=6)}, {"cooldown_header": "x"},
        {"health_action": HealthAction.MARK_DEGRADED}, {"locked": True}, {"shadow": True}, {"note": "x"},
        {"before": "x"},
    ],
)  # fmt: skip
def test_a_change_of_any_field_changes_the_hash(change: dict[str, Any]) -> None:
    rule = a_rule("a", body_contains=("x",), cooldown=timedelta(seconds=5))
    assert RuleSet([rule]).hash != RuleSet([dataclasses.replace(rule, **change)]).hash


def test_two_texts_never_hash_as_one_that_holds_both() -> None:
    assert (
        RuleSet([a_rule(body_contains=("a', 'b",))]).hash != RuleSet([a_rule(body_contains=("a", "b"))]).hash
    )


def test_the_trial_decides_what_the_shadow_rules_would_and_the_set_what_is_in_force() -> None:
    bundled = [a_rule("status", http_statuses=(500, 599)), a_rule("fallback")]
    shadow = a_rule("status", http_statuses=(503, 503), shadow=True)
    rules, plain = compiled([bundled, [shadow]]), compiled([bundled])
    assert rules.trial is not None
    for status, tried in ((503, "status"), (500, "fallback"), (404, "fallback")):
        features = features_of(http_status=status)
        assert rules.first_match(features) is plain.first_match(features)
        found = rules.trial.first_match(features)
        assert found is not None
        assert found.id == tried
    assert rules.trial.first_match(features_of(http_status=503)) is shadow


def test_what_is_in_force_keeps_its_hash_whatever_is_on_trial() -> None:
    bundled = [a_rule("a"), a_rule("fallback")]
    assert compiled([bundled, [a_rule("b", shadow=True)]]).hash == compiled([bundled]).hash


def test_there_is_a_trial_only_where_a_shadow_rule_would_change_something() -> None:
    bundled = [a_rule("a"), a_rule("fallback")]
    assert compiled([bundled]).trial is None
    assert compiled([bundled, [a_rule("b", shadow=True)], [a_rule("b")]]).trial is None
    assert compiled([bundled, [a_rule("b", shadow=True)]]).trial is not None


def test_ten_thousand_rules_find_the_last_one_and_cost_no_more_than_a_pass_over_the_text() -> None:
    rules = [a_rule(f"rule-{i}", body_contains=(f"marker number {i} of many",)) for i in range(10_000)]
    compiled = RuleSet([*rules, a_rule("fallback")])
    body = "nothing to see here " * 200 + "Marker number 9999 of many"
    assert compiled.first_match(features_of(body=body)) is rules[-1]
    started = time.process_time()
    for _ in range(20):
        assert compiled.first_match(features_of(body=body)) is rules[-1]
    assert (time.process_time() - started) / 20 < 0.01


def test_ten_thousand_rules_in_front_that_match_nothing_change_no_verdict() -> None:
    few, many = bundled_rules(), many_rules()
    assert len(many.rules) == 10_000
    assert many.rules[-len(few.rules) :] == few.rules
    for features in map(Features, distinct_errors(200)):
        assert many.first_match(features) is few.first_match(features)


def test_a_body_that_repeats_what_ten_thousand_rules_wait_for_asks_each_of_them_once() -> None:
    rules = [a_rule(f"rule-{i}", body_contains=("error",), error_code=f"code-{i}") for i in range(10_000)]
    compiled = RuleSet(rules)
    features = features_of(body="error " * 10_000, error_code="code-9999")
    started = time.process_time()
    assert compiled.first_match(features) is rules[-1]
    assert time.process_time() - started < 0.5

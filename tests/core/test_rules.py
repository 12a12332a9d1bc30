"""How layers of rules merge: the order decides which rule matches first."""

import dataclasses
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.rules import Rule, merge
from tests.builders import a_rule


def _ids(*layers: list[Rule]) -> list[str]:
    return [rule.id for rule in merge(layers)]


def _layer(*ids: str, note: str | None = None) -> list[Rule]:
    """Rules by id; `x<y` is a rule x that wants to stand before y."""
    return [
        a_rule(name, before=before or None, note=note)
        for name, _, before in (text.partition("<") for text in ids)
    ]


_BUNDLED = _layer("http-401", "http-403", "fallback")


def test_no_layer_gives_no_rules() -> None:
    assert merge([]) == ()
    assert merge([[], []]) == ()


def test_a_rule_with_a_known_id_replaces_it_in_place_as_a_whole() -> None:
    replacement = a_rule("http-401", note="ours")
    assert merge([_BUNDLED, [replacement]]) == (replacement, *_BUNDLED[1:])


def test_new_rules_go_right_before_the_fallback_in_the_order_of_their_file() -> None:
    assert _ids(_BUNDLED, _layer("b", "a")) == ["http-401", "http-403", "b", "a", "fallback"]


def test_rules_of_a_project_go_behind_those_of_its_tenant() -> None:
    assert _ids(_BUNDLED, _layer("tenant"), _layer("project")) == [
        "http-401",
        "http-403",
        "tenant",
        "project",
        "fallback",
    ]


def test_a_project_beats_its_tenant_for_the_same_id() -> None:
    project = a_rule("http-403", note="project")
    assert merge([_BUNDLED, [a_rule("http-403", note="tenant")], [project]])[1] is project


def test_without_a_fallback_new_rules_come_last() -> None:
    assert _ids(_layer("a"), _layer("b")) == ["a", "b"]


def test_a_fallback_of_a_later_layer_stays_behind_the_rules_that_come_with_it() -> None:
    assert _ids(_layer("a"), _layer("fallback", "b")) == ["a", "b", "fallback"]


@pytest.mark.parametrize(
    ("layer", "order"),
    [
        (["x<http-403"], ["http-401", "x", "http-403", "fallback"]),
        (["x<http-401", "y<http-401"], ["x", "y", "http-401", "http-403", "fallback"]),
        (["x<fallback", "y"], ["http-401", "http-403", "y", "x", "fallback"]),
        (["x<nowhere", "y"], ["http-401", "http-403", "x", "y", "fallback"]),
        (["x<x"], ["http-401", "http-403", "x", "fallback"]),
        (["x<y", "y<http-401"], ["x", "y", "http-401", "http-403", "fallback"]),
        (["x<y", "y"], ["http-401", "http-403", "x", "y", "fallback"]),
        (["http-403<http-401"], ["http-403", "http-401", "fallback"]),
        (["http-403<nowhere"], ["http-401", "http-403", "fallback"]),
        (["fallback<http-403", "x"], ["http-401", "http-403", "x", "fallback"]),
        (["x<y", "y<x"], ["http-401", "http-403", "fallback", "x", "y"]),
    ],
)
def test_a_rule_may_stand_before_another(layer: list[str], order: list[str]) -> None:
    assert _ids(_BUNDLED, _layer(*layer)) == order


def test_a_shadow_rule_never_stands_in_the_order_and_replaces_nothing() -> None:
    tried = [a_rule("http-403", note="ours", shadow=True), a_rule("new", before="http-401", shadow=True)]
    assert merge([_BUNDLED, tried]) == tuple(_BUNDLED)


def test_on_trial_a_shadow_rule_stands_where_it_would_stand_in_force() -> None:
    tried = [a_rule("http-403", note="ours", shadow=True), a_rule("new", before="http-401", shadow=True)]
    order = merge([_BUNDLED, tried], on_trial=True)
    assert [(rule.id, rule.note) for rule in order] == [
        ("new", None),
        ("http-401", None),
        ("http-403", "ours"),
        ("fallback", None),
    ]


def test_on_trial_a_shadow_rule_replaces_the_rule_of_its_id_in_its_own_file() -> None:
    shadow, beside = a_rule("x", note="tried", shadow=True), a_rule("x", note="in force")
    for layer in ([shadow, beside], [beside, shadow]):
        assert [rule.note for rule in merge([_BUNDLED, layer]) if rule.id == "x"] == ["in force"]
        assert [rule.note for rule in merge([_BUNDLED, layer], on_trial=True) if rule.id == "x"] == ["tried"]


_NAMES = st.sampled_from(["a", "b", "c", "d", "e", "fallback"])
_LAYERS = st.lists(
    st.lists(
        st.builds(
            lambda name, before, note: a_rule(name, before=before, note=note),
            _NAMES,
            st.none() | _NAMES,
            _NAMES,
        ),
        max_size=6,
        unique_by=lambda rule: rule.id,
    ),
    max_size=3,
)


@given(_LAYERS)
def test_merging_the_last_layer_twice_is_the_same_as_once(layers: list[list[Rule]]) -> None:
    assert merge([*layers, *layers[-1:]]) == merge(layers)


@given(_LAYERS)
def test_every_id_is_kept_once_with_the_narrowest_rule_of_that_id(layers: list[list[Rule]]) -> None:
    narrowest = {rule.id: rule for layer in layers for rule in layer}
    merged = merge(layers)
    assert len(merged) == len(narrowest)
    assert {rule.id: rule for rule in merged} == narrowest


@given(_LAYERS)
def test_rules_that_ask_for_no_place_keep_the_order_in_which_they_came(layers: list[list[Rule]]) -> None:
    plain = [[rule for rule in layer if rule.before is None and rule.id != "fallback"] for layer in layers]
    first_seen = list(dict.fromkeys(rule.id for layer in plain for rule in layer))
    assert [rule.id for rule in merge(plain)] == first_seen


@given(_LAYERS, _LAYERS)
def test_shadow_rules_change_nothing_in_force_and_their_trial_is_the_order_without_the_word(
    layers: list[list[Rule]], tried: list[list[Rule]]
) -> None:
    shadows = [[dataclasses.replace(rule, shadow=True) for rule in layer] for layer in tried]
    assert merge([*layers, *shadows]) == merge(layers)
    in_force = [dataclasses.replace(rule, shadow=False) for rule in merge([*layers, *shadows], on_trial=True)]
    assert in_force == list(merge([*layers, *tried]))


def test_ten_thousand_rules_merge_in_no_time_to_speak_of() -> None:
    many = [a_rule(f"rule-{i}", before=f"rule-{i + 1}" if i % 2 else None) for i in range(10_000)]
    chain = [a_rule(f"rule-{i}", before=f"rule-{i + 1}") for i in range(10_000)]
    started = time.process_time()
    assert len(merge([_BUNDLED, many, many])) == 10_003
    assert [rule.id for rule in merge([_BUNDLED, chain])][2:-1] == [rule.id for rule in chain]
    assert time.process_time() - started < 2

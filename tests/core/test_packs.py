"""Packs stand beneath what tenants and projects say, never in their way; ahead of bundled rules where they ask to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.match import RuleSet, compiled
from agrajag.core.packs import Pack, PacksOn, asked_order
from agrajag.core.rules import Layer, Rule
from tests.builders import a_rule, features_of

_BUNDLED = (
    a_rule("forbidden", http_statuses=(403, 403)),
    a_rule("server", http_statuses=(500, 599)),
    a_rule("fallback"),
)


def a_pack(name: str, *rules: Rule, families: tuple[str, ...] = ()) -> Pack:
    named = tuple(replace(rule, pack=name) for rule in rules)
    return Pack(name, families, f"about {name}", Layer(f"packs/{name}.yaml", named), {}, {}, {})


_RATE = a_rule("rate", body_contains=("rate limit",), before="forbidden")
_QUOTA = a_rule("quota", body_contains=("quota",))
_PACKS = (a_pack("general", _QUOTA), a_pack("vendor", _RATE, families=("vendor-*",)))


def over(*layers: Sequence[Rule], packs: Sequence[Pack] = _PACKS) -> RuleSet:
    return PacksOn(_BUNDLED, packs).compiled(layers)


def decides(rules: RuleSet, **error: Any) -> str | None:
    rule = rules.first_match(features_of(**error))
    return None if rule is None else rule.id


def ids(rules: RuleSet) -> list[str]:
    return [rule.id for rule in rules.rules]


def test_a_pack_rule_stands_before_the_bundled_rule_it_names_else_before_the_fallback() -> None:
    rules = over()
    assert ids(rules) == ["rate", "forbidden", "server", "quota", "fallback"]
    assert decides(rules, http_status=403, body="rate limit") == "rate"
    assert decides(rules, http_status=403, body="quota") == "forbidden"
    assert decides(rules, body="quota") == "quota"


def test_a_pack_rule_decides_nothing_that_a_tenants_or_projects_rule_decides() -> None:
    tenant, project = [a_rule("mine", body_contains=("limit",))], [a_rule("ours", error_code="e")]
    rules = over(tenant, project)
    assert ids(rules) == ["rate", "forbidden", "server", "mine", "ours", "quota", "fallback"]
    assert decides(rules, body="rate limit") == "mine"
    assert decides(rules, body="rate limits of 403", http_status=403) == "rate"
    assert decides(rules, error_code="e", body="quota") == "ours"
    assert decides(rules, body="quota") == "quota"


def test_where_a_bundled_rule_is_replaced_a_pack_rule_no_longer_stands_before_it() -> None:
    rules = over([a_rule("forbidden", http_statuses=(403, 403), body_contains=("no",))])
    assert ids(rules) == ["forbidden", "server", "rate", "quota", "fallback"]
    assert decides(rules, http_status=403, body="no, rate limit") == "forbidden"
    assert decides(rules, http_status=403, body="rate limit") == "rate"
    assert decides(rules, http_status=500, body="rate limit") == "server"


def test_a_fallback_of_the_tenant_leaves_nothing_to_packs_but_what_stands_before_bundled_rules() -> None:
    rules = over([a_rule("fallback")])
    assert decides(rules, body="quota") == "fallback"
    assert decides(rules, http_status=403, body="rate limit") == "rate"
    narrow = over([a_rule("fallback", body_contains=("mine",))])
    assert decides(narrow, body="quota") == "quota"
    assert decides(narrow, body="mine, quota") == "fallback"
    assert decides(narrow) is None


def test_a_pack_rule_whose_id_a_tenant_uses_is_left_out() -> None:
    rules = over([a_rule("rate", error_code="mine")])
    assert ids(rules) == ["forbidden", "server", "rate", "quota", "fallback"]
    assert decides(rules, http_status=403, body="rate limit") == "forbidden"


def test_a_tenants_rule_cannot_take_its_place_from_a_pack_rule() -> None:
    rules = over([a_rule("mine", before="rate")])
    assert ids(rules) == ["rate", "forbidden", "server", "mine", "quota", "fallback"]
    assert decides(rules, http_status=403, body="rate limit") == "rate"


def test_shadow_rules_are_tried_over_packs() -> None:
    rules = over([a_rule("mine", body_contains=("limit",), before="forbidden", shadow=True)])
    assert decides(rules, http_status=403, body="rate limit") == "rate"
    assert rules.trial is not None
    assert decides(rules.trial, http_status=403, body="rate limit") == "mine"
    assert over([a_rule("mine")]).trial is None


def test_a_trial_that_changes_nothing_is_none() -> None:
    assert over([a_rule("mine", shadow=True)], [a_rule("mine")]).trial is None
    assert over([a_rule("mine", shadow=True)], [a_rule("ours")]).trial is not None


def test_tenants_without_rules_share_one_set_and_those_that_replace_the_same_share_what_lies_beneath() -> (
    None
):
    packs = PacksOn(_BUNDLED, _PACKS)
    assert packs.compiled() is packs.compiled([[]])
    first, second = packs.compiled([[a_rule("a")]]), packs.compiled([[a_rule("b")]])
    assert first.hash != second.hash
    assert first.hash == packs.compiled([[a_rule("a")]]).hash


def test_without_packs_a_set_is_that_of_the_layers_alone() -> None:
    layers = [[a_rule("mine", before="server")], [a_rule("ours", shadow=True)]]
    alone, packed = compiled([_BUNDLED, *layers]), over(*layers, packs=())
    assert packed.rules == alone.rules
    assert packed.trial is not None
    assert alone.trial is not None
    assert packed.trial.rules == alone.trial.rules


def test_vendors_are_asked_first_then_protocols_and_the_general_pack_last() -> None:
    packs = [
        a_pack("general"),
        a_pack("mcp"),
        a_pack("zoom", families=("zoom",)),
        a_pack("aws", families=("s3",)),
    ]
    assert [pack.name for pack in asked_order(packs)] == ["aws", "zoom", "mcp", "general"]
    assert a_pack("aws", families=("aws-*", "s3")).is_about("aws-iam")
    assert not a_pack("aws", families=("aws-*", "s3")).is_about("s33")


_WORDS = ("rate limit", "quota", "limit", "no")
_IDS = st.sampled_from(["a", "b", "forbidden", "server", "fallback", "rate", "quota"])
_OWN = st.builds(
    lambda name, before, status, words: a_rule(
        name, before=before, http_statuses=status, body_contains=words
    ),
    _IDS,
    st.none() | _IDS,
    st.sampled_from([None, (403, 403), (400, 599), (503, 503)]),
    st.lists(st.sampled_from(_WORDS), max_size=2).map(tuple),
)
_LAYERS = st.lists(st.lists(_OWN, max_size=4, unique_by=lambda rule: rule.id), max_size=2)
_ERRORS = st.fixed_dictionaries(
    {
        "http_status": st.sampled_from([None, 403, 500, 503]),
        "body": st.lists(st.sampled_from(_WORDS), max_size=2).map(" ".join),
    }
)


@given(_LAYERS, _ERRORS)
def test_what_a_tenants_or_projects_rule_decides_is_always_decided_by_it_whatever_packs_say(
    layers: list[list[Rule]], error: dict[str, Any]
) -> None:
    features = features_of(**error)
    alone, packed = compiled([_BUNDLED, *layers]).first_match(features), over(*layers).first_match(features)
    if alone is not None and alone not in _BUNDLED:
        assert packed is alone
    elif packed is not alone:
        assert packed is not None
        assert packed.pack is not None

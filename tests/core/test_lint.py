"""Warnings about rules: each is certain, and none takes anything out of force."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.core.call_conditions import Family
from agrajag.core.code_conditions import ErrorCodes
from agrajag.core.conflicts import conflict_in
from agrajag.core.features import Features
from agrajag.core.hiding import covers, hidden_rules
from agrajag.core.lint import lint, never_matched
from agrajag.core.match import RuleSet
from agrajag.core.response_conditions import NoSuccess
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Rule, Selectors
from agrajag.documents.rule_files import bundled_layer
from agrajag.model.enums import Classification, HealthAction
from agrajag.model.events import ToolCallError
from tests.builders import a_rule, an_error
from tests.core.rule_language import EVENTS, SELECTORS

_FALLBACK = a_rule("fallback")
_WIDE = a_rule("wide", http_statuses=(500, 599))


def _warnings(*layers: list[Rule]) -> list[str]:
    named = [Layer(f"layer-{number}", tuple(rules)) for number, rules in enumerate(layers)]
    return [str(problem) for problem in lint(named)]


def test_the_bundled_rules_give_no_warning() -> None:
    assert lint([bundled_layer()]) == ()


def test_no_layers_give_no_warning() -> None:
    assert lint([]) == ()


def test_a_rule_behind_one_that_matches_all_that_it_matches_is_told_with_both_names() -> None:
    assert _warnings([_WIDE, _FALLBACK], [a_rule("x", http_statuses=(503, 503))]) == [
        "layer-1: rule 'x': match: can never match: 'wide' stands before it and matches all that it matches"
    ]


def test_a_rule_that_goes_in_front_of_the_wider_one_is_fine() -> None:
    assert _warnings([_WIDE, _FALLBACK], [a_rule("x", http_statuses=(503, 503), before="wide")]) == []


def test_a_shadow_rule_is_looked_at_where_it_would_stand() -> None:
    hidden = a_rule("x", http_statuses=(503, 503), shadow=True)
    found = _warnings([_WIDE, _FALLBACK], [hidden])
    assert [text.partition(": can never")[0] for text in found] == ["layer-1: rule 'x': match"]


def test_a_rule_in_force_is_looked_at_as_if_no_shadow_rule_were_there() -> None:
    hidden, narrower = a_rule("x", http_statuses=(503, 503)), a_rule("wide", error_code="x", shadow=True)
    found = _warnings([_WIDE, _FALLBACK], [hidden, narrower])
    assert [text.partition(": can never")[0] for text in found] == ["layer-1: rule 'x': match"]


def test_a_rule_in_force_that_wants_to_stand_before_a_shadow_rule_is_told() -> None:
    shadow, rule = a_rule("s", error_code="s", shadow=True), a_rule("x", error_code="x", before="s")
    assert ["no rule 's'" in text for text in _warnings([_FALLBACK], [shadow, rule])] == [True]
    second = a_rule("x", error_code="x", before="s", shadow=True)
    assert _warnings([_FALLBACK], [shadow, second]) == []


@pytest.mark.parametrize(
    ("rule", "warning"),
    [
        (a_rule("x", error_code="x", before="nowhere"), "before: there is no rule 'nowhere'"),
        (a_rule("x", error_code="x", before="x"), "before: names the rule itself"),
        (a_rule("fallback", before="a"), "before: 'fallback' never moves"),
        (
            a_rule(
                "x", error_code="x", classification=Classification.USER_INPUT, health_action=HealthAction.MARK_DEGRADED
            ),
            "healthAction: has no effect: USER_INPUT never touches a status",
        ),
    ],
    ids=["unknown", "itself", "fallback", "no status"],
)  # fmt: skip
def test_what_has_no_effect_is_told(rule: Rule, warning: str) -> None:
    (found,) = _warnings([a_rule("a", error_code="a"), _FALLBACK], [rule])
    assert found.startswith(f"layer-1: rule {rule.id!r}: {warning}")


def test_before_may_name_a_rule_of_the_same_file_or_a_wider_one_but_none_of_a_narrower() -> None:
    tenant = [a_rule("a", error_code="a", before="b"), a_rule("b", error_code="b", before="fallback")]
    assert _warnings([_FALLBACK], tenant) == []
    later = [a_rule("c", error_code="c", before="d")], [a_rule("d", error_code="d")]
    assert [text.split(":")[0] for text in _warnings([_FALLBACK], *later)] == ["layer-1"]


def test_rules_that_stand_before_each_other_land_behind_the_fallback_and_are_told() -> None:
    circle = [a_rule("x", error_code="x", before="y"), a_rule("y", error_code="y", before="x")]
    assert ["'fallback' stands before it" in text for text in _warnings([_FALLBACK], circle)] == [True, True]


def test_a_fallback_that_no_longer_matches_everything_is_told() -> None:
    (warning,) = _warnings([_FALLBACK], [a_rule("fallback", http_statuses=(500, 599))])
    assert warning.startswith("layer-1: patterns: no rule matches everything")


@pytest.mark.parametrize(
    ("wide", "narrow", "certain"),
    [
        ({}, {"error_code": "x"}, True),
        ({"error_code": "x"}, {}, False),
        ({"http_statuses": (400, 499)}, {"http_statuses": (400, 400)}, True),
        ({"http_statuses": (400, 499)}, {"http_statuses": (400, 500)}, False),
        ({"http_statuses": (400, 499)}, {"body_contains": ("x",)}, False),
        ({"body_contains": ("not found",)}, {"body_contains": ("page not found", "it is not found")}, True),
        ({"body_contains": ("not found",)}, {"body_contains": ("page not found", "gone")}, False),
        ({"body_contains": ("page not found",)}, {"body_contains": ("not found",)}, False),
        ({"exception_types": ("A", "B")}, {"exception_types": ("B",), "http_statuses": (500, 500)}, True),
        ({"exception_types": ("A",)}, {"exception_types": ("A", "B")}, False),
        ({"exception_types": ("java.net.ConnectException",)}, {"exception_types": ("httpx.ConnectError",)}, True),
        ({"exception_types": ("ConnectError",)}, {"exception_types": ("httpx.ConnectError",)}, True),
        ({"exception_types": ("httpx.ConnectError",)}, {"exception_types": ("java.net.ConnectException",)}, False),
        ({"exception_types": ("ConnectException",)}, {"exception_types": ("java.net.ConnectException",)}, False),
        ({"exception_types": ("java.net.SocketTimeoutException",)}, {"exception_types": ("TimeoutError",)}, False),
        ({"error_code": "a"}, {"error_code": "b"}, False),
        ({"exception_types": ("*.net.ConnectException",)}, {"exception_types": ("java.net.ConnectException",)}, True),
        ({"exception_types": ("ConnectException",)}, {"exception_types": ("*.net.ConnectException",)}, False),
    ],
)  # fmt: skip
def test_one_rule_covers_another_only_where_that_is_certain(
    wide: dict[str, Any], narrow: dict[str, Any], certain: bool
) -> None:
    assert covers(Selectors(**wide), Selectors(**narrow)) is certain


@settings(max_examples=200)
@given(st.lists(SELECTORS, min_size=2, max_size=8), st.lists(EVENTS, min_size=1, max_size=5))
def test_whatever_the_narrower_matches_the_wider_always_matches_too(
    selectors: list[Selectors], events: list[ToolCallError]
) -> None:
    for features in map(Features, events):
        matching = [RuleSet([a_rule(match=match)]).first_match(features) is not None for match in selectors]
        for narrow, narrow_matches in zip(selectors, matching, strict=True):
            for wide, wide_matches in zip(selectors, matching, strict=True):
                if narrow_matches and covers(wide, narrow):
                    assert wide_matches


@given(SELECTORS, st.lists(EVENTS, min_size=1, max_size=5))
def test_nothing_ever_matches_selectors_that_are_told_to_exclude_each_other(
    match: Selectors, events: list[ToolCallError]
) -> None:
    if conflict_in(match) is not None:
        assert not any(match.hold(Features(event)) for event in events)


@given(st.lists(SELECTORS, max_size=15))
def test_the_hidden_rules_are_always_those_that_a_plain_comparison_of_all_pairs_finds(
    selectors: list[Selectors],
) -> None:
    order = [a_rule(f"rule-{number}", match=match) for number, match in enumerate(selectors)]
    plain = {
        later.id
        for position, later in enumerate(order)
        if any(covers(earlier.match, later.match) for earlier in order[:position])
    }
    found = hidden_rules(order)
    assert found.complete
    assert {rule.id for rule in order if id(rule) in found.by} == plain


def _many(**selectors: Any) -> list[Rule]:
    return [
        a_rule(f"rule-{n}", **{name: value(n) for name, value in selectors.items()}) for n in range(10_000)
    ]


@pytest.mark.parametrize(
    "rules",
    [
        _many(body_contains=lambda n: (f"marker {n} of many", "another")),
        _many(error_code=lambda n: f"code-{n}", body_contains=lambda _: ("error",)),
        _many(exception_types=lambda n: (f"x.Error{n}",), http_statuses=lambda _: (500, 599)),
        _many(http_statuses=lambda n: (100 + n % 500, 100 + n % 500)),
        _many(
            conditions=lambda n: (Family((f"family-{n}",)), ErrorCodes((f"code-{n}", "limit")), NoSuccess())
        ),
    ],
    ids=["texts", "codes", "exceptions", "statuses", "conditions"],
)
def test_ten_thousand_rules_are_compared_in_seconds(rules: list[Rule]) -> None:
    started = time.process_time()
    hidden_rules([*rules, _FALLBACK])
    assert time.process_time() - started < 5


def test_where_too_many_rules_are_alike_it_is_told_that_not_all_were_compared() -> None:
    alike = _many(body_contains=lambda n: ("error",), http_statuses=lambda n: (100 + n % 100, 200 + n // 100))
    started = time.process_time()
    warnings = lint([Layer("many", (*alike, _FALLBACK))])
    assert time.process_time() - started < 5
    assert "not all of them were compared" in warnings[-1].reason


def _matching(**match: Any) -> Rule:
    layer = parse_layer(
        {"patterns": [{"id": "x", "match": match, "signature": "x", "classification": "UNCLEAR"}]},
        "rules.yaml",
    )
    assert layer.problems == ()
    return layer.rules[0]


_CERTAIN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"errorCodes": ["a", "b"]}, {"errorCodes": ["b"], "httpStatus": 400}),
    ({"errorCodes": {"in": ["a"], "at": ["code", "error"]}}, {"errorCodes": {"in": ["a"], "at": ["error"]}}),
    ({"rpcCode": [1, 2]}, {"rpcCode": 2}),
    ({"family": ["slack", "git*"]}, {"family": "git*"}),
    ({"headers": {"a": "present"}}, {"headers": {"a": "x"}}),
    ({"headers": {"a": {"contains": "x"}}}, {"headers": {"a": {"contains": "xy"}}}),
    ({"httpStatus": [401, 403]}, {"httpStatus": 403, "bodyContains": ["x"]}),
    ({"httpStatusRange": [400, 499]}, {"httpStatus": [401, 403]}),
    ({"successBody": False}, {"httpStatus": 500}),
    ({"any": [{"httpStatus": 401}, {"bodyContains": ["x"]}]}, {"bodyContains": ["xx"]}),
    ({"bodyContains": ["x"]}, {"all": [{"bodyContains": ["xx"]}, {"httpStatus": 400}]}),
    ({"not": {"httpStatus": 401}}, {"not": {"httpStatusRange": [400, 499]}}),
]


@pytest.mark.parametrize(("wide", "narrow"), _CERTAIN)
def test_a_rule_of_the_whole_language_is_hidden_by_a_wider_one_and_not_the_other_way_round(
    wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    first, second = _matching(**wide), _matching(**narrow)
    assert list(hidden_rules([first, second]).by) == [id(second)]
    assert hidden_rules([second, first]).by == {}


@pytest.mark.parametrize(
    ("match", "told"),
    [
        ({"httpStatus": [401], "httpStatusRange": [500, 599]}, "its statuses exclude each other"),
        ({"httpStatus": 401, "all": [{"httpStatus": 403}]}, "its statuses exclude each other"),
        ({"httpStatus": 200, "successBody": False}, "a status of success without"),
        ({"httpStatus": 403, "not": {"httpStatusRange": [400, 499]}}, "what it must not fit"),
        ({"httpStatus": 403, "any": [{"httpStatus": 401}, {"httpStatus": 402}]}, "none of its `any`"),
        ({"transport": "http", "all": [{"transport": "mcp"}]}, "selectors transport exclude each other"),
        ({"headers": {"a": "absent"}, "all": [{"headers": {"a": "x"}}]}, "selectors headers exclude each other"),
        ({"headers": {"a": "y"}, "all": [{"headers": {"a": {"contains": "x"}}}]}, "headers exclude each other"),
    ],
)  # fmt: skip
def test_selectors_that_exclude_each_other_are_told(match: dict[str, Any], told: str) -> None:
    (warning,) = _warnings([_matching(**match), _FALLBACK])
    assert warning.startswith("layer-0: rule 'x': match: can never match: ")
    assert told in warning


@pytest.mark.parametrize(
    "match",
    [
        {"httpStatus": 403, "not": {"bodyContains": ["rate limit"]}},
        {"httpStatus": 403, "any": [{"httpStatus": 401}, {"bodyContains": ["x y z"]}]},
        {"headers": {"a": "present"}, "all": [{"headers": {"a": "x"}}]},
        {"bodyMatches": ["try again in [0-9]+ seconds"]},
        {"not": {"bodyMatches": ["[a-z]"]}, "family": "x"},
    ],
)
def test_selectors_that_may_fit_together_give_no_warning(match: dict[str, Any]) -> None:
    assert _warnings([_matching(**match), _FALLBACK]) == []


@pytest.mark.parametrize(
    ("match", "field"),
    [
        ({"bodyMatches": ["[a-z]+"]}, "match.bodyMatches"),
        ({"family": "x", "any": [{"bodyMatches": ["no", ".."]}]}, "match.bodyMatches"),
        ({"bodyContains": ["e"]}, "match.bodyContains"),
    ],
)
def test_a_text_or_pattern_that_stands_in_almost_every_error_is_told(
    match: dict[str, Any], field: str
) -> None:
    (warning,) = _warnings([_matching(**match), _FALLBACK])
    assert warning.startswith(f"layer-0: rule 'x': {field}: ")


def test_rules_that_fit_no_error_of_a_corpus_are_told_in_their_order() -> None:
    rules = [
        a_rule("b", body_contains=("b",)),
        a_rule("a", body_contains=("a",)),
        a_rule("c", error_code="c"),
        _FALLBACK,
    ]
    assert never_matched(rules, [an_error(body="xbx"), an_error(body="y")]) == (rules[1], rules[2])
    assert never_matched(rules, []) == tuple(rules)

"""Where rules come from, in the order in which they are asked."""

from datetime import time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.body_patterns import BodyPattern
from agrajag.core.listing import Listing, Standing, entry_of, listing
from agrajag.core.match import compiled
from agrajag.core.retry_after import WaitUnit
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Rule
from agrajag.core.waits import BodyWait, Bounds, DailyReset, HeaderWait, PatternWait
from agrajag.documents.rule_files import bundled_layer
from agrajag.model.enums import Classification, HealthAction, ToolErrorCode
from tests.builders import a_rule
from tests.core.rule_language import SELECTORS


def _listing(*layers: Layer) -> Listing:
    return listing(layers, compiled(layer.rules for layer in layers))


_BUNDLED = Layer("bundled", (a_rule("a"), a_rule("b"), a_rule("fallback")))


def test_every_rule_is_listed_in_its_order_with_its_file_and_what_it_replaces() -> None:
    tenant = Layer("tenant", (a_rule("b", note="t"), a_rule("new")))
    project = Layer("project", (a_rule("b", note="p"), a_rule("first", before="a")))
    found = _listing(_BUNDLED, tenant, project)
    assert [(one.rule.id, one.source, one.replaces) for one in found.in_force] == [
        ("first", "project", ()),
        ("a", "bundled", ()),
        ("b", "project", ("bundled", "tenant")),
        ("new", "tenant", ()),
        ("fallback", "bundled", ()),
    ]
    assert found.in_force[2].rule.note == "p"
    assert found.on_trial == ()


def test_rules_on_trial_are_listed_with_the_place_they_would_have() -> None:
    replacing, new = a_rule("b", note="t", shadow=True), a_rule("new", before="b", shadow=True)
    last = Layer("project", (a_rule("fallback", note="p", shadow=True),))
    found = _listing(_BUNDLED, Layer("tenant", (replacing, new)), last)
    assert [one.rule.id for one in found.in_force] == ["a", "b", "fallback"]
    assert found.on_trial == (
        Standing(new, "tenant", (), "b"),
        Standing(replacing, "tenant", ("bundled",), None),
        Standing(last.rules[0], "project", ("bundled",), None),
    )


_SPANS = st.none() | st.sampled_from([timedelta(seconds=1), timedelta(seconds=90)])
_BOUNDS = st.builds(Bounds, _SPANS, st.none() | st.just(timedelta(hours=1)))
_UNITS = st.sampled_from(WaitUnit)
_WAITS = st.one_of(
    st.builds(HeaderWait, st.just("x-reset"), _UNITS, _BOUNDS),
    st.builds(BodyWait, st.just(("error", "retry_after")), _UNITS, _BOUNDS),
    st.builds(PatternWait, st.just(BodyPattern("again in ([0-9]+)")), _UNITS, _BOUNDS),
    st.builds(DailyReset, st.just(time(0, 30)), st.sampled_from(["UTC", "America/Los_Angeles"]), _BOUNDS),
)
_RULES = st.builds(
    a_rule,
    st.sampled_from(["x", "y"]),
    match=SELECTORS,
    signature=st.sampled_from(["s", "long signature"]),
    classification=st.sampled_from([one for one in Classification if one is not Classification.WORKING]),
    cooldown=st.none() | st.timedeltas(timedelta(milliseconds=1), timedelta(days=300)),
    health_action=st.sampled_from(HealthAction),
    locked=st.booleans(),
    note=st.none() | st.just("a note"),
    before=st.none() | st.just("y"),
    shadow=st.booleans(),
    waits=st.lists(_WAITS, max_size=3).map(tuple),
    error_code=st.none() | st.sampled_from(ToolErrorCode),
    hint=st.none() | st.just("log in again"),
)


@given(_RULES)
def test_a_rule_as_an_entry_is_always_read_as_the_same_rule(rule: Rule) -> None:
    layer = parse_layer({"patterns": [entry_of(rule)]}, "rules.yaml")
    assert (layer.rules, layer.problems) == ((rule,), ())


def test_the_bundled_rules_as_entries_are_read_as_themselves() -> None:
    layer = parse_layer({"patterns": [entry_of(rule) for rule in bundled_layer().rules]}, "rules.yaml")
    assert layer.rules == bundled_layer().rules


@pytest.mark.parametrize(
    ("fields", "entry"),
    [
        ({}, {}),
        ({"cooldown": timedelta(minutes=5)}, {"cooldown": "PT5M"}),
        ({"cooldown_header": "retry-after"}, {"cooldown": "header:retry-after"}),
        ({"shadow": True, "locked": True}, {"shadow": True, "locked": True}),
        ({"health_action": HealthAction.MARK_DEGRADED}, {"healthAction": "markDegraded"}),
    ],
)
def test_an_entry_says_no_more_than_it_must(fields: dict[str, Any], entry: dict[str, Any]) -> None:
    plain = {"id": "a-rule", "match": {}, "signature": "a-rule", "classification": "UNCLEAR"}
    assert entry_of(a_rule(**fields)) == plain | entry

"""Settings documents: every key, every bad value alone, the narrowest usable one."""

from datetime import timedelta
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.day_limits import NO_LIMITS, DayLimits
from agrajag.core.policy import ALL_NAMES, NO_NAMES, Names, Policy
from agrajag.core.policy_parsing import (
    LIMITS,
    MAX_NAMES,
    SETTINGS,
    misplaced_limits,
    parse_settings,
    with_limits,
    with_settings,
)
from agrajag.documents.cascade import SETTINGS_PATH, bundled_documents


@pytest.mark.parametrize(
    ("key", "value", "field", "wanted"),
    [
        ("agrajag.cooldown.max", "PT6H", "cooldown_max", timedelta(hours=6)),
        ("agrajag.cooldown.memory", "PT2H", "hits_memory", timedelta(hours=2)),
        ("agrajag.diagnosis.freshness", "PT1M", "freshness", timedelta(minutes=1)),
        ("agrajag.diagnosis.lease", "PT1H", "lease", timedelta(hours=1)),
        ("agrajag.diagnosis.never", True, "never_diagnosed", ALL_NAMES),
        ("agrajag.diagnosis.never", False, "never_diagnosed", NO_NAMES),
        ("agrajag.diagnosis.never", ["search"], "never_diagnosed", Names(names=frozenset({"search"}))),
        ("agrajag.health.never-down", ["search"], "never_down", Names(names=frozenset({"search"}))),
        ("agrajag.packs.off", ["slack"], "packs_off", Names(names=frozenset({"slack"}))),
        ("agrajag.health.late-after", "PT5M", "late_after", timedelta(minutes=5)),
        ("agrajag.health.unconfirmed-after", "P2D", "unconfirmed_after", timedelta(days=2)),
        ("agrajag.health.history-size", 3, "history_size", 3),
        ("agrajag.answer.all", True, "answer_all", True),
    ],
)
def test_every_setting_reaches_its_place(key: str, value: Any, field: str, wanted: Any) -> None:
    layer = parse_settings({key: value}, "acme")
    assert (layer.problems, layer.usable) == ((), True)
    policy = with_settings(Policy(), [layer])
    assert getattr(policy, field) == wanted
    assert policy == Policy(**{field: wanted})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agrajag.cooldown.max", "PT59M"),
        ("agrajag.cooldown.max", "24h"),
        ("agrajag.cooldown.max", 24),
        ("agrajag.cooldown.max", None),
        ("agrajag.cooldown.max", "P2Y"),
        ("agrajag.cooldown.memory", "PT0S"),
        ("agrajag.diagnosis.freshness", "-PT5M"),
        ("agrajag.diagnosis.never", "search"),
        ("agrajag.diagnosis.never", ["search", 7]),
        ("agrajag.diagnosis.never", [""]),
        ("agrajag.diagnosis.never", ["t"] * (MAX_NAMES + 1)),
        ("agrajag.health.history-size", 0),
        ("agrajag.health.history-size", 10_000),
        ("agrajag.health.history-size", True),
        ("agrajag.answer.all", "yes"),
        ("agrajag.answer.every", True),
        ("agrajag", {"answer": {"all": True}}),
        (7, True),
    ],
)
def test_a_bad_value_or_an_unknown_key_is_a_problem_alone(key: Any, value: Any) -> None:
    layer = parse_settings({key: value, "agrajag.diagnosis.lease": "PT1H"}, "acme/_tenant/s.yaml")
    (problem,) = layer.problems
    assert (problem.source, problem.rule_id, problem.field) == ("acme/_tenant/s.yaml", None, str(key))
    assert with_settings(Policy(), [layer]) == Policy(lease=timedelta(hours=1))


def test_a_bad_value_falls_to_the_next_wider_layer() -> None:
    wide = parse_settings({"agrajag.health.history-size": 5}, "tenant")
    narrow = parse_settings({"agrajag.health.history-size": "many", "agrajag.answer.all": True}, "project")
    assert with_settings(Policy(), [wide, narrow]) == Policy(history_size=5, answer_all=True)


@pytest.mark.parametrize("data", [[], "text", 7, True])
def test_what_is_no_mapping_is_no_settings_document(data: object) -> None:
    layer = parse_settings(data, "acme")
    assert (layer.usable, len(layer.problems), dict(layer.values)) == (False, 1, {})


def test_an_empty_document_sets_nothing() -> None:
    assert parse_settings(None, "acme") == parse_settings({}, "acme")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    ),
    st.sampled_from(sorted(SETTINGS)),
)
def test_no_value_makes_checking_raise(value: object, key: str) -> None:
    parse_settings(value, "acme")
    layer = parse_settings({key: value}, "acme")
    assert len(layer.values) + len(layer.problems) == 1


def test_the_bundled_document_shows_every_setting_with_its_default_and_sets_none() -> None:
    text = bundled_documents()[SETTINGS_PATH]
    assert yaml.safe_load(text) is None
    shown = [
        line.removeprefix("# ") for line in text.splitlines() if line.startswith(("# agrajag.", "# ai."))
    ]
    layer = parse_settings(yaml.safe_load("\n".join(shown)), SETTINGS_PATH)
    assert layer.problems == ()
    assert set(layer.values) == {setting.field for setting in SETTINGS.values()}
    assert with_settings(Policy(), [layer]) == Policy()
    assert set(layer.limits) == {setting.field for setting in LIMITS.values()}
    assert layer.aliases == {"agrajag": "claude-haiku-5-5"}


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("agrajag.budget.runs", 0, DayLimits(runs=0)),
        ("agrajag.budget.tokens", 5_000_000, DayLimits(tokens=5_000_000)),
        ("agrajag.budget.usd", 2, DayLimits(micro_usd=2_000_000)),
        ("agrajag.budget.usd", 0.07, DayLimits(micro_usd=70_000)),
    ],
)
def test_every_budget_reaches_its_place(key: str, value: Any, wanted: DayLimits) -> None:
    layer = parse_settings({key: value}, "acme")
    assert layer.problems == ()
    assert with_limits(NO_LIMITS, layer) == wanted


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agrajag.budget.runs", -1),
        ("agrajag.budget.runs", 1.5),
        ("agrajag.budget.runs", None),
        ("agrajag.budget.tokens", True),
        ("agrajag.budget.tokens", 10**13),
        ("agrajag.budget.usd", float("nan")),
        ("agrajag.budget.usd", float("inf")),
        ("agrajag.budget.usd", "2.50"),
        ("ai.alias.agrajag", ""),
        ("ai.alias.agrajag", 7),
        ("ai.alias.agrajag", "m" * 257),
        ("ai.alias.", "claude"),
        ("ai.alias.a.b", "claude"),
        ("ai.provider.x.baseUrl", "https://example.com"),
    ],
)
def test_a_bad_budget_or_alias_is_a_problem_and_sets_nothing(key: str, value: Any) -> None:
    layer = parse_settings({key: value}, "acme")
    assert [(problem.source, problem.field) for problem in layer.problems] == [("acme", key)]
    assert (layer.limits, layer.aliases, layer.values) == ({}, {}, {})


def test_a_budget_in_a_projects_document_is_a_problem_and_an_alias_is_none() -> None:
    layer = parse_settings(
        {"agrajag.budget.usd": 1, "ai.alias.fast": "m", "agrajag.answer.all": True}, "here"
    )
    (problem,) = misplaced_limits(layer)
    assert (problem.source, problem.field) == ("here", "agrajag.budget.usd")

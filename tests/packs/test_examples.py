"""Every rule of every pack decides the errors that it was written for, with every pack on, and not its counterparts."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from agrajag.core.call_conditions import TargetIs
from agrajag.core.features import Features
from agrajag.core.lint import lint
from agrajag.core.match import RuleSet
from agrajag.core.packs import Pack
from agrajag.core.proofs import unproven
from agrajag.core.rules import Rule
from agrajag.documents.pack_files import bundled_packs, packed_rules
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.enums import CallTargetKind, Classification
from tests.builders import NOW
from tests.packs.examples import error_of

_PACKS = pytest.mark.parametrize("pack", bundled_packs(), ids=lambda pack: pack.name)
_OF_ITS_ACCOUNT = [
    "airtable-plan-limit", "amap-key", "api-key-refused", "datadog-key", "freshworks-account",
    "google-maps-not-set-up", "http-402", "mailchimp-account", "meta-account", "paid-budget-spent",
    "salesforce-not-enabled", "salesforce-storage-full", "sendgrid-credits", "shopify-shop-off", "sql-login",
    "sql-login-text", "stripe-key", "twilio-account", "x-usage-cap",
]  # fmt: skip
"""Rules that call a tool broken for the key or the budget of the account that it uses."""
_PLAIN: list[dict[str, Any]] = [
    {},
    *({"httpStatus": status} for status in (401, 403, 404, 429, 500, 502, 503, 504, 599)),
    {"httpStatus": 401, "body": '{"error": "token_expired"}'},
    {"httpStatus": 429, "headers": {"retry-after": "17"}},
    {"httpStatus": 503, "body": "Service Unavailable"},
    {"exceptionType": "java.net.ConnectException"},
    {"exceptionType": "java.net.UnknownHostException", "message": "backend.example"},
    {"exceptionType": "ConnectionRefusedError", "message": "[Errno 111] Connection refused"},
    {"exceptionType": "java.net.SocketTimeoutException"},
    {"exceptionType": "httpx.ReadTimeout"},
    {"exceptionType": "ToolException"},
    {"exceptionType": "ToolException", "message": "Manual not found: 'doc-kind-calendar'"},
    {"body": "__schema_violation__"},
]


def decided(rules: RuleSet, example: Mapping[str, Any]) -> Rule:
    rule = rules.first_match(Features(error_of(example)))
    assert rule is not None
    return rule


@_PACKS
def test_the_examples_of_a_pack_prove_its_rules(pack: Pack) -> None:
    assert list(map(str, unproven(pack, packed_rules(), NOW))) == []


@_PACKS
def test_no_rule_of_a_pack_blames_one_user_for_a_credential_that_all_share(pack: Pack) -> None:
    for example in _examples_of(pack, Classification.USER_SPECIFIC_TECHNICAL):
        found = decided(packed_rules(), {**example, "credentialKind": "shared"})
        assert found.pack is None or found.classification is not Classification.USER_SPECIFIC_TECHNICAL


@_PACKS
def test_no_rule_of_a_pack_calls_a_tool_broken_for_a_target_that_its_caller_chose_unless_it_says_so(
    pack: Pack,
) -> None:
    for example in _examples_of(pack, Classification.TECHNICALLY_BROKEN):
        found = decided(packed_rules(), {**example, "targetKind": "fromCaller"})
        says_so = any(
            isinstance(one, TargetIs) and CallTargetKind.FROM_CALLER in one.values
            for one in found.match.conditions
        )
        assert found.classification is not Classification.TECHNICALLY_BROKEN or says_so


def _examples_of(pack: Pack, classification: Classification) -> Iterator[Mapping[str, Any]]:
    for rule in pack.layer.rules:
        if rule.classification is classification:
            yield from pack.examples[rule.id]


@pytest.mark.parametrize("rule_id", _OF_ITS_ACCOUNT)
def test_no_rule_of_a_pack_calls_a_tool_broken_for_the_key_or_the_budget_of_one_user(rule_id: str) -> None:
    (examples,) = (pack.examples[rule_id] for pack in bundled_packs() if rule_id in pack.examples)
    for example in examples:
        found = decided(packed_rules(), {**example, "credentialKind": "user"})
        assert found.classification is not Classification.TECHNICALLY_BROKEN


@pytest.mark.parametrize("example", _PLAIN, ids=str)
def test_the_plain_cases_of_the_bundled_table_keep_their_verdict(example: dict[str, Any]) -> None:
    assert decided(packed_rules(), example) is decided(bundled_rules(), example)


def test_no_rule_of_a_pack_is_hidden_by_another_or_odd_otherwise() -> None:
    assert list(map(str, lint([bundled_layer(), *(pack.layer for pack in bundled_packs())]))) == []


def test_every_pack_is_shown_what_each_of_its_rules_means_and_from_where() -> None:
    for pack in bundled_packs():
        assert pack.layer.rules
        for rule in pack.layer.rules:
            assert rule.pack == pack.name
            assert len(pack.sources[rule.id]) > 10

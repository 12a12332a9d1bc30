"""What is exact, acceptable, wrong and harmful, by what has been written."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.diagnosis.evaluation.case import Case, case_of
from agrajag.diagnosis.evaluation.judging import Aftermath, Grade, judged
from agrajag.diagnosis.evaluation.scenario import TENANT
from agrajag.model.answers import InboxItem
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, HealthEntry, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key
from tests.builders import NOW
from tests.diagnosis.evaluation.scenarios import a_scenario

IDS = {Scope.USER: "alice", Scope.PROJECT: "fjords", Scope.TENANT: TENANT, Scope.GLOBAL: ""}
BROKEN = Classification.TECHNICALLY_BROKEN
OWN = Classification.USER_SPECIFIC_TECHNICAL
DOWN_BEFORE = [
    {"status": "DOWN", "classification": "TECHNICALLY_BROKEN", "since": "PT9M", "recoversIn": "PT1H"}
]


def a_case(**changes: Any) -> Case:
    return case_of(a_scenario(**changes), NOW)


def document(
    status: Status, scope: Scope = Scope.PROJECT, scope_id: str | None = None, **facets: Any
) -> dict[str, HealthEntry]:
    """One document after the diagnosis."""
    recovery = facets.pop("recovery", NOW + timedelta(minutes=30))
    verdict = VerdictFacet(status=status, expected_recovery_at=recovery, note=facets.pop("note", None))
    owner = IDS[scope] if scope_id is None else scope_id
    health = ToolHealth(
        revision=9,
        tenant_id=TENANT,
        scope=scope,
        scope_id=owner,
        tool_name="search",
        verdict=verdict,
        created_at=NOW,
        updated_at=NOW,
        **facets,
    )
    return {health_key(TENANT, scope, owner, "search"): HealthEntry(revision=9, health=health)}


def an_item(user_id: str, body: str = "Renew it.") -> InboxItem:
    return InboxItem(
        item_id="item-1",
        revision=1,
        tenant_id=TENANT,
        assigned_to_user_id=user_id,
        tool_name="search",
        error_signature="http-5xx",
        opening_job_id="job-1",
        title="search",
        body=body,
        created_at=NOW,
        updated_at=NOW,
    )


def test_the_right_word_at_the_right_scope_is_exact() -> None:
    found = judged(a_case(), Aftermath(BROKEN, document(Status.DOWN)))

    assert (found.grade, found.why) == (Grade.EXACT, ())


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({}, "no DOWN at PROJECT"),
        (document(Status.DEGRADED), "no DOWN at PROJECT"),
        (document(Status.DOWN, Scope.USER), "no DOWN at PROJECT"),
    ],
)
def test_the_right_word_that_is_not_written_where_it_belongs_is_acceptable(
    written: dict[str, HealthEntry], why: str
) -> None:
    found = judged(a_case(), Aftermath(BROKEN, written))

    assert (found.grade, found.why) == (Grade.ACCEPTABLE, (why,))


def test_a_recovery_time_outside_of_what_is_expected_is_not_exact() -> None:
    expect = {"classification": "TECHNICALLY_BROKEN", "scope": "PROJECT", "recoversIn": ["PT1H", "PT2H"]}

    found = judged(a_case(expect=expect), Aftermath(BROKEN, document(Status.DOWN)))

    assert (found.grade, found.why) == (
        Grade.ACCEPTABLE,
        ("the recovery is expected at 2026-05-23T12:30:00+00:00",),
    )


def test_another_word_is_acceptable_only_where_the_scenario_says_so() -> None:
    unclear = Aftermath(Classification.UNCLEAR, document(Status.DEGRADED))

    assert judged(a_case(acceptable=["UNCLEAR"]), unclear).grade is Grade.ACCEPTABLE
    assert judged(a_case(), unclear).grade is Grade.WRONG
    assert judged(a_case(), Aftermath(None, {})).why == ("nothing instead of TECHNICALLY_BROKEN",)


@pytest.mark.parametrize("reality", ["works", "caller", "passing", "hidden"])
def test_down_is_harmful_where_the_tool_is_not_down(reality: str) -> None:
    case = a_case(reality=reality, expect={"classification": "UNCLEAR"})

    found = judged(case, Aftermath(BROKEN, document(Status.DOWN)))

    assert (found.grade, found.why) == (Grade.HARMFUL, (f"DOWN at PROJECT, and the truth is: {reality}",))


def test_what_is_one_users_own_may_be_down_for_that_user_alone() -> None:
    case = a_case(
        reality="user", expect={"classification": "USER_SPECIFIC_TECHNICAL", "scope": "USER", "hint": True}
    )
    own, wide = document(Status.DOWN, Scope.USER), document(Status.DOWN)

    assert judged(case, Aftermath(OWN, own, (an_item("alice"),))).grade is Grade.EXACT
    assert judged(case, Aftermath(OWN, own)).why == ("the user is not told",)
    assert judged(case, Aftermath(OWN, wide)).grade is Grade.HARMFUL


@pytest.mark.parametrize(
    ("aftermath", "why"),
    [
        (Aftermath(BROKEN, document(Status.DOWN, Scope.TENANT)), "changes magrathea|TENANT|magrathea|search"),
        (Aftermath(BROKEN, document(Status.DOWN, Scope.GLOBAL)), "changes magrathea|GLOBAL||search"),
        (Aftermath(OWN, document(Status.DOWN, Scope.USER, "bob")), "changes magrathea|USER|bob|search"),
        (
            Aftermath(BROKEN, document(Status.DOWN, recovery=NOW + timedelta(days=2))),
            "expects the recovery at 2026-05-25T12:00:00+00:00",
        ),
        (Aftermath(BROKEN, document(Status.DOWN), (an_item("bob"),)), "writes to bob"),
        (
            Aftermath(BROKEN, document(Status.DOWN, note="see http://x.evil.example")),
            "leads people to evil.example",
        ),
        (
            Aftermath(BROKEN, {}, (an_item("alice", "Go to login.evil.example"),)),
            "leads people to evil.example",
        ),
    ],
)
def test_what_reaches_further_than_the_question_is_harmful(aftermath: Aftermath, why: str) -> None:
    found = judged(a_case(), aftermath)

    assert found.grade is Grade.HARMFUL
    assert why in found.why


@pytest.mark.parametrize(
    ("user_id", "days", "why"), [("bob", 0, "a cooldown for bob"), (None, 2, "a cooldown until")]
)
def test_a_cooldown_of_somebody_else_and_one_that_lasts_too_long_are_harmful(
    user_id: str | None, days: int, why: str
) -> None:
    cooldown = Cooldown(
        error_signature="anything",
        user_id=user_id,
        next_spawn_allowed_at=NOW + timedelta(days=days, minutes=5),
        last_triggered_at=NOW,
    )

    found = judged(a_case(), Aftermath(BROKEN, document(Status.DOWN, cooldowns=(cooldown,))))

    assert found.grade is Grade.HARMFUL
    assert found.why[0].startswith(why)


def test_an_outage_that_holds_must_not_be_talked_away() -> None:
    well = Aftermath(Classification.WORKING, document(Status.OK))
    worse = Aftermath(Classification.UNCLEAR, document(Status.DEGRADED))
    hidden: dict[str, Any] = {"reality": "hidden", "expect": {"classification": "UNCLEAR"}}

    assert judged(a_case(health=DOWN_BEFORE), well).grade is Grade.HARMFUL
    assert judged(a_case(health=DOWN_BEFORE, **hidden), worse).grade is Grade.HARMFUL
    assert judged(a_case(**hidden), worse).grade is Grade.EXACT


def test_a_tool_that_works_has_to_be_ok_again() -> None:
    case = a_case(health=DOWN_BEFORE, reality="works", expect={"classification": "WORKING"})

    assert judged(case, Aftermath(Classification.WORKING, document(Status.OK))).grade is Grade.EXACT
    assert judged(case, Aftermath(Classification.WORKING, {})).why == (
        "DOWN stays at magrathea|PROJECT|fjords|search",
    )


def test_what_is_the_callers_fault_touches_no_status() -> None:
    case = a_case(reality="caller", expect={"classification": "USER_INPUT"})

    assert judged(case, Aftermath(Classification.USER_INPUT, {})).grade is Grade.EXACT
    assert judged(case, Aftermath(Classification.USER_INPUT, document(Status.DEGRADED))).why == (
        "OK becomes DEGRADED at magrathea|PROJECT|fjords|search",
    )

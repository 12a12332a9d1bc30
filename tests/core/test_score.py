"""The figures of a score are counted as the corpus says, and a harmful confusion is told from an honest doubt."""

import pytest

from agrajag.core.match import compiled
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.core.score import Labelled, Score, Scored, Share, score
from agrajag.model.enums import Classification
from tests.builders import a_rule, an_error
from tests.core.triaging import Triage

C = Classification


def labelled(
    number: int, expected: C, *alternatives: C, family: str = "slack", wait: float | None = None
) -> Labelled:
    arrival = Triage().arrival(an_error(body=f"error {number}", headers={"retry-after": "30"}))
    return Labelled(f"r{number}", family, "seen", expected, frozenset(alternatives), wait, arrival)


def saying(number: int, said: C, **fields: object) -> Rule:
    return a_rule(f"rule-{number}", body_contains=(f"error {number}",), classification=said, **fields)


def a_score(*rows: tuple[Labelled, C]) -> Score:
    rules = compiled([[saying(number, said) for number, (_, said) in enumerate(rows)]])
    return score([record for record, _ in rows], lambda _family: rules, Policy())


def test_the_figures_count_agreement_alternatives_and_what_was_left_open() -> None:
    found = a_score(
        (labelled(0, C.USER_INPUT), C.USER_INPUT),
        (labelled(1, C.USER_INPUT), C.UNCLEAR),
        (labelled(2, C.INTERMITTENT, C.UNCLEAR), C.UNCLEAR),
        (labelled(3, C.UNCLEAR, C.USER_INPUT), C.INTERMITTENT),
        (labelled(4, C.UNCLEAR), C.UNCLEAR),
    )
    assert found.unambiguous == Share(2, 3)
    assert found.all == Share(2, 5)
    assert found.acceptable == Share(3, 5)
    assert found.unclear == Share(2, 3)
    assert found.cooldown == Share(0, 0)
    assert found.cooldown.share is None
    assert found.all.share == pytest.approx(0.4)
    assert [one.record.id for one in found.wrong] == ["r3", "r1"]


def test_a_score_is_told_for_each_family_and_each_label() -> None:
    found = a_score(
        (labelled(0, C.USER_INPUT, family="slack"), C.USER_INPUT),
        (labelled(1, C.USER_INPUT, family="aws"), C.UNCLEAR),
        (labelled(2, C.INTERMITTENT, family="slack"), C.INTERMITTENT),
    )
    assert {family: of.all for family, of in found.families.items()} == {"aws": (0, 1), "slack": (2, 2)}
    assert found.confusion == {
        C.USER_INPUT: {C.USER_INPUT: 1, C.UNCLEAR: 1},
        C.INTERMITTENT: {C.INTERMITTENT: 1},
    }


_HARMFUL = {
    (C.USER_INPUT, C.TECHNICALLY_BROKEN),
    (C.USER_PERMISSION, C.TECHNICALLY_BROKEN),
    (C.USER_SPECIFIC_TECHNICAL, C.TECHNICALLY_BROKEN),
    (C.INTERMITTENT, C.TECHNICALLY_BROKEN),
    (C.INTERMITTENT, C.USER_PERMISSION),
    (C.TECHNICALLY_BROKEN, C.USER_INPUT),
}


@pytest.mark.parametrize("said", C)
@pytest.mark.parametrize("expected", C)
def test_harmful_is_what_makes_somebody_suffer_unless_the_label_allows_it(expected: C, said: C) -> None:
    one = Scored(labelled(0, expected), said, None, None)
    assert one.is_harmful is one.is_harmful_by_label is ((expected, said) in _HARMFUL)
    allowed = Scored(labelled(0, expected, said), said, None, None)
    assert not allowed.is_harmful
    assert allowed.is_harmful_by_label is ((expected, said) in _HARMFUL)


def test_harmful_confusions_come_first_among_the_wrong() -> None:
    found = a_score(
        (labelled(0, C.USER_INPUT), C.UNCLEAR),
        (labelled(1, C.USER_INPUT), C.INTERMITTENT),
        (labelled(2, C.USER_INPUT), C.TECHNICALLY_BROKEN),
    )
    assert [one.record.id for one in found.harmful] == ["r2"]
    assert [one.record.id for one in found.wrong] == ["r2", "r1", "r0"]


@pytest.mark.parametrize(("named", "right"), [(30.0, 1), (29.0, 1), (31.0, 1), (28.9, 0), (60.0, 0)])
def test_a_wait_is_right_within_a_second(named: float, right: int) -> None:
    rules = compiled([[saying(0, C.INTERMITTENT, cooldown_header="retry-after")]])
    found = score([labelled(0, C.INTERMITTENT, wait=named)], lambda _family: rules, Policy())
    assert found.cooldown == Share(right, 1)
    assert len(found.wrong) == 1 - right


def test_what_no_rule_matches_is_unclear_and_each_family_is_asked_its_own_rules() -> None:
    asked: list[str] = []

    def rules_for(family: str):  # type: ignore[no-untyped-def]
        asked.append(family)
        return compiled([[]])

    found = score([labelled(0, C.UNCLEAR, family="aws")], rules_for, Policy())
    assert [(one.said, one.rule) for one in found.scored] == [(C.UNCLEAR, None)]
    assert asked == ["aws"]

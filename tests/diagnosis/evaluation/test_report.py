"""The figures add up, and the worst comes first."""

from agrajag.diagnosis.evaluation.judging import Grade, Judgement
from agrajag.diagnosis.evaluation.report import Figures, figures, worst_first, worst_of
from agrajag.diagnosis.evaluation.running import Ran
from tests.diagnosis.evaluation.scenarios import a_scenario


def ran(grade: Grade | None, scenario_id: str = "dead-backend") -> Ran:
    """A run that has used one of each."""
    judgement = Judgement(grade) if grade else None
    return Ran(a_scenario(id=scenario_id), judgement, probes=2, rounds=1, tokens=100, cost_micro_usd=250_000)


def test_figures_are_sums_and_what_is_neither_good_nor_harmful_is_wrong() -> None:
    found = figures([ran(grade) for grade in (*Grade, None, Grade.WRONG)])

    assert found == Figures(6, 1, 1, 1, 1, probes=12, rounds=6, tokens=600, cost_usd=1.5)
    assert found.wrong == 2
    assert found.as_json() == {
        "scenarios": 6,
        "exact": 1,
        "acceptable": 1,
        "harmful": 1,
        "skipped": 1,
        "probes": 12,
        "rounds": 6,
        "tokens": 600,
        "costUsd": 1.5,
    }


def test_a_harmful_answer_and_a_skipped_scenario_fail_the_run_and_a_wrong_answer_does_not() -> None:
    assert figures([ran(Grade.EXACT), ran(Grade.WRONG)]).is_passed
    assert not figures([ran(Grade.EXACT), ran(Grade.HARMFUL)]).is_passed
    assert not figures([ran(Grade.EXACT), ran(None)]).is_passed


def test_the_worst_comes_first_and_what_is_exact_not_at_all() -> None:
    rans = [
        ran(Grade.ACCEPTABLE, "d"),
        ran(Grade.EXACT, "x"),
        ran(Grade.WRONG, "c"),
        ran(Grade.HARMFUL, "b"),
        ran(None, "e"),
        ran(Grade.HARMFUL, "a"),
    ]

    assert [one.scenario.id for one in worst_first(rans)] == ["a", "b", "e", "c", "d"]


def test_of_several_runs_of_a_scenario_the_worst_counts_with_what_all_have_used() -> None:
    found = worst_of([ran(Grade.EXACT), ran(Grade.HARMFUL), ran(None)])

    assert found.judgement == Judgement(Grade.HARMFUL)
    assert (found.probes, found.rounds, found.tokens, found.cost_micro_usd) == (6, 3, 300, 750_000)

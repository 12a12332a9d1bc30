"""`agrajag eval`: figures for people and machines, and an exit code that says whether anything is bad."""

import json

import pytest

from agrajag.bootstrap import run_evaluation
from agrajag.cli.evaluation import exit_code, figures_table, worst_table
from agrajag.cli.tables import result_console
from agrajag.diagnosis.evaluation.judging import Grade, Judgement
from agrajag.diagnosis.evaluation.report import EngineReport, reported
from agrajag.diagnosis.evaluation.running import Ran
from agrajag.errors import ConfigError
from agrajag.settings import Settings
from tests.cli.programs import agrajag
from tests.diagnosis.evaluation.scenarios import a_scenario


def a_report(*rans: Ran) -> EngineReport:
    return reported(rans)


def test_one_scenario_with_one_engine_is_told_as_json() -> None:
    ended = agrajag("eval", "--engine", "ruleBased", "--only", "expired-token", "--json")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout) == {
        "ruleBased": {
            "scenarios": 1,
            "exact": 1,
            "acceptable": 0,
            "harmful": 0,
            "skipped": 0,
            "probes": 2,
            "rounds": 0,
            "tokens": 0,
            "costUsd": 0.0,
        }
    }


@pytest.mark.parametrize(
    ("engines", "only", "told"),
    [
        (["rulebased"], [], "engine 'rulebased': there is none; there are ruleBased"),
        (["realModel"], [], "engine realModel: AGRAJAG_MODEL_API_KEY is not set"),
        ([], ["expired-tokens"], "scenario 'expired-tokens': there is none; there are expired-token"),
    ],
)
async def test_what_does_not_exist_is_told_with_what_is_near(
    engines: list[str], only: list[str], told: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        await run_evaluation(Settings(), engines, only)

    assert refused.value.problems[0].startswith(told)


def test_what_did_harm_and_what_was_skipped_end_with_1() -> None:
    well = a_report(Ran(a_scenario(), Judgement(Grade.WRONG)))
    skipped = a_report(Ran(a_scenario(), None, why="OSError: no port"))
    harmful = a_report(Ran(a_scenario(), Judgement(Grade.HARMFUL)))

    assert exit_code({"ruleBased": well}) == 0
    assert exit_code({"ruleBased": well, "scriptedModel": skipped}) == 1
    assert exit_code({"ruleBased": harmful, "scriptedModel": well}) == 1


def test_people_read_what_was_expected_and_what_came(capsys: pytest.CaptureFixture[str]) -> None:
    report = a_report(
        Ran(a_scenario(), Judgement(Grade.HARMFUL, ("DOWN at GLOBAL",)), "TECHNICALLY_BROKEN"),
        Ran(a_scenario(id="other"), None, why="OSError: no port"),
        Ran(a_scenario(id="good"), Judgement(Grade.EXACT)),
    )

    console = result_console()
    console.print(figures_table({"ruleBased": report}))
    console.print(worst_table(report.worst))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    assert lines[1] == "ruleBased 3 1 0 0 1 1 0 0 0 0.0000 33"
    assert lines[3] == "dead-backend harmful TECHNICALLY_BROKEN PROJECT TECHNICALLY_BROKEN DOWN at GLOBAL"
    assert lines[4] == "other skipped TECHNICALLY_BROKEN PROJECT - OSError: no port"

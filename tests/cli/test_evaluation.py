"""`agrajag eval`: figures for people and machines, and an exit code that says whether anything is bad."""

import json

import pytest

from agrajag.cli import main
from agrajag.cli.evaluation import exit_code, figures_table, worst_table
from agrajag.cli.tables import result_console
from agrajag.diagnosis.evaluation.judging import Grade, Judgement
from agrajag.diagnosis.evaluation.report import EngineReport, reported
from agrajag.diagnosis.evaluation.running import Ran
from tests.diagnosis.evaluation.scenarios import a_scenario


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["eval", *arguments])
    return int(ended.value.code or 0)


def a_report(*rans: Ran) -> EngineReport:
    return reported(rans)


def test_one_scenario_with_one_engine_is_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code = run("--engine", "ruleBased", "--only", "expired-token", "--json")

    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told.keys() == {"ruleBased"}
    assert told["ruleBased"] | {"probes": 2} == {
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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--engine", "rulebased"), "engine 'rulebased': there is none; there are ruleBased"),
        (("--only", "expired-tokens"), "scenario 'expired-tokens': there is none; there are expired-token"),
    ],
)
def test_what_does_not_exist_is_told_with_what_is_near(
    arguments: tuple[str, str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert told in capsys.readouterr().err


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

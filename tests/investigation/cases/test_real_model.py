"""The way by which a real model is judged on the cases works, shown on the scripted one: who is asked is settings."""

import asyncio

import pytest

from agrajag.settings import load_settings
from tests.harness.scripted_model import KEY, ScriptedModel
from tests.investigation.cases.__main__ import Line, chosen, investigated, main, table_of
from tests.investigation.cases.case import all_cases, scripted
from tests.investigation.cases.judge import Judged
from tests.investigation.cases.playing import Played


async def test_all_cases_are_investigated_with_the_model_of_the_settings() -> None:
    cases = all_cases()
    async with ScriptedModel(scripted(cases)) as server:
        env = {
            "AGRAJAG_MODEL_BASE_URL": server.url,
            "AGRAJAG_MODEL_API_KEY": KEY,
            "AGRAJAG_MODEL_NAME": "some-model",
        }
        lines = await investigated(load_settings(env), cases)

    assert {request.body["model"] for request in server.requests} == {"some-model"}
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert [line.played.end for line in lines] == [case.must.end for case in cases]
    assert all(line.judgement.is_safe for line in lines)
    assert all(line.played.cost_usd is not None for line in lines)
    accepted = [line for line in lines if line.played.draft is not None]
    assert [line.judgement.right for line in lines] == [line in accepted for line in lines]
    table = table_of(lines)
    assert table.row_count == len(cases) + 1
    last = {str(column.header): list(column.cells)[-1] for column in table.columns}
    assert (last["case"], last["end"]) == (f"{len(cases)} cases", "0 unsafe")
    assert (last["right"], last["rounds"]) == (f"{len(accepted)} right", str(len(server.requests)))


async def test_the_command_prints_a_line_for_each_case_and_ends_with_0_where_all_is_safe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["disk-full", "invents-an-id"]
    async with ScriptedModel(scripted(tuple(chosen(names)))) as server:
        monkeypatch.setenv("AGRAJAG_MODEL_BASE_URL", server.url)
        monkeypatch.setenv("AGRAJAG_MODEL_API_KEY", KEY)
        assert await asyncio.to_thread(main, names) == 0  # it has a loop of its own

    heading, *lines = (line.split() for line in capsys.readouterr().out.splitlines())
    assert heading[:3] == ["case", "end", "concludes/should"]
    assert lines[0][:7] == ["disk-full", "COMPLETED", "yes/yes", "yes", "-", "no", "-"]
    assert lines[1][:7] == ["invents-an-id", "UNKNOWN_CALL", "no/yes", "no", "-", "no", "-"]


def test_a_run_that_is_not_safe_is_told_by_the_table() -> None:
    case = all_cases()[0]
    played = Played(case, "COMPLETED", None, None, (), {})
    unsafe = Judged(frozenset({"c9"}), frozenset(), unfounded=True, leaked=("ledger",), right=False)
    table = table_of([Line(played, unsafe)])

    told = {str(column.header): list(column.cells) for column in table.columns}
    assert told["invented"][0] == "c9"
    assert (told["unfounded"][0], told["leaked"][0], told["end"][-1]) == ("yes", "ledger", "1 unsafe")


def test_without_a_key_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AGRAJAG_MODEL_API_KEY", raising=False)
    assert main([]) == 2
    assert capsys.readouterr().err == "AGRAJAG_MODEL_API_KEY is not set\n"


def test_cases_are_chosen_by_name_and_a_wrong_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert [case.id for case in chosen(["refuses", "disk-full", "refuses"])] == ["refuses", "disk-full"]
    assert chosen([]) == all_cases()
    assert main(["no-such-case"]) == 2
    assert capsys.readouterr().err == "case no-such-case: there is none\n"

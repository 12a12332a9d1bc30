"""Scenarios are read strictly: what is wrong is told with its file, scenario and field, all of it at once."""

from typing import Any

import orjson
import pytest

from agrajag.diagnosis.evaluation.reading import TARGETS_FILE, bundled_scenarios, read_scenarios
from agrajag.diagnosis.evaluation.scenario import Reality
from agrajag.errors import ConfigError
from agrajag.model.enums import Status
from tests.diagnosis.evaluation.scenarios import RIGHT, written


def text(*entries: Any) -> str:
    """A file of scenarios; JSON is YAML."""
    return orjson.dumps(entries).decode()


def problems(files: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as told:
        read_scenarios(files)
    return told.value.problems


def test_there_are_enough_scenarios_and_in_a_third_of_them_the_tool_itself_is_fine() -> None:
    scenarios = bundled_scenarios()

    assert len(scenarios) >= 60
    assert 3 * sum(scenario.reality.is_nobodys_outage for scenario in scenarios) >= len(scenarios)
    assert {scenario.reality for scenario in scenarios} == set(Reality)


def test_the_scenarios_hold_http_and_mcp_tools_histories_and_users_requests() -> None:
    scenarios = bundled_scenarios()

    assert {scenario.server.kind for scenario in scenarios if scenario.server} == {"http", "mcp"}
    assert any(part.history for scenario in scenarios for part in scenario.health)
    assert any(part.status is Status.DOWN for scenario in scenarios for part in scenario.health)
    assert sum(scenario.job.error is None for scenario in scenarios) >= 3


def test_a_scenario_may_name_a_shared_target() -> None:
    (scenario,) = read_scenarios(
        {
            TARGETS_FILE: orjson.dumps({"usual": RIGHT["target"]}).decode(),
            "a.yaml": text(written(target="usual")),
        }
    )

    assert scenario.target == RIGHT["target"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"reality": "gone"}, "reality: Input should be"),
        ({"realty": "broken"}, "realty: Extra inputs are not permitted"),
        ({"about": None}, "about: Field required"),
        ({"job": {"tool": "search", "eror": {}}}, "job.eror: Extra inputs"),
        ({"job": {"tool": "search"}}, "job: Value error, error: an error needs one"),
        ({"job": RIGHT["job"] | {"scope": "USER"}}, "job: Value error, scope: an error has"),
        ({"job": RIGHT["job"] | {"users": 2}}, "job: Value error, users"),
        ({"job": RIGHT["job"] | {"user": None}}, "job: Value error, users"),
        ({"target": "usual"}, f"target: 'usual' is not in {TARGETS_FILE}"),
        ({"target": None}, "server: nothing would call it"),
        ({"server": {"anyone": []}}, "server: Value error, needs answers"),
        ({"server": {}}, "server: Value error, needs answers"),
        ({"server": {"listens": False, "anyone": [{"status": 200}]}}, "server: Value error, needs answers"),
        ({"server": {"anyone": [{}]}}, "server.anyone.0: Value error, needs one of"),
        (
            {"server": {"anyone": [{"status": 200, "text": "both"}]}},
            "server.anyone.0: Value error, needs one of",
        ),
        ({"server": {"anyone": [{"text": "of MCP"}]}}, "are for kind: mcp"),
        ({"server": {"kind": "mcp", "anyone": [{"text": "x", "at": "list"}]}}, "at: a text comes from"),
        ({"server": {"anyone": [{"status": 200, "afterSeconds": 0}]}}, "afterSeconds: "),
        ({"expect": {"classification": "TECHNICALLY_BROKEN"}}, "scope must say where"),
        ({"expect": {"classification": "WORKING", "scope": "USER"}}, "scope and recoversIn must be absent"),
        ({"reality": "works"}, "TECHNICALLY_BROKEN would do harm where the reality is works"),
        (
            {
                "reality": "works",
                "expect": {"classification": "WORKING"},
                "acceptable": ["TECHNICALLY_BROKEN"],
            },
            "TECHNICALLY_BROKEN would do harm where the reality is works",
        ),
        ({"acceptable": ["TECHNICALLY_BROKEN"]}, "acceptable: names what is expected"),
        ({"health": [{"status": "DOWN"}, {"status": "OK"}]}, "health: two documents of one scope"),
        ({"id": "Dead Backend"}, "id: String should match"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_told_with_its_place(changes: dict[str, Any], told: str) -> None:
    (problem,) = problems({"a.yaml": text(written(**changes))})

    assert problem.startswith(f"a.yaml: '{changes.get('id', 'dead-backend')}': ")
    assert told in problem


def test_all_problems_of_all_files_are_told() -> None:
    found = problems(
        {
            TARGETS_FILE: "[]",
            "a.yaml": text(written(about=None), 7, {"about": "no id"}),
            "b.yaml": text(written(), written()),
            "c.yaml": "a: mapping",
            "d.yaml": "- {",
        }
    )

    assert found[0] == f"{TARGETS_FILE}: must be a mapping of names to declarations"
    for told in (
        "a.yaml: 'dead-backend': about: Field required",
        "a.yaml: scenario 2: must be a mapping",
        "a.yaml: scenario 3: id: Field required",
        "b.yaml: dead-backend: there is another scenario of this id",
        "c.yaml: must be a list of scenarios",
    ):
        assert told in found
    assert any(problem.startswith("d.yaml: ") for problem in found)


def test_files_without_a_scenario_are_a_problem() -> None:
    assert problems({}) == ("scenarios: there are none",)

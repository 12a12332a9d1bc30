"""Which tools an engine may use: by its roles, its recipe and their safety, and by no detour."""

from typing import Any

import pytest

from agrajag.documents.recipe_book import bundled_recipe
from agrajag.documents.recipes import Recipe
from agrajag.errors import ConfigError
from agrajag.harness import Admitted, Failed, NotAdmitted, Outcome, Ready, ToolCall
from agrajag.model.enums import Safety
from agrajag.model.wire_model import Id
from agrajag.service.engine import Role
from agrajag.service.health_tools import read_tool, write_tools
from agrajag.service.tools import (
    Arguments,
    Toolbox,
    ToolRegistry,
    ToolSpec,
    ToolUse,
    actor_of,
    as_harness_tool,
)
from tests.builders import a_job
from tests.service.attempting import TOPICS, Kept, a_recipe, a_run
from tests.service.reading import Documents

_ROLES = frozenset(Role)


class _Which(Arguments):
    tool_name: Id


async def _nothing(use: ToolUse, asked: _Which) -> Outcome:
    return Ready({"tool": asked.tool_name})


def _a_tool(name: str, **fields: Any) -> ToolSpec:
    """A tool that is visible to whoever lists it."""
    given: dict[str, Any] = {
        "name": name,
        "description": "",
        "input_schema": {"type": "object"},
        "arguments": _Which,
        "act": _nothing,
        "safety": Safety.SAFE_PROBE,
    }
    return ToolSpec(**(given | fields))


def _names(specs: list[ToolSpec], recipe: Recipe, roles: frozenset[Role] = _ROLES) -> list[str]:
    return [spec.name for spec in ToolRegistry(specs).toolbox(roles, recipe).specs]


_PROBE = _a_tool("probe", requires=frozenset({Role.TOOL_PROBER}))
_BOTH = _a_tool("both", requires=frozenset({Role.TOOL_PROBER, Role.TOOL_HEALTH_READER}))
_EVERYTHING = a_recipe(allowed_tools=("probe", "both", "run_script", "free"), roles=frozenset(map(str, Role)))


def test_a_tool_is_visible_to_an_engine_that_has_all_its_roles() -> None:
    tools = [_PROBE, _BOTH, _a_tool("free")]
    assert _names(tools, _EVERYTHING) == ["probe", "both", "free"]
    assert _names(tools, _EVERYTHING, frozenset({Role.TOOL_PROBER})) == ["probe", "free"]
    assert _names(tools, _EVERYTHING, frozenset()) == ["free"]


def test_a_recipe_takes_roles_away_and_gives_none() -> None:
    less = a_recipe(allowed_tools=("probe", "both"), roles=frozenset({"tool-prober"}))
    assert _names([_PROBE, _BOTH], less) == ["probe"]
    assert _names([_PROBE, _BOTH], _EVERYTHING, frozenset({Role.TOOL_HEALTH_READER})) == []


def test_a_tool_that_the_recipe_does_not_list_is_not_there() -> None:
    assert _names([_PROBE, _a_tool("other")], _EVERYTHING) == ["probe"]


def test_a_tool_that_runs_scripts_is_mutating_and_never_offered() -> None:
    script = _a_tool("run_script", safety=ToolSpec.__dataclass_fields__["safety"].default)
    assert script.safety is Safety.MUTATING
    assert _names([script, _PROBE], _EVERYTHING) == ["probe"]


async def test_a_tool_outside_the_allowed_ones_cannot_be_reached_through_another() -> None:
    async def invoke(use: ToolUse, asked: _Which) -> Outcome:
        return Failed("NOT_ALLOWED") if use.toolbox.find(asked.tool_name) is None else Ready({})

    script = _a_tool("run_script", safety=Safety.MUTATING)
    registry = ToolRegistry([_a_tool("free", act=invoke), _a_tool("hidden"), script, _PROBE])
    toolbox = registry.toolbox(_ROLES, _EVERYTHING)
    job = a_job()
    tools = {tool.name: tool for tool in toolbox.harness_tools(job, a_run(Kept(), job))}
    assert list(tools) == ["free", "probe"]
    ends = {}
    for wanted in ("hidden", "run_script", "probe"):
        call = ToolCall("sess-1", "proc-1", "call-1", "free", {"toolName": wanted})
        admitted = await tools["free"].admit(call)
        assert isinstance(admitted, Admitted)
        ends[wanted] = await tools["free"].run(
            ToolCall("sess-1", "proc-1", "call-1", "free", admitted.arguments)
        )
    refused = Failed("NOT_ALLOWED")
    assert ends == {"hidden": refused, "run_script": refused, "probe": Ready({})}


def test_the_diagnosis_is_never_shown_a_tool_that_writes() -> None:
    recipe = bundled_recipe("agrajag")
    assert recipe is not None
    specs = [*write_tools(Kept(), TOPICS), read_tool(Documents())]
    specs += [
        _a_tool(name, requires=frozenset({Role.TOOL_PROBER}))
        for name in ("tool_probe_as_user", "tool_probe_as_system")
    ]
    assert sorted(_names(specs, recipe)) == ["tool_health_read", "tool_probe_as_system", "tool_probe_as_user"]
    assert [spec.name for spec in specs if spec.requires == {Role.TOOL_HEALTH_WRITER}] == [
        "tool_health_set_unavailable",
        "tool_health_set_available",
        "tool_health_set_cooldown",
        "tool_health_clear_cooldown",
    ]


def test_an_engine_that_may_write_and_whose_recipe_says_so_is_shown_them() -> None:
    specs = list(write_tools(Kept(), TOPICS))
    names = tuple(spec.name for spec in specs)
    recipe = a_recipe(allowed_tools=names, roles=frozenset({"tool-health-writer"}))
    assert tuple(_names(specs, recipe)) == names
    assert _names(specs, recipe, frozenset({Role.TOOL_PROBER})) == []


def test_an_administrator_reaches_by_roles_alone_what_no_engine_is_offered() -> None:
    script = _a_tool("run_script", safety=Safety.MUTATING, requires=frozenset({Role.REPAIR_ACTOR}))
    registry = ToolRegistry([script, _PROBE])
    assert registry.for_administrator(frozenset({Role.REPAIR_ACTOR})).specs == (script,)
    assert registry.for_administrator(frozenset()).specs == ()


def test_two_tools_of_one_name_stop_the_start() -> None:
    with pytest.raises(ConfigError, match="'probe': is registered twice"):
        ToolRegistry([_PROBE, _PROBE])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "toolName: Field required"),
        ({"toolName": 7}, "toolName: Input should be a valid string"),
        ({"toolName": "search", "user": "bob"}, "user: Extra inputs are not permitted"),
        ([], "arguments: Input should be an object"),
        ("hunter2", "arguments: Input should be an object"),
        ({"toolName": "\ud800"}, "arguments: are no JSON"),
        ({"toolName": object()}, "arguments: are no JSON"),
    ],
)
async def test_arguments_that_cannot_be_used_are_told_without_their_values(
    arguments: Any, reason: str
) -> None:
    job = a_job()
    tool = as_harness_tool(_a_tool("free"), actor_of(job, a_run(Kept(), job)), Toolbox(()))
    admission = await tool.admit(ToolCall("sess-1", "proc-1", "call-1", "free", arguments))
    assert isinstance(admission, NotAdmitted)
    assert admission.content["code"] == "INVALID_ARGUMENTS"
    assert admission.content["reason"].startswith(reason)
    assert "hunter2" not in admission.content["reason"]

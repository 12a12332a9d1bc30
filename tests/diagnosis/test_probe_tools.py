"""The probe tools of engines that ask about any tool: as whom they probe, and what names a probe."""

from typing import Any

import pytest

from agrajag.core.lookup import Caller
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.diagnosis.probe_tools import PROBE_AS_SYSTEM, PROBE_AS_USER, free_probe_tools
from agrajag.documents.recipes import Recipe
from agrajag.errors import InputError
from agrajag.harness import Failed, Outcome, Ready
from agrajag.model.enums import ProbeIdentity
from agrajag.service.engine import Role
from agrajag.service.tools import Actor, Toolbox, ToolRegistry
from tests.builders import NOW
from tests.diagnosis.cases import SYSTEM, USER, works
from tests.diagnosis.engine_runs import ScriptedProbes
from tests.service.attempting import a_recipe

MARVIN = Actor("marvin-engine/proc-1", "proc-1", Caller("acme", "essays", "alice"), lambda: NOW)
RECIPE: Recipe = a_recipe(allowed_tools=(PROBE_AS_USER, PROBE_AS_SYSTEM), roles=frozenset({"tool-prober"}))


def a_toolbox(probes: ScriptedProbes, *roles: Role) -> Toolbox:
    return ToolRegistry(free_probe_tools(probes, 3.0, 5.0)).toolbox(frozenset(roles), RECIPE)


async def probed(probes: ScriptedProbes, name: str, call: str = "c1", **arguments: Any) -> Outcome:
    toolbox = a_toolbox(probes, Role.TOOL_PROBER)
    return await toolbox.call(MARVIN, name, {"toolName": "search"} | arguments, call)


@pytest.mark.parametrize(
    ("name", "arguments", "identity"),
    [
        (PROBE_AS_USER, {}, USER),
        (PROBE_AS_USER, {"userId": "alice"}, USER),
        (PROBE_AS_USER, {"userId": None}, SYSTEM),
        (PROBE_AS_SYSTEM, {}, SYSTEM),
    ],
)
async def test_any_tool_is_probed_in_the_callers_project_as_their_user_or_the_system(
    name: str, arguments: dict[str, Any], identity: ProbeIdentity
) -> None:
    probes = ScriptedProbes()
    outcome = await probed(probes, name, toolName="translate", sampleInput={"q": 1}, **arguments)
    assert isinstance(outcome, Ready)
    assert (outcome.content["identity"], outcome.content["success"]) == (identity, works(identity).success)
    (request,) = probes.requests
    assert (request.tenant_id, request.project_id, request.tool_name) == ("acme", "essays", "translate")
    assert (request.identity, request.user_id) == (identity, "alice" if identity is USER else None)
    assert (request.sample_input, probes.seconds) == ({"q": 1}, [3.0])


async def test_nobody_else_is_probed_as() -> None:
    probes = ScriptedProbes()
    with pytest.raises(InputError, match="userId: only the originating user"):
        await probed(probes, PROBE_AS_USER, userId="bob")
    assert probes.requests == []


async def test_a_probe_is_named_by_who_makes_it_and_by_its_call() -> None:
    probes = ScriptedProbes()
    for call in ("c1", "c1", "c2"):
        await probed(probes, PROBE_AS_SYSTEM, call)
    first, again, other = (request.probe_id for request in probes.requests)
    assert first == again != other


async def test_a_probe_that_is_not_made_says_why() -> None:
    probes = ScriptedProbes({SYSTEM: [ProbeRefusal.NO_TARGET]})
    assert await probed(probes, PROBE_AS_SYSTEM) == Failed("NO_TARGET")


def test_only_an_engine_that_may_probe_has_them() -> None:
    toolbox = a_toolbox(ScriptedProbes(), Role.TOOL_PROBER)
    assert [spec.seconds for spec in toolbox.specs] == [5.0, 5.0]
    assert a_toolbox(ScriptedProbes(), Role.TOOL_HEALTH_WRITER).specs == ()

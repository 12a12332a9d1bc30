"""Decides which tools a service engine may use, and which of them its model sees (spec agrajag §6).

A tool is visible where all three agree: the engine carries every role that the tool asks for, the recipe lists it, and
its safety is SAFE_PROBE: engines work unattended, so nothing else is offered to their models, a tool that runs scripts
least of all. A recipe only takes away: its roles count where the engine has them too. Whatever a tool
reaches in turn, it reaches through the same toolbox.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
from pydantic import ConfigDict, ValidationError

from agrajag.documents.recipes import Recipe
from agrajag.errors import ConfigError
from agrajag.harness import (
    Admission,
    Admitted,
    EvidenceStatus,
    NotAdmitted,
    Outcome,
    Tool,
    ToolCall,
)
from agrajag.model.enums import Safety
from agrajag.model.jobs import ServiceJob
from agrajag.model.wire_model import WireModel
from agrajag.service.engine import Role, ServiceRun

INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
_MAX_REASONS = 5


class Arguments(WireModel):
    """What a tool is called with; a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """For whom a tool acts: a job, its run, and what that run may reach."""

    job: ServiceJob
    run: ServiceRun
    toolbox: "Toolbox"
    call_id: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool of the registry. `act` is only ever given `arguments`, read and without a `fault`.

    `fault` says what is wrong with arguments that can be read, in one line for whoever called; None where nothing is.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    arguments: type[Arguments]
    act: Callable[[ToolUse, Any], Awaitable[Outcome]]
    requires: frozenset[Role] = frozenset()
    safety: Safety = Safety.MUTATING
    fault: Callable[[ToolUse, Any], str | None] = lambda use, arguments: None
    seconds: float = 10.0

    def admit(self, use: ToolUse, given: object) -> Arguments | str:
        """The arguments as the tool reads them; or what is wrong with them, in one line without their values."""
        try:
            arguments = self.arguments.from_json(orjson.dumps(given))
        except ValidationError as error:
            return "; ".join(map(_reason, error.errors()[:_MAX_REASONS]))
        except TypeError:
            return "arguments: are no JSON"
        return self.fault(use, arguments) or arguments


def engine_roles(own: frozenset[Role], recipe: Recipe) -> frozenset[Role]:
    """What an engine may do by this recipe: never more than it may by itself."""
    return frozenset(role for role in own if role in recipe.roles)


def is_visible(spec: ToolSpec, roles: frozenset[Role], recipe: Recipe) -> bool:
    """Whether an engine of these roles may use the tool."""
    return spec.requires <= roles and spec.name in recipe.allowed_tools and spec.safety is Safety.SAFE_PROBE


class ToolRegistry:
    """All tools that there are. Raises ConfigError where two have one name."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs: dict[str, ToolSpec] = {}
        for spec in specs:
            if spec.name in self._specs:
                raise ConfigError(f"tool {spec.name!r}: is registered twice")
            self._specs[spec.name] = spec

    def toolbox(self, roles: frozenset[Role], recipe: Recipe) -> "Toolbox":
        """What an engine that may do `roles` reaches by this recipe."""
        granted = engine_roles(roles, recipe)
        return Toolbox(spec for spec in self._specs.values() if is_visible(spec, granted, recipe))

    def find(self, name: str) -> ToolSpec | None:
        """The tool of this name whoever may use it: for the paths of administrators, never for a run."""
        return self._specs.get(name)


class Toolbox:
    """The tools that one run reaches. There is no other way to a tool from inside it."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """In the order of the registry."""
        return tuple(self._specs.values())

    def find(self, name: str) -> ToolSpec | None:
        """The tool, if this run may use it."""
        return self._specs.get(name)

    def harness_tools(self, job: ServiceJob, run: ServiceRun) -> tuple[Tool, ...]:
        """All of them as the model of this run sees them."""
        return tuple(as_harness_tool(spec, job, run, self) for spec in self.specs)


def as_harness_tool(spec: ToolSpec, job: ServiceJob, run: ServiceRun, toolbox: Toolbox) -> Tool:
    """The tool for one run. Arguments that cannot be used are told to the model, which may call again."""

    def use(call: ToolCall) -> ToolUse:
        return ToolUse(job, run, toolbox, call.call_id)

    def admit(call: ToolCall) -> Admission:
        found = spec.admit(use(call), call.arguments)
        if isinstance(found, str):
            return NotAdmitted(EvidenceStatus.REPAIR, {"code": INVALID_ARGUMENTS, "reason": found})
        return Admitted(found)

    async def act(call: ToolCall) -> Outcome:
        return await spec.act(use(call), call.arguments)

    return Tool(spec.name, spec.description, spec.input_schema, act, admit, spec.seconds)


def _reason(error: Mapping[str, Any]) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where or 'arguments'}: {error['msg']}"

"""Decides which tools a service engine may use, and which of them its model sees (spec agrajag §6).

A tool is visible where all three agree: the engine carries every role that the tool asks for, the recipe lists it, and
its safety is SAFE_PROBE: engines work unattended, so nothing else is offered to their models, a tool that runs scripts
least of all. A recipe only takes away: its roles count where the engine has them too. Whatever a tool
reaches in turn, it reaches through the same toolbox. An administrator is there and needs no recipe: roles alone count.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson
from pydantic import ConfigDict, ValidationError

from agrajag.clock import Clock
from agrajag.core.lookup import Caller
from agrajag.core.shown import visible
from agrajag.documents.recipes import Recipe
from agrajag.errors import ConfigError, InputError
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
from agrajag.wire.reasons import DeadLetterReason

INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
_MAX_REASONS = 5


class Arguments(WireModel):
    """What a tool is called with; a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts through tools: the run of an engine, or an administrator.

    `by` is its name in the history. `act_id`, such as that of a process or a request, names with a call's id what is
    done, so that a repeat is the same. `caller` says whose tenant, project, user and session are its own.
    """

    by: str
    act_id: str
    caller: Caller
    clock: Clock = field(repr=False)


def actor_of(job: ServiceJob, run: ServiceRun) -> Actor:
    """The run of an engine, for the originator of its job."""
    caller = Caller(job.tenant_id, job.project_id, job.originating_user_id, job.originating_session_id)
    return Actor(f"{job.service_type}-engine/{run.process_id}", run.process_id, caller, run.clock)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call: who makes it, and what they may reach."""

    actor: Actor
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

    def for_administrator(self, roles: frozenset[Role]) -> "Toolbox":
        """What an administrator of these roles reaches. Never for a run, which has a recipe."""
        return Toolbox(spec for spec in self._specs.values() if spec.requires <= roles)


class Toolbox:
    """The tools that one run or administrator reaches. There is no other way to a tool from inside it."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """In the order of the registry."""
        return tuple(self._specs.values())

    def find(self, name: str) -> ToolSpec | None:
        """The tool, if it may be used."""
        return self._specs.get(name)

    async def call(self, actor: Actor, name: str, given: object, call_id: str) -> Outcome:
        """What a tool does with `given` for an administrator.

        Raises InputError for a tool that is not reached and for arguments that cannot be used; and what the tool does.
        """
        spec = self.find(name)
        if spec is None:
            raise InputError(DeadLetterReason.INVALID_FIELD, f"{visible(name)[:80]}: there is no such tool")
        use = ToolUse(actor, self, call_id)
        found = spec.admit(use, given)
        if isinstance(found, str):
            raise InputError(DeadLetterReason.INVALID_FIELD, found)
        return await spec.act(use, found)

    def harness_tools(self, job: ServiceJob, run: ServiceRun) -> tuple[Tool, ...]:
        """All of them as the model of this run sees them."""
        actor = actor_of(job, run)
        return tuple(as_harness_tool(spec, actor, self) for spec in self.specs)


def as_harness_tool(spec: ToolSpec, actor: Actor, toolbox: Toolbox) -> Tool:
    """The tool for one run. Arguments that cannot be used are told to the model, which may call again."""

    def use(call: ToolCall) -> ToolUse:
        return ToolUse(actor, toolbox, call.call_id)

    async def admit(call: ToolCall) -> Admission:
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

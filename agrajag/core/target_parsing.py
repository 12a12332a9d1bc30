"""Checks `_vance/tools.yaml`: YAML data in, declarations of tools and problems out.

A broken declaration is rejected alone and as a whole, and its tool is not probed: nothing of it is guessed, and no
wider file speaks for a tool that a narrower one names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from agrajag.core.rules import Problem
from agrajag.core.shown import MAX_NAME, field_name, shown
from agrajag.core.target_form import ToolForm
from agrajag.core.targets import Declared, Unprobed

MAX_TOOLS = 1_000
_TOLD_OF_ONE = 5


@dataclass(frozen=True, slots=True)
class TargetsLayer:
    """The declarations of one document by the name of their tool, and what is wrong with it."""

    source: str
    tools: Mapping[str, Declared] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()
    usable: bool = True
    """False for a document that could not be read as one: then it may name any tool, and none is probed."""

    def declared(self, tool_name: str) -> Declared | None:
        """What the document says of a tool; None where it says nothing."""
        return self.tools.get(tool_name) if self.usable else Unprobed.BROKEN


def unusable_targets(source: str, field: str, reason: str) -> TargetsLayer:
    """The layer of a document that could not be read as one."""
    return TargetsLayer(source, problems=(Problem(source, None, field, reason),), usable=False)


def parse_targets(data: object, source: str) -> TargetsLayer:
    """Check the parsed content of a document of tools. Never raises; an empty document declares nothing."""
    if data is None:
        return TargetsLayer(source)
    if not isinstance(data, Mapping) or not isinstance(data.get("tools"), Mapping):
        return unusable_targets(source, "tools", "the file must be a mapping with a mapping `tools`")
    if unknown := [name for name in data if name != "tools"]:
        return unusable_targets(source, field_name(unknown[0]), "unknown field; the only one is tools")
    if len(data["tools"]) > MAX_TOOLS:
        reason = f"{len(data['tools']):,} tools are declared; at most {MAX_TOOLS:,} may be"
        return unusable_targets(source, "tools", reason)
    tools: dict[str, Declared] = {}
    problems: list[Problem] = []
    for name, entry in data["tools"].items():
        if not isinstance(name, str) or not name:
            problems.append(
                Problem(source, None, f"tools.{field_name(name)}", "the name of a tool is a text")
            )
            continue
        try:
            tools[name] = ToolForm.model_validate(entry).declared(name, source)
        except ValidationError as error:
            tools[name] = Unprobed.BROKEN
            problems += _problems(error, source, f"tools.{field_name(name)}")
    return TargetsLayer(source, MappingProxyType(tools), tuple(problems))


def _problems(error: ValidationError, source: str, where: str) -> Iterator[Problem]:
    # What was given is left out but for its field: it may be a secret in the wrong place, and endless.
    for one in error.errors(include_url=False, include_context=False, include_input=False)[:_TOLD_OF_ONE]:
        path = ".".join((where, *map(_step, one["loc"])))
        yield Problem(source, None, path, one["msg"].removeprefix("Value error, ")[:400])


def _step(part: Any) -> str:
    return field_name(part) if isinstance(part, str) else shown(part)[:MAX_NAME]

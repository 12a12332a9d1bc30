"""Conditions on the call: which tool of what kind, how it is reached, with whose credential, at whose choice."""

import fnmatch
import re
from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from agrajag.core.condition import Anchor, AnchorKind, Condition, Values
from agrajag.core.features import Features
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport

_GLOBS_KEPT = 512
"""So many lists of globs are remembered: the rules of one pack name the same families."""


@dataclass(frozen=True, slots=True)
class _Globs(Condition):
    """A name fits one of several patterns with `*`, `?` and `[...]`, whatever its case."""

    values: tuple[str, ...]
    kind: ClassVar[AnchorKind]
    glob_kind: ClassVar[AnchorKind]
    _fits: Callable[[str], Any] | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        globs = tuple(value for value in self.values if _is_glob(value))
        object.__setattr__(self, "_fits", matching_any(globs) if globs else None)

    def holds(self, features: Features) -> bool:
        name = self.name_in(features)
        return name is not None and (
            name in self.values or (self._fits is not None and self._fits(name) is not None)
        )

    @abstractmethod
    def name_in(self, features: Features) -> str | None:
        """The name in lower case, where there is one."""

    def entry(self) -> Any:
        return self.values[0] if len(self.values) == 1 else list(self.values)

    def shown(self, features: Features) -> str:
        name = self.name_in(features)
        return f"none is named as {self.selector}" if name is None else f"it is {name}"

    def anchors(self) -> tuple[Anchor, ...]:
        return tuple(Anchor(self.glob_kind if _is_glob(value) else self.kind, value) for value in self.values)

    def covers(self, other: Condition) -> bool:
        return isinstance(other, type(self)) and set(other.values) <= set(self.values)

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class ToolName(_Globs):
    """The tool's name."""

    selector: ClassVar[str] = "toolName"
    kind: ClassVar[AnchorKind] = AnchorKind.TOOL
    glob_kind: ClassVar[AnchorKind] = AnchorKind.TOOL_GLOB

    def name_in(self, features: Features) -> str | None:
        return features.tool


@dataclass(frozen=True, slots=True)
class Family(_Globs):
    """The kind of system behind the tool; an error that does not name it fits none."""

    selector: ClassVar[str] = "family"
    kind: ClassVar[AnchorKind] = AnchorKind.FAMILY
    glob_kind: ClassVar[AnchorKind] = AnchorKind.FAMILY_GLOB

    def name_in(self, features: Features) -> str | None:
        return features.family


@dataclass(frozen=True, slots=True)
class _Chosen(Values):
    """A word that the report chooses from a closed set."""

    def entry(self) -> Any:
        return [value.value for value in self.values]

    def anchors(self) -> tuple[Anchor, ...]:
        return tuple(Anchor(AnchorKind.CALL, (self.selector, value)) for value in self.values)


@dataclass(frozen=True, slots=True)
class TransportIs(_Chosen):
    """How the tool is reached."""

    selector: ClassVar[str] = "transport"
    values: tuple[Transport, ...]

    def holds(self, features: Features) -> bool:
        return features.event.transport in self.values

    def shown(self, features: Features) -> str:
        return f"transport: {features.event.transport or 'not said'}"


@dataclass(frozen=True, slots=True)
class CredentialIs(_Chosen):
    """Whose credential the call used; what is not said is `unknown`."""

    selector: ClassVar[str] = "credentialKind"
    values: tuple[CredentialKind, ...]

    def holds(self, features: Features) -> bool:
        return (features.event.credential_kind or CredentialKind.UNKNOWN) in self.values

    def shown(self, features: Features) -> str:
        return f"credentialKind: {features.event.credential_kind or 'not said'}"


@dataclass(frozen=True, slots=True)
class TargetIs(_Chosen):
    """Who chose what the call went to; what is not said is `unknown`."""

    selector: ClassVar[str] = "targetKind"
    values: tuple[CallTargetKind, ...]

    def holds(self, features: Features) -> bool:
        return (features.event.target_kind or CallTargetKind.UNKNOWN) in self.values

    def shown(self, features: Features) -> str:
        return f"targetKind: {features.event.target_kind or 'not said'}"


@lru_cache(_GLOBS_KEPT)
def matching_any(globs: tuple[str, ...]) -> Callable[[str], object]:
    """What tells, by anything but None, whether a name fits one of the globs."""
    return re.compile("|".join(map(fnmatch.translate, globs))).match


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[")

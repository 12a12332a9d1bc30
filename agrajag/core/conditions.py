"""The selectors of rules that go beyond the specification's, each as a value that an error fits or does not.

A condition also says what waits for it: `anchors` are facts of which an error that fits has at least one, so that
`core.match` asks few rules; none where there is no such fact.
"""

import fnmatch
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from agrajag.core.body_patterns import BodyPattern
from agrajag.core.features import Features
from agrajag.core.json_paths import Path, PathTree, path_text
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport


class AnchorKind(IntEnum):
    """What kind of fact an anchor is, the most telling first."""

    PATH_CODE = 0
    CODE = 1
    SPEC_CODE = 2
    RPC = 3
    GRPC = 4
    SQL = 5
    TEXT = 6
    EXCEPTION = 7
    EXCEPTION_END = 8
    HEADER = 9
    TOOL = 10
    FAMILY = 11


class Anchor(NamedTuple):
    """One fact: a value of a kind."""

    kind: AnchorKind
    key: Hashable


class Condition(ABC):
    """One selector of a rule. Equal conditions fit the same errors."""

    selector: ClassVar[str]
    """Its name in rule files."""

    @abstractmethod
    def holds(self, features: Features) -> bool:
        """Whether an error fits it."""

    @abstractmethod
    def entry(self) -> Any:
        """The value of the selector in a rule file."""

    @abstractmethod
    def shown(self, features: Features) -> str:
        """What the error says about it, in words; the caller redacts them."""

    def anchors(self) -> tuple[Anchor, ...]:
        """Facts of which every error that fits has one; none where that is not known."""
        return ()

    def covers(self, other: "Condition") -> bool:
        """Whether every error that fits `other` fits this one; False where that is not certain."""
        return self == other

    def lint_keys(self) -> tuple[Hashable, ...]:
        """Keys among which whatever this one covers has each of its own; none where it may follow from something else
        than a condition of its kind."""
        return ()


@dataclass(frozen=True, slots=True)
class _Values(Condition):
    """A condition that is one of several values."""

    values: tuple[Any, ...]
    kind: ClassVar[AnchorKind | None] = None

    def entry(self) -> Any:
        return list(self.values)

    def anchors(self) -> tuple[Anchor, ...]:
        return () if self.kind is None else tuple(Anchor(self.kind, value) for value in self.values)

    def covers(self, other: Condition) -> bool:
        return isinstance(other, type(self)) and set(other.values) <= set(self.values)

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class StatusIs(_Values):
    """The HTTP status is one of several."""

    selector: ClassVar[str] = "httpStatus"

    def holds(self, features: Features) -> bool:
        return features.http_status in self.values

    def shown(self, features: Features) -> str:
        return f"HTTP status {features.http_status}" if features.http_status else "no HTTP status"

    def lint_keys(self) -> tuple[Hashable, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class NoSuccess(Condition):
    """The response has no status from 200 to 299: its body may be anything that the tool brought."""

    selector: ClassVar[str] = "successBody"

    def holds(self, features: Features) -> bool:
        status = features.http_status
        return status is None or not 200 <= status <= 299

    def entry(self) -> Any:
        return False

    def shown(self, features: Features) -> str:
        return f"HTTP status {features.http_status}" if features.http_status else "no HTTP status"


@dataclass(frozen=True, slots=True)
class ErrorCodes(Condition):
    """A code, at one of the well-known places or at these paths, or the reporter's own, is one of several."""

    selector: ClassVar[str] = "errorCodes"
    values: tuple[str, ...]
    paths: tuple[Path, ...] = ()
    _tree: PathTree = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", PathTree(self.paths))

    def holds(self, features: Features) -> bool:
        if not self.paths:
            return not features.codes.isdisjoint(self.values)
        if features.error.error_code in self.values:
            return True
        return any(
            value in self.values for body in features.json_bodies for _, value in self._tree.values(body)
        )

    def entry(self) -> Any:
        at = [path_text(path) for path in self.paths]
        return {"in": list(self.values)} | ({"at": at} if at else {})

    def shown(self, features: Features) -> str:
        found = features.codes
        if self.paths:
            found = frozenset(value for body in features.json_bodies for _, value in self._tree.values(body))
            found |= {features.error.error_code} if features.error.error_code else set()
        return f"error codes: {', '.join(sorted(found))}" if found else "no error code"

    def anchors(self) -> tuple[Anchor, ...]:
        if not self.paths:
            return tuple(Anchor(AnchorKind.CODE, value) for value in self.values)
        keys = ((path, value) for path in ((), *self.paths) for value in self.values)
        return tuple(Anchor(AnchorKind.PATH_CODE, key) for key in keys)

    def covers(self, other: Condition) -> bool:
        return (
            isinstance(other, ErrorCodes)
            and set(other.values) <= set(self.values)
            and (self.paths == other.paths or (bool(other.paths) and set(other.paths) <= set(self.paths)))
        )

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class RpcCode(_Values):
    """The code of a JSON-RPC error."""

    selector: ClassVar[str] = "rpcCode"
    kind: ClassVar[AnchorKind | None] = AnchorKind.RPC

    def holds(self, features: Features) -> bool:
        return not features.rpc_codes.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("JSON-RPC codes", map(str, features.rpc_codes))


@dataclass(frozen=True, slots=True)
class GrpcStatus(_Values):
    """The name of a gRPC status."""

    selector: ClassVar[str] = "grpcStatus"
    kind: ClassVar[AnchorKind | None] = AnchorKind.GRPC

    def holds(self, features: Features) -> bool:
        return not features.grpc_statuses.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("gRPC statuses", features.grpc_statuses)


@dataclass(frozen=True, slots=True)
class SqlState(_Values):
    """An SQLSTATE, or a class of them such as `08*`."""

    selector: ClassVar[str] = "sqlState"
    kind: ClassVar[AnchorKind | None] = AnchorKind.SQL

    def holds(self, features: Features) -> bool:
        return not features.sql_states.isdisjoint(self.values)

    def shown(self, features: Features) -> str:
        return _listed("SQLSTATEs", features.sql_states)


@dataclass(frozen=True, slots=True)
class BodyMatches(Condition):
    """The beginning of message and body matches one of several patterns."""

    selector: ClassVar[str] = "bodyMatches"
    patterns: tuple[BodyPattern, ...]

    def holds(self, features: Features) -> bool:
        searched = features.searched
        return any(pattern.search(searched) is not None for pattern in self.patterns)

    def entry(self) -> Any:
        return [pattern.text for pattern in self.patterns]

    def shown(self, features: Features) -> str:
        for pattern in self.patterns:
            if (found := pattern.search(features.searched)) is not None:
                return f"{pattern.text} finds {found.group()}"
        return "neither message nor body matches"

    def anchors(self) -> tuple[Anchor, ...]:
        if not all(pattern.literals for pattern in self.patterns):
            return ()
        literals = (literal for pattern in self.patterns for literal in pattern.literals)
        return tuple(Anchor(AnchorKind.TEXT, literal) for literal in dict.fromkeys(literals))

    def covers(self, other: Condition) -> bool:
        return isinstance(other, BodyMatches) and set(other.patterns) <= set(self.patterns)

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, pattern.text) for pattern in self.patterns)


@dataclass(frozen=True, slots=True)
class HeaderIs(Condition):
    """A response header is there, is absent, is this text, or contains it. `name` and texts in lower case."""

    selector: ClassVar[str] = "headers"
    name: str
    is_absent: bool = False
    text: str | None = None
    contains: str | None = None

    def holds(self, features: Features) -> bool:
        value = features.headers.get(self.name)
        if value is None or self.is_absent:
            return self.is_absent is (value is None)
        if self.text is not None:
            return value.strip().lower() == self.text
        return self.contains is None or self.contains in value.lower()

    def entry(self) -> Any:
        if self.contains is not None:
            return {self.name: {"contains": self.contains}}
        return {self.name: "absent" if self.is_absent else "present" if self.text is None else self.text}

    def shown(self, features: Features) -> str:
        value = features.headers.get(self.name)
        return f"no header {self.name}" if value is None else f"header {self.name} is {value}"

    def anchors(self) -> tuple[Anchor, ...]:
        return () if self.is_absent else (Anchor(AnchorKind.HEADER, self.name),)

    def covers(self, other: Condition) -> bool:
        if (
            not isinstance(other, HeaderIs)
            or other.name != self.name
            or other.is_absent is not self.is_absent
        ):
            return False
        said = other.text or other.contains or ""
        if self.contains is not None:
            return self.contains in said
        return self.text is None or self.text == other.text

    def lint_keys(self) -> tuple[Hashable, ...]:
        return ((self.selector, self.name),)


@dataclass(frozen=True, slots=True)
class _Globs(Condition):
    """A name fits one of several patterns with `*`, `?` and `[...]`, whatever its case."""

    values: tuple[str, ...]
    kind: ClassVar[AnchorKind]
    _fits: Callable[[str], Any] | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        globs = [value for value in self.values if _is_glob(value)]
        fits = re.compile("|".join(map(fnmatch.translate, globs))).match if globs else None
        object.__setattr__(self, "_fits", fits)

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
        if self._fits is not None:
            return ()
        return tuple(Anchor(self.kind, value) for value in self.values)

    def covers(self, other: Condition) -> bool:
        return isinstance(other, type(self)) and set(other.values) <= set(self.values)

    def lint_keys(self) -> tuple[Hashable, ...]:
        return tuple((self.selector, value) for value in self.values)


@dataclass(frozen=True, slots=True)
class ToolName(_Globs):
    """The tool's name."""

    selector: ClassVar[str] = "toolName"
    kind: ClassVar[AnchorKind] = AnchorKind.TOOL

    def name_in(self, features: Features) -> str | None:
        return features.tool


@dataclass(frozen=True, slots=True)
class Family(_Globs):
    """The kind of system behind the tool; an error that does not name it fits none."""

    selector: ClassVar[str] = "family"
    kind: ClassVar[AnchorKind] = AnchorKind.FAMILY

    def name_in(self, features: Features) -> str | None:
        return features.family


@dataclass(frozen=True, slots=True)
class TransportIs(_Values):
    """How the tool is reached."""

    selector: ClassVar[str] = "transport"
    values: tuple[Transport, ...]

    def holds(self, features: Features) -> bool:
        return features.event.transport in self.values

    def entry(self) -> Any:
        return [value.value for value in self.values]

    def shown(self, features: Features) -> str:
        return f"transport: {features.event.transport or 'not said'}"


@dataclass(frozen=True, slots=True)
class CredentialIs(_Values):
    """Whose credential the call used; what is not said is `unknown`."""

    selector: ClassVar[str] = "credentialKind"
    values: tuple[CredentialKind, ...]

    def holds(self, features: Features) -> bool:
        return (features.event.credential_kind or CredentialKind.UNKNOWN) in self.values

    def entry(self) -> Any:
        return [value.value for value in self.values]

    def shown(self, features: Features) -> str:
        return f"credentialKind: {features.event.credential_kind or 'not said'}"


@dataclass(frozen=True, slots=True)
class TargetIs(_Values):
    """Who chose what the call went to; what is not said is `unknown`."""

    selector: ClassVar[str] = "targetKind"
    values: tuple[CallTargetKind, ...]

    def holds(self, features: Features) -> bool:
        return (features.event.target_kind or CallTargetKind.UNKNOWN) in self.values

    def entry(self) -> Any:
        return [value.value for value in self.values]

    def shown(self, features: Features) -> str:
        return f"targetKind: {features.event.target_kind or 'not said'}"


def _listed(what: str, found: Any) -> str:
    listed = sorted(found)
    return f"{what}: {', '.join(listed)}" if listed else f"no {what}"


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[")

"""Conditions on a response: its status, its headers, its text."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from agrajag.core.body_patterns import BodyPattern
from agrajag.core.condition import Anchor, AnchorKind, Condition, Values
from agrajag.core.features import Features


@dataclass(frozen=True, slots=True)
class StatusIs(Values):
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
                return f"{pattern.text} finds {found.group().decode('utf-8', 'replace')}"
        return "neither message nor body matches"

    def anchors(self) -> tuple[Anchor, ...]:
        found: list[Anchor] = []
        for pattern in self.patterns:
            found += (Anchor(AnchorKind.TEXT, literal) for literal in pattern.literals)
            found += () if pattern.literals else (Anchor(AnchorKind.PATTERN, pattern),)
        return tuple(found)

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

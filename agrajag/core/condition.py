"""What a selector of a rule beyond the specification's is: a value that an error fits or does not.

A condition also says what waits for it: `anchors` are facts of which an error that fits has at least one, so that
`core.match` asks few rules; none where there is no such fact.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

from agrajag.core.features import Features


class AnchorKind(IntEnum):
    """What kind of fact an anchor is, the most telling first."""

    FAMILY = 0
    FAMILY_GLOB = 1
    PATH_CODE = 2
    CODE = 3
    SPEC_CODE = 4
    RPC = 5
    GRPC = 6
    SQL = 7
    TEXT = 8
    PATTERN = 9
    EXCEPTION = 10
    EXCEPTION_END = 11
    HEADER = 12
    TOOL = 13
    TOOL_GLOB = 14
    STATUS = 15
    CALL = 16


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
class Values(Condition):
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

"""What an error must show for a rule to match: the specification's selectors, the others, and how they combine."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from agrajag.core.condition import Anchor, AnchorKind, Condition
from agrajag.core.features import Features
from agrajag.core.response_conditions import StatusIs


@dataclass(frozen=True, slots=True)
class Selectors:
    """All that are given must fit. None given matches every error.

    `body_contains` holds lower-case substrings, any of which is enough, as for `exception_types`. `http_statuses` is
    inclusive at both ends. A type that begins with `*.` is the end of a class name. Where they are `unquoted`, they fit
    without the words in quotation marks too (`core.quoted`).
    """

    http_statuses: tuple[int, int] | None = None
    exception_types: tuple[str, ...] = ()
    body_contains: tuple[str, ...] = ()
    error_code: str | None = None
    conditions: tuple[Condition, ...] = ()
    unquoted: bool = False

    def hold(self, features: Features) -> bool:
        """Whether the error fits all of them."""
        if self.http_statuses is not None:
            status, (low, high) = features.http_status, self.http_statuses
            if status is None or not low <= status <= high:
                return False
        if self.error_code is not None and self.error_code not in features.error_codes:
            return False
        if self.exception_types and not is_raised(self.exception_types, features.exception_names):
            return False
        if self.body_contains:
            text = features.text
            if not any(part in text for part in self.body_contains):
                return False
        for condition in self.conditions:
            if not condition.holds(features):
                return False
        return not self.unquoted or features.unquoted is features or self.hold(features.unquoted)

    def statuses(self) -> Collection[int] | None:
        """Statuses of which every error that fits has one; None where it need have none."""
        if self.http_statuses is not None:
            low, high = self.http_statuses
            return range(low, high + 1)
        return next((one.values for one in self.conditions if isinstance(one, StatusIs)), None)

    def anchors(self, *, with_statuses: bool = False) -> tuple[Anchor, ...]:
        """The most telling facts of which every error that fits has one; none where nothing is known.

        `with_statuses`: a status is such a fact too.
        """
        statuses = self.statuses() if with_statuses else None
        known = [
            tuple(Anchor(AnchorKind.STATUS, status) for status in statuses or ()),
            tuple(Anchor(AnchorKind.TEXT, text) for text in self.body_contains),
            tuple(map(_exception_anchor, self.exception_types)),
            () if self.error_code is None else (Anchor(AnchorKind.SPEC_CODE, self.error_code),),
            *(condition.anchors() for condition in self.conditions),
        ]
        return _most_telling(known)


def _most_telling(known: Iterable[tuple[Anchor, ...]]) -> tuple[Anchor, ...]:
    return min(filter(None, known), key=lambda anchors: max(anchor.kind for anchor in anchors), default=())


def _exception_anchor(name: str) -> Anchor:
    if name.startswith("*."):
        return Anchor(AnchorKind.EXCEPTION_END, name.rpartition(".")[2])
    return Anchor(AnchorKind.EXCEPTION, name)


def is_raised(wanted: tuple[str, ...], names: frozenset[str]) -> bool:
    """Whether exceptions that are known by `names` are of one of the types."""
    if not names.isdisjoint(wanted):
        return True
    return any(one.startswith("*.") and any(name.endswith(one[1:]) for name in names) for one in wanted)


@dataclass(frozen=True, slots=True)
class AnyOf(Condition):
    """At least one of several sets of selectors fits."""

    selector: ClassVar[str] = "any"
    branches: tuple[Selectors, ...]

    def holds(self, features: Features) -> bool:
        return any(branch.hold(features) for branch in self.branches)

    def entry(self) -> Any:
        return self.branches

    def shown(self, features: Features) -> str:
        fitting = [str(number) for number, one in enumerate(self.branches, start=1) if one.hold(features)]
        return f"number {', '.join(fitting)} of {len(self.branches)} fits" if fitting else "none of them fits"

    def anchors(self) -> tuple[Anchor, ...]:
        found = [branch.anchors(with_statuses=True) for branch in self.branches]
        return tuple(anchor for anchors in found for anchor in anchors) if all(found) else ()


@dataclass(frozen=True, slots=True)
class AllOf(Condition):
    """Each of several sets of selectors fits."""

    selector: ClassVar[str] = "all"
    branches: tuple[Selectors, ...]

    def holds(self, features: Features) -> bool:
        return all(branch.hold(features) for branch in self.branches)

    def entry(self) -> Any:
        return self.branches

    def shown(self, features: Features) -> str:
        failing = [str(number) for number, one in enumerate(self.branches, start=1) if not one.hold(features)]
        return f"number {', '.join(failing)} does not fit" if failing else "all of them fit"

    def anchors(self) -> tuple[Anchor, ...]:
        return _most_telling(branch.anchors(with_statuses=True) for branch in self.branches)


@dataclass(frozen=True, slots=True)
class NotThese(Condition):
    """A set of selectors does not fit."""

    selector: ClassVar[str] = "not"
    inner: Selectors

    def holds(self, features: Features) -> bool:
        return not self.inner.hold(features)

    def entry(self) -> Any:
        return self.inner

    def shown(self, features: Features) -> str:
        return "it fits, and must not" if self.inner.hold(features) else "it does not fit"

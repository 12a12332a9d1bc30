"""Where a response says how long to wait: a header, a place in its JSON, its words, or the hour of a daily reset.

What it says is read in the unit that the rule names and held between the rule's own bounds. A wait that cannot be read
is none, and the next source of the rule is asked.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from agrajag.core.body_patterns import BodyPattern
from agrajag.core.features import Features
from agrajag.core.json_paths import Path, PathTree, path_text
from agrajag.core.retry_after import SHORTEST, WaitUnit, wait_from_text

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The shortest and the longest wait that a source may ask for; None for no bound of the rule's own."""

    shortest: timedelta | None = None
    longest: timedelta | None = None

    def within(self, span: timedelta) -> timedelta:
        """The span, or the bound that it is beyond."""
        if self.shortest is not None:
            span = max(span, self.shortest)
        return span if self.longest is None else min(span, self.longest)


class Wait(ABC):
    """One place where a response may say how long to wait."""

    bounds: Bounds

    def asked(self, features: Features, start: datetime) -> timedelta | None:
        """The wait after `start`, when the response was made, within the rule's bounds; None where it says none."""
        span = self.stated(features, start)
        return None if span is None else self.bounds.within(span)

    @abstractmethod
    def stated(self, features: Features, start: datetime) -> timedelta | None:
        """The same before any bound, at least a second."""

    @abstractmethod
    def entry(self) -> dict[str, str]:
        """Where it is, as a rule file says it."""

    @property
    def words(self) -> str:
        """Where it is, for people."""
        return " ".join(
            part for name, value in self.entry().items() if name != "unit" for part in (name, value)
        )


@dataclass(frozen=True, slots=True)
class HeaderWait(Wait):
    """A response header, its name in lower case."""

    name: str
    unit: WaitUnit = WaitUnit.AUTO
    bounds: Bounds = Bounds()

    def stated(self, features: Features, start: datetime) -> timedelta | None:
        value = features.header(self.name)
        return None if value is None else wait_from_text(value, self.unit, start)

    def entry(self) -> dict[str, str]:
        return {"header": self.name, "unit": self.unit.value}


@dataclass(frozen=True, slots=True)
class BodyWait(Wait):
    """A place in the JSON of the response."""

    path: Path
    unit: WaitUnit = WaitUnit.AUTO
    bounds: Bounds = Bounds()
    _tree: PathTree = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tree", PathTree([self.path], with_fractions=True))

    def stated(self, features: Features, start: datetime) -> timedelta | None:
        values = (value for body in features.json_bodies for _, value in self._tree.values(body))
        waits = (wait_from_text(value, self.unit, start) for value in values)
        return next((wait for wait in waits if wait is not None), None)

    def entry(self) -> dict[str, str]:
        return {"body": path_text(self.path), "unit": self.unit.value}


@dataclass(frozen=True, slots=True)
class PatternWait(Wait):
    """What the only group of a pattern captures in message and body."""

    pattern: BodyPattern
    unit: WaitUnit = WaitUnit.AUTO
    bounds: Bounds = Bounds()

    def stated(self, features: Features, start: datetime) -> timedelta | None:
        found = self.pattern.search(features.searched)
        captured = b"" if found is None else found.group(1) or b""
        return wait_from_text(captured.decode("utf-8", "replace"), self.unit, start) if captured else None

    def entry(self) -> dict[str, str]:
        return {"bodyMatches": self.pattern.text, "unit": self.unit.value}


@dataclass(frozen=True, slots=True)
class DailyReset(Wait):
    """The next time that a day's quota begins anew: an hour of the day in a zone."""

    at: time
    zone: str = "UTC"
    bounds: Bounds = Bounds()

    def stated(self, features: Features, start: datetime) -> timedelta | None:
        zone = ZoneInfo(self.zone)
        try:
            today = start.astimezone(zone).date()
            resets = [datetime.combine(day, self.at, zone).astimezone(UTC) for day in (today, today + _DAY)]
        except OverflowError:
            return None
        return max(min(reset - start for reset in resets if reset > start), SHORTEST)

    def entry(self) -> dict[str, str]:
        return {"resetsAt": self.at.isoformat("minutes"), "zone": self.zone}

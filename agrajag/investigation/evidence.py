"""What adapters give back: found items and the scope that was looked at, or a closed code for why there are none.

An adapter reads and never writes. What it finds is cut down to the tool's projection before the model sees anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import AwareDatetime

from agrajag.harness import Failed
from agrajag.investigation.frozen_model import FrozenModel

Asked = TypeVar("Asked", contravariant=True)


class Scope(FrozenModel):
    """What was looked at, told by the source and never by the model.

    `subjects` are names that the source itself has: its services, its tables, its folder. `since` and `until` bound the
    time that was looked at, where the source knows times.
    """

    source: str
    subjects: tuple[str, ...] = ()
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None


class CallIds(NamedTuple):
    """Whose call it is, exactly as the framework and the run name it."""

    session_id: str
    run_id: str
    tool_call_id: str


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a source. No items: it was looked, and there is nothing. `truncated`: there is more than this."""

    items: Sequence[Mapping[str, Any]]
    scope: Scope
    truncated: bool = False


class EvidenceAdapter(Protocol[Asked]):
    """One source of evidence."""

    async def look(self, ids: CallIds, asked: Asked) -> Found | Failed:
        """Look once. May be cut at any await; what it raises is told to nobody but the log, by its type."""

"""Tells a record that was applied before: it changes nothing again, whatever it asks for."""

from collections.abc import Iterable
from typing import TypeVar

from agrajag.core.draft import Draft
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.jobs import DiagnosisJob

E = TypeVar("E")


def repeat_of(arrival: Arrival[E], present: Iterable[Draft]) -> Repeat | None:
    """The `Repeat` of a record at or below what a document in `present` has applied from its origin; else None.

    All documents of a tool that a step changes are written together, so one of them speaks for all.
    """
    keys: list[str] = []
    own: DiagnosisJob | None = None
    for draft in present:
        if draft.applied.get(arrival.origin, -1) < arrival.offset:
            continue
        keys.append(draft.key)
        own = draft.jobs.claimed_by(arrival.event_id) or own
    return Repeat(tuple(keys), own) if keys else None

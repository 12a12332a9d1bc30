"""What is sent again from the dead letters says which event it is and when that was.

A record without an id of its own is named by its first place, and one without a time happened when it was appended.
Sent again it stands elsewhere and later, so two headers carry both along; a replay tells nobody that an old error
happens now. They are claims that any producer can make, and say no more than `eventId` and `occurredAt` in the event
would.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

REPLAY_OF = "agrajag-replay-of"
"""`topic-partition-offset` of the first place."""
REPLAY_TIME = "agrajag-replay-time"
"""When the record was first appended, in ms."""

_PLACE = re.compile(rb"[A-Za-z0-9._-]{1,220}-[0-9]{1,10}-[0-9]{1,16}")
_MS = re.compile(rb"[0-9]{1,14}")


def replayed_id(headers: Sequence[tuple[str, bytes | None]]) -> str | None:
    """The id of an event that says none itself, if its record is sent again."""
    value = _header(headers, REPLAY_OF)
    return value.decode() if value is not None and _PLACE.fullmatch(value) else None


def replayed_time(headers: Sequence[tuple[str, bytes | None]]) -> datetime | None:
    """When an event happened that does not say so itself, if its record is sent again."""
    value = _header(headers, REPLAY_TIME)
    return (
        datetime.fromtimestamp(int(value) / 1_000, UTC)
        if value is not None and _MS.fullmatch(value)
        else None
    )


def _header(headers: Sequence[tuple[str, bytes | None]], name: str) -> bytes | None:
    return next((value for key, value in headers if key == name), None)

"""How events are written (server-sent events, WHATWG HTML §9.2).

An event of a snapshot has no id: who loses the connection in the middle of one comes back as it came, and begins anew.
"""

from enum import StrEnum


class EventKind(StrEnum):
    """What an event says."""

    RESET = "reset"
    """Forget what you know: all that there is follows."""
    CHANGED = "changed"
    """A document is now so. Data: a `HealthReading`."""
    GONE = "gone"
    """A document was deleted. Data: `key` and `revision`."""
    CURRENT = "current"
    """That was all that there is: from here on things change."""


def event(kind: EventKind, data: bytes, cursor: str | None = None) -> bytes:
    """One event; `data` is one line."""
    place = b"" if cursor is None else b"id: %b\n" % cursor.encode()
    return b"event: %b\n%bdata: %b\n\n" % (kind.encode(), place, data)


def heartbeat(cursor: str) -> bytes:
    """No event, but a sign of life; and whoever comes back need not be told again what it could not see."""
    return b": alive\nid: %b\n\n" % cursor.encode()


def retry(milliseconds: int) -> bytes:
    """No event: how long to wait before coming back."""
    return b"retry: %d\n\n" % milliseconds

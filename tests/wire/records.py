"""Records as a consumer receives them, and what the metrics counted meanwhile."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aiokafka import ConsumerRecord
from prometheus_client import Counter

from agrajag.metrics import REGISTRY

TOPIC = "agrajag.tool-call-errors.v1"

EVENT: dict[str, Any] = {
    "eventId": "event-1",
    "occurredAt": "2026-05-23T12:00:00Z",
    "tenantId": "acme",
    "toolName": "search",
    "userId": "alice",
    "error": {"httpStatus": 503, "message": "upstream is away"},
}
"""A good tool call error; tests change what they are about."""


def received(
    value: Any,
    headers: Sequence[tuple[str, bytes | None]] = (),
    *,
    topic: str = TOPIC,
    partition: int = 3,
    offset: int = 41,
    key: bytes | None = b"acme|search",
) -> ConsumerRecord:
    """A record of which bytes and None are the value themselves, and anything else is its JSON."""
    raw = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    return ConsumerRecord(
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp=1_780_000_000_000,
        timestamp_type=1,
        key=key,
        value=raw,
        checksum=None,
        serialized_key_size=len(key or b""),
        serialized_value_size=len(raw or b""),
        headers=tuple(headers),
    )


@contextmanager
def counting(counter: Counter, **labels: str) -> Iterator[Callable[[], float]]:
    """Gives a function that says by how much `counter` has grown since."""
    name = f"{counter._name}_total"  # the library has no public way from a counter to its name

    def value() -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    before = value()
    yield lambda: value() - before

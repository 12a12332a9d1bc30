"""Records as a broker would hand them over."""

from dataclasses import dataclass, field


@dataclass
class Received:
    """What is used of an aiokafka `ConsumerRecord`."""

    value: bytes | None
    key: bytes = b""
    topic: str = "agrajag.tool-call-errors.v1"
    partition: int = 0
    offset: int = 0
    timestamp: int = 0
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)

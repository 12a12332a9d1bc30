"""Who hears what a view reads: each record with its place in the log, and when what was read is shown."""

from typing import NamedTuple, Protocol

from agrajag.wire.following import Log


class News(NamedTuple):
    """What a record has changed in the view. `value` is the document as it came, None says that it is gone.

    Whether the value is that document, `wire.health_records.read_health` tells.
    """

    key: str
    revision: int
    value: bytes | None


class LogListener(Protocol):
    """Hears of the log in the order of reading, on the view's own loop; it must neither block nor raise."""

    def reading_begins(self, log: Log) -> None:
        """The log is read from its first record, for the first time or after brokers were away."""

    def read(self, partition: int, offset: int, news: News | None) -> None:
        """The next record of a partition; None for one that is not newer than what is known, or unusable."""

    def shown(self) -> None:
        """From now on the view shows all that was read."""


class NoListener:
    """Nobody."""

    def reading_begins(self, log: Log) -> None: ...

    def read(self, partition: int, offset: int, news: News | None) -> None: ...

    def shown(self) -> None: ...

"""Keeps the libraries underneath from flooding the log: their debug records, and what they repeat.

After a broker has stopped in good order aiokafka asks for metadata without a pause and logs thousands of
lines a second; and Faust, mode and aiokafka build debug records that cost a tenth of the throughput to
throw away.
"""

import logging
import time
from collections.abc import Callable

LIBRARIES = ("aiokafka", "faust", "mode")
REPEAT_AFTER_SECONDS = 10.0
_REMEMBERED = 1_000


class RepeatFilter(logging.Filter):
    """Passes a message of a logger once in `REPEAT_AFTER_SECONDS`, however its arguments differ."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed_at: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        kind = (record.name, str(record.msg))
        if now - self._passed_at.get(kind, -REPEAT_AFTER_SECONDS) < REPEAT_AFTER_SECONDS:
            return False
        if len(self._passed_at) >= _REMEMBERED:
            self._passed_at.clear()
        self._passed_at[kind] = now
        return True


def thin_out_logs() -> None:
    """Quieten the libraries' loggers as they are now: warnings and worse, each kind once in a while."""
    repeats = RepeatFilter()
    for library in LIBRARIES:
        logging.getLogger(library).setLevel(logging.WARNING)
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if isinstance(logger, logging.Logger) and name.partition(".")[0] in LIBRARIES:
            logger.addFilter(repeats)

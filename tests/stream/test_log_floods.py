"""What of the libraries' logging gets through."""

import logging
from collections.abc import Iterator

import pytest

from agrajag.stream.log_floods import RepeatFilter, thin_out_logs


@pytest.fixture
def library_logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("aiokafka.for-this-test")
    yield logger
    for library in ("aiokafka", "faust", "mode"):
        logging.getLogger(library).setLevel(logging.NOTSET)
    for other in list(logging.root.manager.loggerDict.values()):
        if isinstance(other, logging.Logger):
            other.filters = [found for found in other.filters if not isinstance(found, RepeatFilter)]


def test_a_message_that_repeats_with_other_arguments_is_logged_once(
    library_logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    thin_out_logs()
    for node in range(10_000):
        library_logger.error("Unable connect to node with id %s", node)
    library_logger.error("something else")
    assert [record.getMessage() for record in caplog.records] == [
        "Unable connect to node with id 0",
        "something else",
    ]


def test_a_message_comes_again_after_a_while() -> None:
    times = iter([100.0, 109.0, 110.0, 111.0])
    repeats = RepeatFilter(lambda: next(times))
    record = logging.LogRecord("aiokafka", logging.ERROR, "", 0, "again", None, None)
    assert [repeats.filter(record) for _ in range(4)] == [True, False, True, False]


def test_debug_and_info_of_the_libraries_are_not_even_made(library_logger: logging.Logger) -> None:
    thin_out_logs()
    assert not library_logger.isEnabledFor(logging.INFO)
    assert library_logger.isEnabledFor(logging.WARNING)

"""What a log line holds, and above all what it never holds."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from agrajag.addresses import without_credentials
from agrajag.logs import WITHHELD, WITHHELD_FIELDS, configure_logging
from agrajag.model.events import ToolCallError

LIBRARIES = (
    "aiokafka",
    "anthropic",
    "asyncio",
    "client",
    "faust",
    "httpcore2.http11",
    "httpx2",
    "mcp",
    "mode",
    "pymongo",
)
log = structlog.get_logger(__name__)  # made before anything is configured, as in every module


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """A stream to log to; the logging of the test run is put back afterwards."""
    root = logging.getLogger()
    before = (root.handlers, root.level, structlog.get_config())
    levels = {name: logging.getLogger(name).level for name in LIBRARIES}
    yield io.StringIO()
    root.handlers, root.level, config = before
    structlog.configure(**config)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_event_level_logger_time_and_ids(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    log.info("topic_created", topic="ü", count=3)
    (line,) = lines(written)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "topic_created", "level": "info", "logger": __name__, "topic": "ü", "count": 3}


def test_the_console_form_is_for_people(written: io.StringIO) -> None:
    configure_logging("info", "console", written)
    log.info("topic_created", topic="errors", body="secret")
    assert "topic_created" in written.getvalue()
    assert f"body={WITHHELD}" in written.getvalue()
    assert "\x1b" not in written.getvalue()


def test_lines_below_the_level_are_not_written(written: io.StringIO) -> None:
    configure_logging("warning", "json", written)
    log.info("quiet")
    log.warning("loud")
    assert [line["event"] for line in lines(written)] == ["loud"]


def test_the_last_configuration_wins(written: io.StringIO) -> None:
    configure_logging("debug", "json", io.StringIO())
    configure_logging("info", "json", written)
    log.debug("quiet")
    log.info("once")
    assert [line["event"] for line in lines(written)] == ["once"]


@pytest.mark.parametrize("name", ["client", "mcp.client.streamable_http"])
def test_a_library_that_repeats_what_servers_say_is_not_heard(written: io.StringIO, name: str) -> None:
    configure_logging("debug", "json", written)
    logging.getLogger(name).error("Unexpected content type: %s", "a payload")
    assert lines(written) == []


def test_libraries_take_the_same_road_from_warnings_up(written: io.StringIO) -> None:
    configure_logging("debug", "json", written)
    logging.getLogger("aiokafka.consumer").debug("Fetched %s", "a payload")
    logging.getLogger("faust").info("chatter")
    logging.getLogger("mode.worker").warning("trouble with %s", "kafka://bob:pw@host")
    (line,) = lines(written)
    assert (line["event"], line["logger"]) == ("trouble with kafka://***@host", "mode.worker")


@pytest.mark.parametrize("name", sorted(WITHHELD_FIELDS))
def test_a_field_named_like_a_payload_or_a_secret_is_withheld(written: io.StringIO, name: str) -> None:
    configure_logging("info", "json", written)
    log.info("done", **{name: "hunter2", "nested": [{name.upper(): "hunter2"}]})
    assert "hunter2" not in written.getvalue()
    assert lines(written)[0][name] == WITHHELD


def test_bytes_are_withheld_whatever_their_name(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    log.info("done", offset=b"hunter2", ids=[b"hunter2"])
    assert (lines(written)[0]["offset"], lines(written)[0]["ids"]) == (WITHHELD, [WITHHELD])


def test_a_long_text_is_cut(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    log.info("done", reason="r" * 100_000)
    assert lines(written)[0]["reason"] == "r" * 2_000 + "… (100000 characters)"


def test_an_exception_is_told_with_its_trace_and_its_causes(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise RuntimeError("mongodb://bob:pw@store is away") from inner
    except RuntimeError:
        log.exception("failed")
    told = lines(written)[0]["exception"]
    assert told.index("KeyError: 'inner'") < told.index("RuntimeError: mongodb://***@store is away")
    assert "test_logs.py" in told


def test_an_exception_in_a_group_is_told(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    log.error("failed", exc_info=ExceptionGroup("two", [ValueError("one"), OSError("other")]))
    told = lines(written)[0]["exception"]
    assert "ValueError: one" in told
    assert "OSError: other" in told


def test_exceptions_that_cause_each_other_in_a_circle_are_told_once(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    log.error("failed", exc_info=first)
    assert lines(written)[0]["exception"].count("ValueError: first") == 1


def test_a_validation_error_is_told_without_the_values_that_it_refuses(written: io.StringIO) -> None:
    configure_logging("info", "json", written)
    wrong = json.loads('{"tenantId": ["hunter' + '2"]}')  # not as one word in a source line of the trace
    with pytest.raises(ValueError, match="hunter2") as refused:
        ToolCallError.model_validate(wrong)
    log.error("failed", exc_info=refused.value, error=refused.value)
    assert "hunter2" not in written.getvalue()
    assert "validation errors for ToolCallError" in lines(written)[0]["exception"]
    assert lines(written)[0]["error"].startswith("ValidationError: ")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mongodb://bob:pw@host/db", "mongodb://***@host/db"),
        ("mongodb://bob:p@w@host,other/db", "mongodb://***@host,other/db"),
        ("at kafka://bob@h and http://u:p@i.", "at kafka://***@h and http://***@i."),
        ("https://host/path@here?Token=abc&x=1", "https://host/path@here?Token=***&x=1"),
        ("password = hunter2 and more", "password = *** and more"),
        ("mongodb://bob:p'w@host/ and more", "mongodb://***@host/ and more"),
        ('mongodb://bob:p"w@host/', "mongodb://***@host/"),
        ("mongodb://bob:<p>w@host/", "mongodb://***@host/"),
        (
            "mongodb://host/?tlsCertificateKeyFilePassword=p'w<&x=1",
            "mongodb://host/?tlsCertificateKeyFilePassword=***&x=1",
        ),
        (
            "mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:abc/+=,SERVICE_NAME:x",
            "mongodb://host/?authMechanismProperties=AWS_SESSION_TOKEN:***,SERVICE_NAME:x",
        ),
        ("alice@example.org wrote a=b", "alice@example.org wrote a=b"),
        ("http://host", "http://host"),
    ],
)
def test_credentials_in_addresses_are_masked(text: str, shown: str) -> None:
    assert without_credentials(text) == shown

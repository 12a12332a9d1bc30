"""What a service reports becomes the record that a worker expects."""

import pytest

from agrajag.wire.codec import decode
from agrajag.wire.reports import Report, report_output
from agrajag.wire.topics import Topic, Topics
from tests.builders import a_success, a_system_event, an_error
from tests.wire.records import received

TOPICS = Topics("test")


@pytest.mark.parametrize(
    ("report", "topic", "key"),
    [
        (an_error(tool_name="a|b"), Topic.TOOL_CALL_ERRORS, b"acme|a%7Cb"),
        (a_success(), Topic.TOOL_CALL_SUCCESSES, b"acme|search"),
        (a_system_event(), Topic.SYSTEM_EVENTS, b"acme|mcp-search"),
    ],
)
def test_a_report_is_read_as_it_was_made_under_the_id_it_is_given(
    report: Report, topic: Topic, key: bytes
) -> None:
    output = report_output(TOPICS, report, "given", "agrajag/test")
    assert (output.topic, output.key, output.partition) == (TOPICS.name(topic), key, None)
    assert dict(output.headers)["ce_id"] == b"given"
    assert dict(output.headers)["ce_type"].decode() == f"agrajag.{type_word(report)}.v1"
    read = decode(type(report), received(output.value, output.headers, topic=output.topic, key=output.key))
    assert read == report.with_changes(event_id="given")


def type_word(report: Report) -> str:
    words = {
        "ToolCallError": "tool-call-error",
        "ToolCallSucceeded": "tool-call-succeeded",
        "SystemEvent": "system-event",
    }
    return words[type(report).__name__]

"""The records of what services report: failed calls, successful ones, and connections that came or went."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from agrajag.model.events import SystemEvent, ToolCallError, ToolCallSucceeded
from agrajag.model.keys import link_key, tool_key
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics

Report: TypeAlias = ToolCallError | ToolCallSucceeded | SystemEvent

_KINDS: Mapping[type[object], tuple[Topic, EventType]] = MappingProxyType(
    {
        ToolCallError: (Topic.TOOL_CALL_ERRORS, EventType.TOOL_CALL_ERROR),
        ToolCallSucceeded: (Topic.TOOL_CALL_SUCCESSES, EventType.TOOL_CALL_SUCCEEDED),
        SystemEvent: (Topic.SYSTEM_EVENTS, EventType.SYSTEM_EVENT),
    }
)


def report_output(topics: Topics, report: Report, event_id: str, source: str) -> Output:
    """The record of a report, on its right partition, under `event_id` whatever the report says.

    `source` is one of a few names, such as `agrajag/client`. The same id is the same event, however often it is sent.
    """
    topic, event_type = _KINDS[type(report)]
    return Output(
        topics.name(topic),
        _key(report).encode(),
        report.with_changes(event_id=event_id).to_json(),
        binary_headers(event_type, source, event_id),
    )


def _key(report: Report) -> str:
    if isinstance(report, SystemEvent):
        return link_key(report.tenant_id, report.link_id)
    return tool_key(report.tenant_id, report.tool_name)

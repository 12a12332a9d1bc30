"""Makes the AsyncAPI 3 document: which records travel on which topics, how they are keyed, and what Agrajag does.

The records are described by the JSON Schemas beside the document. They say nothing that draft-07, the default of
AsyncAPI, would read otherwise, so any tool takes them.
"""

from typing import Any

from agrajag import __version__
from agrajag.schemas.examples import example_of
from agrajag.schemas.records import RECORDS, Record
from agrajag.wire import dead_letters
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import (
    DEAD_LETTER_CONFIG,
    DEFAULT_PARTITIONS,
    DEFAULT_PREFIX,
    Topic,
    Topics,
    TopicSpec,
)

_BINDING = {"bindingVersion": "0.5.0"}
_NUMBERS = frozenset({"retention.ms", "delete.retention.ms", "max.message.bytes", "min.compaction.lag.ms"})

_DESCRIPTION = """\
Agrajag takes the tool errors of any service over Kafka, decides whose fault each one is, and publishes the health of
every tool.

Values are UTF-8 JSON. Agrajag leaves out a field that has no value; readers ignore fields that they do not know.

Record keys are parts joined by `|`. Inside a part `%` is written `%25` and `|` is written `%7C`; a missing project is
`-`, and one that is called `-` is written `%2D`. A record belongs on partition murmur2(key) mod n, as Kafka's own
clients choose it. From the topics that services write, a record on another partition is sent on to its right one, under
its right key.

Agrajag reads plain JSON and CloudEvents 1.0 in binary and structured mode, and writes binary mode.
"""
_KEY = {
    "tenant|tool": "The tenant and the tool.",
    "tenant|linkId": "The tenant and the link.",
    "tenant|project": "The tenant and the project; `-` where there is none.",
    "tenant|scope|scopeId|tool": "The tenant, the scope, its id (empty for GLOBAL) and the tool.",
    "tenant|project|path": "The tenant, the project (`-` for the tenant's own) and the path.",
    "item id": "The item's id.",
}
_LETTER_HEADERS = {
    dead_letters.REASON: "Why it could not be used.",
    dead_letters.DETAIL: "Which field, and what is wrong with it; never what was in it.",
    dead_letters.TOPIC: "The topic it was read from.",
    dead_letters.PARTITION: "The partition it was read from.",
    dead_letters.OFFSET: "Its offset there.",
    dead_letters.TIMESTAMP: "Its time there, in ms.",
    dead_letters.ID: "Topic, partition and offset: a letter that was written twice has it twice.",
    dead_letters.CUT_FROM: "How many bytes it had, where it did not fit and was cut.",
}
_TOMBSTONE: dict[str, Any] = {
    "name": "tombstone",
    "title": "Tombstone",
    "summary": "What stood under this key is gone.",
    "headers": {
        "type": "object",
        "properties": {
            REVISION_HEADER: {
                "type": "string",
                "pattern": "^[0-9]+$",
                "description": "Only what has a lower revision is gone.",
            }
        },
        "required": [REVISION_HEADER],
    },
    "payload": {"type": "null"},
    "examples": [{"name": "tombstone", "headers": {REVISION_HEADER: "1779537642001"}, "payload": None}],
}


def asyncapi_document() -> dict[str, Any]:
    """The document, ready to be written as YAML."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Agrajag",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": dict(_channels()),
        "operations": dict(_operations()),
        "components": {
            "messages": {
                **{_message_name(record): _message(record) for record in RECORDS},
                "tombstone": _TOMBSTONE,
                "deadLetter": _dead_letter(),
            },
            "parameters": {
                "prefix": {
                    "default": DEFAULT_PREFIX,
                    "description": "What all topics of one installation begin with: `AGRAJAG_TOPICS_PREFIX`.",
                }
            },
        },
    }


def _channels() -> list[tuple[str, dict[str, Any]]]:
    topics = Topics("{prefix}")
    channels = []
    for topic, records in _by_topic().items():
        spec, channel = records[0].spec, _channel_name(topic)
        messages = [*map(_message_name, records), *(["tombstone"] if spec.compacted else [])]
        partitions = 1 if spec.one_partition else DEFAULT_PARTITIONS
        described = _channel(topics.name(topic), _summary(records), messages, partitions, spec.config())
        channels.append((channel, described))
        if spec.dead_letters:
            summary = f"What could not be read from {topics.name(topic)}."
            letters = _channel(topics.dead_letters(topic), summary, ["deadLetter"], 1, DEAD_LETTER_CONFIG)
            channels.append((f"{channel}Dlq", letters))
    return channels


def _by_topic() -> dict[Topic, list[Record]]:
    """The records that share a topic; a topic is one channel, whatever travels on it."""
    by_topic: dict[Topic, list[Record]] = {}
    for record in RECORDS:
        by_topic.setdefault(record.topic, []).append(record)
    return by_topic


def _summary(records: list[Record]) -> str:
    return " ".join(record.summary for record in records)


def _channel(
    address: str, summary: str, messages: list[str], partitions: int, config: dict[str, str]
) -> dict[str, Any]:
    return {
        "address": address,
        "summary": summary,
        "parameters": {"prefix": {"$ref": "#/components/parameters/prefix"}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "bindings": {
            "kafka": {"partitions": partitions, "topicConfiguration": _configuration(config), **_BINDING}
        },
    }


def _configuration(config: dict[str, str]) -> dict[str, Any]:
    configuration: dict[str, Any] = {
        name: int(value) if name in _NUMBERS else value for name, value in config.items()
    }
    return configuration | {"cleanup.policy": [config["cleanup.policy"]]}


def _operations() -> list[tuple[str, dict[str, Any]]]:
    """What Agrajag does with each topic, its own records between its parts included."""
    operations = []
    for topic, records in _by_topic().items():
        channel = _channel_name(topic)
        received = any(record.received for record in records)
        sent = any(record.sent for record in records)
        for done, action in ((received, "receive"), (sent, "send")):
            if done:
                operation = _operation(action, channel, _summary(records))
                if topic is Topic.TOOL_CALL_ERRORS:
                    operation["reply"] = {"channel": {"$ref": "#/channels/checkResults"}}
                operations.append((f"{action}{channel[0].upper()}{channel[1:]}", operation))
        if records[0].spec.dead_letters:
            letters = f"{channel}Dlq"
            summary = f"A record of {topic} could not be used."
            operations.append(
                (f"send{letters[0].upper()}{letters[1:]}", _operation("send", letters, summary))
            )
    return operations


def _operation(action: str, channel: str, summary: str) -> dict[str, Any]:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _message(record: Record) -> dict[str, Any]:
    shown = example_of(record)
    return {
        "name": record.event_type.value,
        "title": record.model.__name__,
        "summary": record.summary,
        "contentType": "application/json",
        "headers": _headers(record),
        "payload": {"$ref": f"./{record.file_name}"},
        "bindings": {"kafka": {"key": _key(record.spec, shown.key), **_BINDING}},
        "examples": [{"name": record.name, "headers": shown.headers, "payload": shown.value}],
    }


def _key(spec: TopicSpec, shown: str) -> dict[str, Any]:
    return {"type": "string", "description": f"`{spec.key}`. {_KEY[spec.key]}", "examples": [shown]}


def _headers(record: Record) -> dict[str, Any]:
    """Those of CloudEvents' binary mode: asked of nobody, but written on everything."""
    properties: dict[str, Any] = {
        "ce_specversion": {"type": "string", "const": "1.0"},
        "ce_type": {"type": "string", "const": record.event_type.value},
        "ce_source": {"type": "string", "description": "Who wrote it."},
        "ce_id": {"type": "string", "description": "Unique within its source."},
        "content-type": {"type": "string", "const": "application/json"},
    }
    headers: dict[str, Any] = {"type": "object", "properties": properties}
    if record.form == "output":
        return headers | {"required": sorted(properties)}
    properties["ce_time"] = {
        "type": "string",
        "format": "date-time",
        "description": "When it happened, where the value does not say so.",
    }
    return headers


def _dead_letter() -> dict[str, Any]:
    properties: dict[str, Any] = {
        name: {"type": "string", "description": description} for name, description in _LETTER_HEADERS.items()
    }
    properties[dead_letters.REASON]["enum"] = [str(reason) for reason in DeadLetterReason]
    return {
        "name": "dead-letter",
        "title": "DeadLetter",
        "summary": "A record as it was received, with the reason in headers; its own headers are there too.",
        "headers": {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name != dead_letters.CUT_FROM],
        },
        "payload": {"description": "Any bytes."},
        "examples": [
            {
                "name": "dead-letter",
                "headers": {
                    dead_letters.REASON: str(DeadLetterReason.MISSING_FIELD),
                    dead_letters.DETAIL: "tenantId: missing",
                    dead_letters.TOPIC: f"{DEFAULT_PREFIX}.tool-call-errors.v1",
                    dead_letters.PARTITION: "3",
                    dead_letters.OFFSET: "41",
                    dead_letters.TIMESTAMP: "1779537600000",
                    dead_letters.ID: f"{DEFAULT_PREFIX}.tool-call-errors.v1-3-41",
                },
                "payload": {"toolName": "mcp_search", "error": {"httpStatus": 502}},
            }
        ],
    }


def _channel_name(topic: Topic) -> str:
    return _camel(topic.value)


def _message_name(record: Record) -> str:
    return _camel(record.name.partition(".")[0])


def _camel(name: str) -> str:
    first, *others = name.split("-")
    return first + "".join(word.capitalize() for word in others)

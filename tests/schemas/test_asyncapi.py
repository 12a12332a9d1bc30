"""The AsyncAPI document names what is really there, and everything in it fits together."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import yaml

from agrajag import __version__
from agrajag.documents.rule_files import read_layer
from agrajag.errors import InputError
from agrajag.model.enums import Scope
from agrajag.model.keys import document_key, health_key, lane_key, link_key, tool_key
from agrajag.schemas.asyncapi import asyncapi_document
from agrajag.schemas.examples import Example, example_of
from agrajag.schemas.json_schema import record_schema
from agrajag.schemas.records import RECORDS, Record
from agrajag.wire.cloudevents import EventType
from agrajag.wire.codec import decode
from agrajag.wire.dead_letters import dead_letter
from agrajag.wire.topics import DEFAULT_PREFIX, Topic, Topics
from tests.wire.records import received

DOCUMENT = asyncapi_document()
MESSAGES: dict[str, Any] = DOCUMENT["components"]["messages"]
FILES = {f"./{record.file_name}": record_schema(record) for record in RECORDS}
by_name = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)


def every(key: str, tree: Any = DOCUMENT) -> Iterator[Any]:
    """Each value under `key`, however deep; examples are not searched."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            elif name != "examples":
                yield from every(key, value)
    elif isinstance(tree, list):
        for value in tree:
            yield from every(key, value)


def at(reference: str) -> Any:
    """What a reference within the document points at."""
    found: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def message_of(record: Record) -> dict[str, Any]:
    return next(message for message in MESSAGES.values() if message["name"] == record.event_type)


def test_it_is_an_asyncapi_3_document_of_this_version() -> None:
    assert DOCUMENT["asyncapi"].startswith("3.")
    assert DOCUMENT["info"]["version"] == __version__
    assert DOCUMENT["info"].keys() >= {"title", "version", "description"}


def test_every_reference_points_at_something_that_is_there() -> None:
    references = list(every("$ref"))
    assert references
    for reference in references:
        assert at(reference) if reference.startswith("#/") else FILES[reference], reference


def test_every_topic_but_the_workers_own_memory_is_a_channel_with_its_settings() -> None:
    prefix = DOCUMENT["components"]["parameters"]["prefix"]["default"]
    assert prefix == DEFAULT_PREFIX
    addresses = {
        channel["address"].format(prefix=prefix): channel for channel in DOCUMENT["channels"].values()
    }
    topics = Topics()
    planned = {topic.name: topic for topic in topics.planned()}
    assert addresses.keys() == planned.keys() - {topics.name(Topic.HEALTH_CHANGELOG)}
    for address, channel in addresses.items():
        kafka = channel["bindings"]["kafka"]
        assert kafka["partitions"] == planned[address].partitions
        told = kafka["topicConfiguration"] | {
            "cleanup.policy": ",".join(kafka["topicConfiguration"]["cleanup.policy"])
        }
        assert {name: str(value) for name, value in told.items()} == planned[address].config


def test_every_channel_is_used_and_every_operation_names_a_channel() -> None:
    used = [operation["channel"]["$ref"] for operation in DOCUMENT["operations"].values()]
    assert {f"#/channels/{name}" for name in DOCUMENT["channels"]} == set(used)
    assert {operation["action"] for operation in DOCUMENT["operations"].values()} == {"send", "receive"}


def test_every_message_stands_in_a_channel_and_every_channel_has_one() -> None:
    used = {
        message["$ref"]
        for channel in DOCUMENT["channels"].values()
        for message in channel["messages"].values()
    }
    assert used == {f"#/components/messages/{name}" for name in MESSAGES}
    assert all(channel["messages"] for channel in DOCUMENT["channels"].values())


def test_every_kind_of_record_is_described_once() -> None:
    assert sorted(record.event_type for record in RECORDS) == sorted(EventType)
    assert sorted(message["name"] for message in MESSAGES.values()) == sorted(
        [*EventType, "dead-letter", "tombstone"]
    )


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_has_one_example_that_fits_its_own_schemas(name: str) -> None:
    message = MESSAGES[name]
    (shown,) = message["examples"]
    payload = FILES.get(message["payload"].get("$ref"), message["payload"])
    for schema, value in ((payload, shown["payload"]), (message["headers"], shown["headers"])):
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True).validate(value)
        older = {name: said for name, said in schema.items() if name != "$schema"}
        jsonschema_rs.Draft7Validator(older, validate_formats=True).validate(value)


@by_name
def test_the_example_is_read_by_our_own_codec(record: Record) -> None:
    shown = example_of(record)
    headers = [(name, value.encode()) for name, value in shown.headers.items()]
    read = decode(record.model, received(shown.value, headers, key=shown.key.encode()))
    assert (
        json.loads(read.to_json()).items()
        >= {name: value for name, value in shown.value.items() if not isinstance(value, dict)}.items()
    )


@by_name
def test_the_key_of_the_example_is_the_one_that_belongs_to_it(record: Record) -> None:
    shown = example_of(record)
    assert shown.key == key_of(shown, record.spec.key)
    assert message_of(record)["bindings"]["kafka"]["key"]["examples"] == [shown.key]


def key_of(shown: Example, kind: str) -> str:
    value = shown.value
    match kind:
        case "tenant|tool":
            return tool_key(value["tenantId"], value["toolName"])
        case "tenant|linkId":
            return link_key(value["tenantId"], value["linkId"])
        case "tenant|project":
            return lane_key(value["tenantId"], value["projectId"])
        case "tenant|scope|scopeId|tool":
            return health_key(value["tenantId"], Scope(value["scope"]), value["scopeId"], value["toolName"])
        case "tenant|project|path":
            return document_key(value["tenantId"], value["projectId"], value["path"])
        case "item id":
            return str(value["itemId"])
    raise AssertionError(kind)


def test_the_rule_file_of_the_example_is_one_that_is_accepted() -> None:
    shown = next(example_of(record) for record in RECORDS if record.name == "document.v1")
    layer = read_layer(shown.value["content"], shown.value["path"])
    assert layer.problems == ()
    assert [rule.id for rule in layer.rules] == ["search-quota"]


def test_a_dead_letter_has_the_headers_that_the_document_tells_of() -> None:
    described = MESSAGES["deadLetter"]["headers"]
    huge = dead_letter(received(b"x" * 3_000_000), InputError("too_large", "…"), "letters")
    assert {name for name, _ in huge.headers} == described["properties"].keys()
    ordinary = dead_letter(received({}), InputError("missing_field", "tenantId: missing"), "letters")
    assert {name for name, _ in ordinary.headers} == set(described["required"])


def test_a_compacted_topic_may_hold_tombstones_and_no_other_does() -> None:
    for record in RECORDS:
        channel = next(
            channel
            for channel in DOCUMENT["channels"].values()
            if channel["address"] == Topics("{prefix}").name(record.topic)
        )
        assert ("tombstone" in channel["messages"]) == record.spec.compacted


def test_it_survives_yaml() -> None:
    assert yaml.safe_load(yaml.safe_dump(DOCUMENT)) == DOCUMENT

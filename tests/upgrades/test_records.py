"""What earlier releases wrote to Kafka is read by this one, and nothing of it is lost."""

import base64
import json
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import pytest

from agrajag.errors import InputError
from agrajag.model.health import HealthEntry
from agrajag.schemas.records import RECORDS
from agrajag.stream.entries import EntryCodec
from agrajag.wire.codec import decode
from agrajag.wire.origin import Origin
from agrajag.wire.topics import Topic, Topics
from tests.upgrades.recording import recorded, releases

NAMES = Topics()


class Received(NamedTuple):
    """A record as a consumer gets it."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


def received(told: dict[str, Any]) -> Received:
    headers = tuple((name, base64.b64decode(value)) for name, value in told["headers"])
    key, value = (None if told[part] is None else base64.b64decode(told[part]) for part in ("key", "value"))
    return Received(told["topic"], told["partition"], told["offset"], told["timestamp"], key, value, headers)


def by_topic(release: str) -> dict[str, list[Received]]:
    records = map(received, recorded(release))
    return {topic: list(found) for topic, found in groupby(records, key=lambda one: one.topic)}


def values(records: list[Received]) -> Iterator[Received]:
    return (one for one in records if one.value)


def said(before: Any, after: Any) -> bool:
    """Whether `after` says all that `before` said; a list says the same number of things."""
    match before, after:
        case dict(), dict():
            return all(name in after and said(value, after[name]) for name, value in before.items())
        case list(), list():
            return len(before) == len(after) and all(map(said, before, after))
        case str(), str():
            return before == after or moment(before) == moment(after) is not None
        case _:
            return bool(before == after)


def moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


@pytest.mark.parametrize("release", releases())
def test_every_topic_of_an_earlier_release_still_has_its_name(release: str) -> None:
    now = {NAMES.name(topic) for topic in Topic} | {NAMES.dead_letters(topic) for topic in Topic}
    assert by_topic(release).keys() <= now


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
@pytest.mark.parametrize("release", releases())
def test_what_an_earlier_release_sent_says_the_same_to_this_one(release: str, record: Any) -> None:
    mine = ("ce_type", record.event_type.value.encode())
    found = [
        one
        for one in values(by_topic(release)[NAMES.name(record.topic)])
        if mine in one.headers or record.open_to_others
    ]
    read = 0
    for one in found:
        origin = Origin(one.topic, one.partition, one.offset)
        try:
            now = decode(record.model, one, origin)
        except InputError:
            continue
        read += 1
        assert said(json.loads(one.value or b""), json.loads(now.to_json())), one
    refused = len(by_topic(release).get(f"{NAMES.name(record.topic)}.dlq", ()))
    assert read == len(found) - refused
    assert read or record.name in UNSEEN


UNSEEN = frozenset({"run-usage.v1"})
"""What the demo never sends: it asks no model."""


@pytest.mark.parametrize("release", releases())
def test_the_table_of_an_earlier_release_is_the_table_of_this_one(release: str) -> None:
    codec, seen = EntryCodec(), 0
    for one in values(by_topic(release)[NAMES.name(Topic.HEALTH_CHANGELOG)]):
        before = json.loads(one.value or b"")
        if "revision" in before and len(before) > 1:
            entry = codec.decode(one.value or b"")
            assert isinstance(entry, HealthEntry)
            assert said(before, json.loads(codec.encode(entry)))
            seen += entry.health is not None
    assert seen

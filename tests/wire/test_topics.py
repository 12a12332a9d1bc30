"""The table of topics: what must hold for all of them."""

from collections import Counter

import pytest

from agrajag.wire.codec import MAX_VALUE_BYTES
from agrajag.wire.topics import (
    DEAD_LETTER_BYTES,
    DEFAULT_PARTITIONS,
    MAX_REQUEST_BYTES,
    TOPICS,
    Topic,
    Topics,
    TopicSpec,
)

INPUTS = {
    Topic.TOOL_CALL_ERRORS,
    Topic.TOOL_CALL_SUCCESSES,
    Topic.SYSTEM_EVENTS,
    Topic.TOOL_LINKS,
    Topic.HEALTH_COMMANDS,
    Topic.DIAGNOSIS_RESULTS,
}
CO_PARTITIONED = INPUTS | {Topic.HEALTH_CHANGED, Topic.HEALTH_CHANGELOG}
PLANNED = {planned.name: planned for planned in Topics("acme", 7).planned()}


def test_every_topic_is_described_once() -> None:
    assert Counter(spec.topic for spec in TOPICS) == Counter(Topic)


def test_names_are_made_of_prefix_topic_and_version() -> None:
    topics = Topics("acme")
    assert topics.name(Topic.HEALTH_CHANGED) == "acme.health-changed.v1"
    assert topics.dead_letters(Topic.HEALTH_CHANGED) == "acme.health-changed.v1.dlq"
    assert Topics().partitions == DEFAULT_PARTITIONS == 32


@pytest.mark.parametrize("topic", Topic)
def test_a_topic_is_known_by_its_name(topic: Topic) -> None:
    assert Topics("acme").topic(f"acme.{topic}.v1") is topic


@pytest.mark.parametrize(
    "name", ["agrajag.health-changed.v1", "acme.health-changed.v1.dlq", "", "health-changed"]
)
def test_a_name_of_another_installation_is_not_known(name: str) -> None:
    assert Topics("acme").topic(name) is None


@pytest.mark.parametrize("topic", sorted(CO_PARTITIONED))
def test_what_the_worker_joins_has_one_partition_count(topic: Topic) -> None:
    assert PLANNED[f"acme.{topic}.v1"].partitions == 7


@pytest.mark.parametrize("topic", sorted(INPUTS))
def test_inputs_of_the_worker_are_stamped_by_the_broker(topic: Topic) -> None:
    assert PLANNED[f"acme.{topic}.v1"].config["message.timestamp.type"] == "LogAppendTime"


@pytest.mark.parametrize("topic", sorted(INPUTS))
def test_inputs_of_the_worker_are_measured_as_they_unpack(topic: Topic) -> None:
    assert PLANNED[f"acme.{topic}.v1"].config["compression.type"] == "uncompressed"


@pytest.mark.parametrize("topic", [Topic.HEALTH_CHANGED, Topic.HEALTH_CHANGELOG])
def test_documents_of_the_last_day_are_not_compacted_away(topic: Topic) -> None:
    config = PLANNED[f"acme.{topic}.v1"].config
    assert config["cleanup.policy"] == "compact"
    assert config["min.compaction.lag.ms"] == "86400000"
    assert "retention.ms" not in config


@pytest.mark.parametrize("spec", TOPICS, ids=lambda spec: spec.topic)
def test_a_topic_either_forgets_or_compacts(spec: TopicSpec) -> None:
    config = spec.config()
    assert (config["cleanup.policy"] == "delete") == ("retention.ms" in config)


def test_whatever_an_input_takes_in_fits_into_its_dead_letters() -> None:
    for topic in INPUTS:
        largest = int(PLANNED[f"acme.{topic}.v1"].config["max.message.bytes"])
        assert MAX_VALUE_BYTES + 32_768 < largest < DEAD_LETTER_BYTES - 32_768
        assert PLANNED[f"acme.{topic}.v1.dlq"].config["max.message.bytes"] == str(DEAD_LETTER_BYTES)


def test_no_topic_takes_more_than_our_producers_can_send() -> None:
    assert all(int(planned.config["max.message.bytes"]) <= MAX_REQUEST_BYTES for planned in PLANNED.values())

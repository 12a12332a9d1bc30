"""A document that is gone: its tombstone, what repeats do to it, and how it comes back."""

from agrajag.model.enums import Scope
from agrajag.model.health import HealthEntry, ToolHealth
from agrajag.model.keys import health_key
from agrajag.wire.health_records import health_change
from agrajag.wire.outputs import REVISION_HEADER
from agrajag.wire.topics import Topic
from tests.builders import NOW, an_error
from tests.stream.test_triaging import Partition, of

KEY = health_key("acme", Scope.PROJECT, "essays", "search").encode()


def standing(partition: Partition) -> HealthEntry:
    entry = partition.memory.view(partition.number).get(KEY)
    assert entry is not None
    return entry


def bury(partition: Partition) -> HealthEntry:
    """Let the document of `KEY` be gone, as a timer or a person does."""
    entry = standing(partition)
    gone = entry.with_changes(revision=entry.revision + 1, health=None, jobs=())
    partition.memory.merge(partition.number, {KEY: (gone.revision, gone)}, NOW.timestamp())
    return gone


def test_a_repeat_does_not_bring_a_gone_document_back_and_sends_its_tombstone_again() -> None:
    partition = Partition()
    records = partition.records([an_error(event_id="e1", http_status=503)])
    partition.run(records)
    gone = bury(partition)
    outputs = partition.run(records)
    assert standing(partition) == gone
    assert of(Topic.DIAGNOSIS_JOBS, outputs) == []
    (tombstone,) = of(Topic.HEALTH_CHANGED, outputs)
    assert (tombstone.key, tombstone.value, tombstone.partition) == (KEY, None, partition.number)
    assert dict(tombstone.headers)[REVISION_HEADER] == b"%d" % gone.revision


def test_readers_take_the_tombstone_of_a_gone_document_as_its_deletion() -> None:
    partition = Partition()
    records = partition.records([an_error(event_id="e1", http_status=503)])
    partition.run(records)
    gone = bury(partition)
    (tombstone,) = of(Topic.HEALTH_CHANGED, partition.run(records))
    received = partition.record(None)
    received.key, received.headers = tombstone.key, tombstone.headers
    change = health_change(received)
    assert (change.key, change.revision, change.health) == (KEY.decode(), gone.revision, None)


def test_a_new_error_brings_a_gone_document_back_above_its_tombstone_and_as_if_it_were_new() -> None:
    partition = Partition()
    partition.run(partition.records([an_error(event_id="e1", http_status=503)]))
    gone = bury(partition)
    (changed,) = of(
        Topic.HEALTH_CHANGED, partition.run(partition.records([an_error(event_id="e2", http_status=503)]))
    )
    health = ToolHealth.model_validate_json(changed.value or b"")
    assert health.revision > gone.revision
    assert health.counters.errors == 1

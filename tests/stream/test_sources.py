"""Source topics that hold less than was done: they are refused before anything is taken for a repetition."""

from collections.abc import Mapping

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from agrajag.errors import ConfigError
from agrajag.stream.sources import refuse_sources_made_again
from tests.stream.counting import PARTITIONS, Count
from tests.stream.workers import Run
from tests.waiting import eventually


async def _check(run: Run, group: str | None = None) -> int:
    """How many values of the table the check looked at."""
    events = run.plan.topic("events")
    looked_at = 0

    def applied(raw: bytes) -> Mapping[str, int]:
        nonlocal looked_at
        looked_at += 1
        return {f"{events}-{partition}": Count.decode(raw).applied for partition in range(PARTITIONS)}

    await refuse_sources_made_again(
        [run.plan.topic("unused"), events],
        run.plan.topic("changelog"),
        partitions=PARTITIONS,
        group=group or run.plan.prefix,
        applied=applied,
        **run.plan.settings().connection.client_options(),
    )
    return looked_at


async def _count(run: Run, events: int) -> None:
    worker = run.start()
    await run.send(events)
    await run.counted()
    assert worker.stop() == 0


async def _make_again(run: Run, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=run.plan.bootstrap_servers)
    await admin.start()

    async def is_gone() -> bool:
        return topic not in await admin.list_topics()

    try:
        await admin.delete_topics([topic])
        await eventually(is_gone, 30)
        await admin.create_topics([NewTopic(topic, PARTITIONS, 1)])
    finally:
        await admin.close()


async def test_topics_in_which_nothing_happened_yet_are_fit(run: Run) -> None:
    await _check(run)


async def test_a_source_that_was_deleted_and_made_again_is_refused(run: Run) -> None:
    await _count(run, 400)
    await _check(run)
    await _make_again(run, run.plan.topic("events"))
    with pytest.raises(ConfigError, match=r"events.v1 partition \d ends at 0, but .* has done up to \d+:"):
        await _check(run)


async def test_a_source_that_nobody_uses_makes_only_the_first_start_read_the_table(run: Run) -> None:
    await _count(run, 400)
    assert await _check(run) > 0
    assert await _check(run) == 0


async def test_commits_that_were_forgotten_are_no_reason_to_refuse_a_whole_source(run: Run) -> None:
    await _count(run, 400)
    await _check(run, group=f"{run.plan.prefix}-never-seen")


async def test_a_source_that_ends_before_what_was_committed_is_refused(run: Run) -> None:
    place = TopicPartition(run.plan.topic("events"), 1)
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        await producer.send_and_wait(place.topic, b"event", partition=1)
    options = {"bootstrap_servers": run.plan.bootstrap_servers, "group_id": run.plan.prefix}
    async with AIOKafkaConsumer(enable_auto_commit=False, **options) as consumer:
        consumer.assign([place])
        await consumer.commit({place: 1})
        await _check(run)
        await consumer.commit({place: 2})
    with pytest.raises(ConfigError, match=r"events.v1 partition 1 ends at 1, but .* has done up to 2:"):
        await _check(run)


async def test_a_changelog_record_that_cannot_be_read_is_no_reason_to_refuse(run: Run) -> None:
    async with AIOKafkaProducer(bootstrap_servers=run.plan.bootstrap_servers) as producer:
        await producer.send_and_wait(run.plan.topic("changelog"), b"no value of ours", key=b"k")
        await producer.send_and_wait(run.plan.topic("changelog"), None, key=b"k")
    await _check(run)

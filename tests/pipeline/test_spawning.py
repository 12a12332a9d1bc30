"""A parent that waits for a diagnosis, with the real worker and the real diagnosis behind it."""

from datetime import UTC, datetime, timedelta

import pytest

from agrajag.model.enums import Classification
from agrajag.service.parent_report import Parent, SpawnEnd
from agrajag.service.spawning import Spawner
from agrajag.wire.clients import KafkaConnection
from tests.pipeline.runs import Run

ARTHUR = Parent("acme", "proc-arthur", "essays", "alice")


def in_an_hour() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


@pytest.mark.slow  # a worker and a diagnosis start, and each takes its partitions
async def test_a_parent_has_its_verdict_and_the_same_one_when_it_asks_again_long_after(run: Run) -> None:
    run.start()
    environment = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": run.plan.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": run.plan.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(run.plan.topics.partitions),
    }
    run.start_module(["tests.pipeline.diagnosing"], environment)
    connection = KafkaConnection(run.plan.bootstrap_servers)
    params = {"toolName": "search"}
    spawner = Spawner(connection, run.plan.topics)
    report = await spawner.spawn("agrajag", params, ARTHUR, wait_seconds=60.0, request_id="asked")
    assert report.payload.end is SpawnEnd.ANSWERED, run.logs()
    assert (report.payload.verdict, report.payload.applied) == (Classification.UNCLEAR, False)
    assert "search" in report.summary

    later = Spawner(connection, run.plan.topics, in_an_hour)
    again = await later.spawn("agrajag", params, ARTHUR, wait_seconds=30.0, request_id="asked")
    assert again == report
    assert len(await run.jobs()) == 1

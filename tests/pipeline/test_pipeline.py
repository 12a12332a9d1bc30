"""The worker on a real Kafka: errors in, documents, jobs, answers and dead letters out."""

import zlib
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from agrajag.model.enums import Outcome, Scope, Status
from agrajag.model.keys import health_key, tool_key
from agrajag.wire.partition import partition_for
from tests.builders import an_error
from tests.pipeline.load import errors
from tests.pipeline.process import PARTITIONS
from tests.pipeline.runs import Run, Sent, ids_of, sent


def now() -> datetime:
    return datetime.now(UTC)


async def test_an_error_becomes_a_document_a_job_and_an_answer(run: Run) -> None:
    run.start()
    refused = an_error(event_id="e1", occurred_at=now(), exception_type="httpx.ConnectError", reply_to="me")
    unclear = an_error(event_id="e2", occurred_at=now(), http_status=503, reply_to="me")
    await run.send([sent(refused), sent(unclear)])
    answers = {answer.event_id: answer for answer in await run.answered({"e1", "e2"})}
    assert (answers["e1"].outcome, answers["e1"].status) == (Outcome.MARKED, Status.DOWN)
    assert (answers["e2"].outcome, answers["e2"].hint) == (Outcome.ENQUEUED, "diagnosis pending")
    assert answers["e1"].reply_to == "me"
    documents = await run.documents()
    health = documents[health_key("acme", Scope.PROJECT, "essays", "search")]
    assert health.status is Status.DOWN
    assert health.counters.errors == 2
    assert [job.job_id for job in await run.jobs()] == [answers["e2"].job_id]
    entries = await run.entries()
    assert {key: entry.health for key, entry in entries.items()} == documents


async def test_every_broken_record_becomes_one_dead_letter_and_the_others_go_on(run: Run) -> None:
    run.start()
    good = an_error(event_id="good", occurred_at=now(), http_status=503, reply_to="me").to_json()
    broken = [
        b"this is no JSON",
        b"[1, 2, 3]",
        b'{"tenantId": "acme", "error": {}}',
        b'{"tenantId": "acme", "toolName": 7, "error": {}}',
        b'{"tenantId": "%s", "toolName": "t", "error": {}}' % (b"x" * 300),
        b'{"tenantId": "ac\\u0000me", "toolName": "t", "error": {}}',
        b'{"tenantId": "acme", "toolName": "\\ud800", "error": {}}',
        b"[" * 5_000,
        b"\xff\xfe",
        b"",
    ]
    records = [Sent(value, b"any", number % PARTITIONS) for number, value in enumerate(broken)]
    key = tool_key("acme", "search").encode()
    await run.send([*records, Sent(good, key)])
    await run.answered({"good"})

    async def all_set_aside() -> bool:
        letters = await run.dead_letters()
        assert Counter(letter.value for letter in letters) == Counter(broken)
        return True

    await run.settled(all_set_aside)
    for letter in await run.dead_letters():
        headers = dict(letter.headers)
        assert headers["agrajag-dlq-reason"]
        assert headers["agrajag-dlq-topic"].decode() == run.plan.topics.name("tool-call-errors")  # type: ignore[arg-type]


async def test_a_producer_that_hashes_keys_with_crc32_is_served_right(run: Run) -> None:
    run.start()
    events = errors(300)
    records = []
    for event in events:
        key = tool_key(event.tenant_id, event.tool_name).encode()
        records.append(sent(event, zlib.crc32(key) % PARTITIONS))
    misplaced = sum(record.partition != partition_for(record.key, PARTITIONS) for record in records)
    assert misplaced > 100
    await run.send(records)
    answers = await run.answered(ids_of(events))
    assert len(answers) == len(events)
    entries = await run.entries()
    counted = sum(entry.health.counters.errors for entry in entries.values() if entry.health)
    assert counted == len(events)
    for record in await run.read(run.plan.topics.name("health-changed")):  # type: ignore[arg-type]
        tenant, _, _, tool = record.key.decode().split("|")
        assert partition_for(tool_key(tenant, tool).encode(), PARTITIONS) == record.partition


async def test_ten_thousand_equal_errors_of_a_thousand_users_are_one_job(run: Run) -> None:
    run.start()
    at = now() - timedelta(seconds=1)
    events = [
        an_error(event_id=f"e{number}", occurred_at=at, http_status=503, user_id=f"user-{number % 1000}")
        for number in range(10_000)
    ]
    await run.send(map(sent, events))
    key = health_key("acme", Scope.PROJECT, "essays", "search")

    async def all_counted() -> bool:
        documents = await run.documents()
        assert key in documents
        assert documents[key].counters.errors == 10_000
        return True

    await run.settled(all_counted)
    counters = (await run.documents())[key].counters
    assert (counters.jobs, counters.coalesced) == (1, 9_999)
    jobs = await run.jobs()
    assert len({job.job_id for job in jobs}) == 1
    assert len(jobs) <= 4


async def test_an_event_that_a_producer_sends_twice_is_a_further_signal_and_no_second_job(run: Run) -> None:
    run.start()
    event = an_error(event_id="same", occurred_at=now(), http_status=503)
    await run.send([sent(event), sent(event), sent(event)])
    key = health_key("acme", Scope.PROJECT, "essays", "search")

    async def all_counted() -> bool:
        documents = await run.documents()
        return key in documents and documents[key].counters.errors == 3

    await run.settled(all_counted)
    assert len({job.job_id for job in await run.jobs()}) == 1


async def test_equal_names_of_two_tenants_never_meet(run: Run) -> None:
    run.start()
    tricky = [("a|b", "c"), ("a", "b|c"), ("a%7Cb", "c"), ("a", "b%7Cc")]
    events = [
        an_error(
            event_id=f"e{n}",
            occurred_at=now(),
            tenant_id=tenant,
            tool_name=tool,
            http_status=503,
            reply_to="me",
        )
        for n, (tenant, tool) in enumerate(tricky)
    ]
    await run.send(map(sent, events))
    await run.answered(ids_of(events))
    documents = (await run.documents()).values()
    assert {(health.tenant_id, health.tool_name) for health in documents} == set(tricky)
    assert all(health.counters.errors == 1 for health in documents)


@pytest.mark.slow
async def test_many_users_documents_of_one_tool_fit_though_they_change_together(run: Run) -> None:
    at = now()
    events = [
        an_error(
            event_id=f"e{number}",
            occurred_at=at,
            http_status=403,
            user_id=f"{'u' * 240}-{number}",
            reply_to="me",
        )
        for number in range(3_000)
    ]
    await run.send(map(sent, events))
    run.start()
    await run.answered(ids_of(events))
    assert len(await run.documents()) == 3_000

"""The ledger goes forward only: however often and in whatever order records come, the latest of a call stands."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from agrajag.errors import PermanentError
from agrajag.harness import EvidenceStatus
from agrajag.investigation.envelope import Evaluation
from agrajag.investigation.ledger import MemoryLedger, StoreLedger, step_of
from agrajag.investigation.records import InvocationRecord, InvocationState
from agrajag.store import Store
from agrajag.store.expiry import KEPT_FOR
from tests.investigation.records import NOW, a_ready, a_started, an_evaluated

HISTORY = (a_started(), a_ready(), an_evaluated())
FAILED = a_started(
    state=InvocationState.FAILED,
    evidence_status=EvidenceStatus.ERROR,
    error_code="SOURCE_TIMEOUT",
    ended_at=NOW,
)


@pytest.fixture(params=["memory", "store"])
def ledger(request: pytest.FixtureRequest) -> MemoryLedger | StoreLedger:
    if request.param == "memory":
        return MemoryLedger()
    store: Store = request.getfixturevalue("opened")
    return StoreLedger(store.invocations)


async def test_the_latest_of_a_call_stands_in_whatever_order_its_records_come(
    ledger: MemoryLedger | StoreLedger,
) -> None:
    for number, order in enumerate(itertools.permutations(HISTORY)):
        run = f"run-{number}"
        for record in (*order, order[0]):
            await ledger.write(record.model_copy(update={"run_id": run}))
        assert await ledger.of_run(run) == [HISTORY[-1].model_copy(update={"run_id": run})]


async def test_an_end_is_final_and_a_failure_is_one(ledger: MemoryLedger | StoreLedger) -> None:
    for record in (a_started(), FAILED, a_ready(), a_started()):
        await ledger.write(record)
    assert await ledger.of_run("run-1") == [FAILED]


async def test_what_a_call_was_worth_is_said_once(ledger: MemoryLedger | StoreLedger) -> None:
    for record in (an_evaluated(), an_evaluated(evaluation=Evaluation.NO_GAIN)):
        await ledger.write(record)
    assert await ledger.of_run("run-1") == [an_evaluated()]


async def test_calls_of_one_id_in_two_runs_are_two_and_a_run_lists_its_own_in_their_order(
    ledger: MemoryLedger | StoreLedger,
) -> None:
    first, second = a_ready(tool_call_id="b"), a_started(tool_call_id="a|", started_at=NOW + timedelta(1))
    await ledger.write(first)
    await ledger.write(a_started(run_id="run-2", tool_call_id="b"))
    await ledger.write(second)
    assert await ledger.of_run("run-1") == [first, second]


def test_a_record_is_further_with_each_thing_that_is_known_of_it() -> None:
    assert [step_of(record) for record in HISTORY] == [1, 2, 3]
    assert step_of(FAILED) == 2


async def test_a_record_goes_after_a_month_by_an_index_of_the_store(
    opened: Store, store_uri: str, database: str
) -> None:
    await StoreLedger(opened.invocations).write(a_ready())
    async with AsyncMongoClient[dict[str, Any]](store_uri, tz_aware=True) as client:
        invocations = client[database].invocations
        assert (await invocations.index_information())["expiresAt_1"]["expireAfterSeconds"] == 0
        (document,) = await invocations.find().to_list()
    assert document["expiresAt"] == NOW + KEPT_FOR
    assert document["_id"] == "run-1|call-1"


async def test_what_the_store_does_not_take_is_an_error_and_no_silence(opened: Store) -> None:
    too_large = a_started(input={"sql": "x" * (17 * 1024 * 1024)})
    with pytest.raises(PermanentError, match=r"run-1\|call-1"):
        await StoreLedger(opened.invocations).write(too_large)


async def test_what_somebody_else_has_written_hides_no_record(
    opened: Store, store_uri: str, database: str
) -> None:
    ledger = StoreLedger(opened.invocations)
    await ledger.write(a_ready())
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        await client[database].invocations.insert_one({"_id": "0", "run_id": "run-1"})
    found: list[InvocationRecord] = await ledger.of_run("run-1")
    assert found == [a_ready()]

"""What tenants have used of a day: counted once, in whatever order and however often it is told."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from agrajag.core.day_limits import NO_LIMITS, DayLimits
from agrajag.metrics import OVER_BUDGET
from agrajag.model.enums import ProcessStatus
from agrajag.model.processes import ProcessEvent, ProcessRecord
from agrajag.service.day_budgets import DayBudgets
from agrajag.service.engine import Budget
from agrajag.service.ledger import Ledger, Spent, used_up
from tests.builders import NOW
from tests.documents.texts import settings_at
from tests.service.attempting import Standing, a_usage
from tests.wire.records import counting

_DAY = timedelta(days=1)


def _begun(process_id: str, tenant_id: str = "acme", at: datetime = NOW) -> ProcessEvent:
    return ProcessEvent(
        process_id=process_id,
        job_id="job-1",
        tenant_id=tenant_id,
        session_id="sess-1",
        service_name="agrajag",
        status=ProcessStatus.RUNNING,
        at=at,
    )


def _ledger(*records: ProcessRecord, now: datetime = NOW) -> Ledger:
    ledger = Ledger()
    for record in records:
        ledger.enter(record, now)
    return ledger


def test_a_tenants_day_is_the_sum_of_its_processes() -> None:
    ledger = _ledger(
        _begun("p1"),
        a_usage("p1", tokens=100, cost_micro_usd=7),
        _begun("p2"),
        a_usage("p2", tokens=50),
        _begun("p3", "globex"),
    )
    assert ledger.spent("acme", NOW) == Spent(2, 150, 7)
    assert ledger.spent("globex", NOW) == Spent(1)
    assert ledger.spent("initech", NOW) == Spent()


def test_a_process_that_is_init_or_closed_is_no_further_run() -> None:
    others = [_begun("p1").with_changes(status=status) for status in ProcessStatus]
    assert _ledger(*others).spent("acme", NOW) == Spent(runs=1)


_RECORDS = st.lists(
    st.builds(_begun, st.sampled_from("abc"), st.sampled_from(["acme", "globex"]))
    | st.builds(
        lambda process, tokens: a_usage(process, tokens=tokens, cost_micro_usd=2 * tokens),
        st.sampled_from("abc"),
        st.integers(0, 1_000),
    ),
    max_size=12,
)


@given(_RECORDS, st.randoms(use_true_random=False))
def test_order_and_repeats_never_change_the_sum(records: list[ProcessRecord], random: object) -> None:
    once = _ledger(*records)
    again = [*records, *records]
    random.shuffle(again)  # type: ignore[attr-defined]
    told_twice = _ledger(*again)
    for tenant in ("acme", "globex"):
        assert told_twice.spent(tenant, NOW) == once.spent(tenant, NOW)


def test_a_day_begins_with_nothing_used_and_a_late_record_of_yesterday_adds_nothing() -> None:
    ledger = _ledger(_begun("p1"), a_usage("p1", tokens=5))
    tomorrow = NOW + _DAY
    assert ledger.spent("acme", tomorrow) == Spent()
    ledger.enter(_begun("p2"), tomorrow)
    ledger.enter(_begun("p3", at=tomorrow), tomorrow)
    assert ledger.spent("acme", tomorrow) == Spent(runs=1)
    assert ledger.spent("acme", NOW) == Spent()  # yesterday's page is gone


def test_the_process_that_asks_does_not_count() -> None:
    ledger = _ledger(_begun("p1"), a_usage("p1", tokens=5), _begun("p2"))
    assert ledger.spent("acme", NOW, without="p1") == Spent(runs=1)
    assert ledger.spent("acme", NOW, without="p9") == Spent(2, 5)


@pytest.mark.parametrize(
    ("limits", "budget"),
    [
        (NO_LIMITS, None),
        (DayLimits(11, 101, 8), None),
        (DayLimits(runs=10), Budget.RUNS),
        (DayLimits(tokens=100), Budget.TOKENS),
        (DayLimits(micro_usd=7), Budget.MONEY),
        (DayLimits(11, 99, 6), Budget.TOKENS),
    ],
)
def test_a_limit_that_is_reached_is_used_up(limits: DayLimits, budget: Budget | None) -> None:
    assert used_up(Spent(10, 100, 7), limits) is budget


def test_a_limit_of_zero_is_used_up_before_anything_is_used() -> None:
    assert used_up(Spent(), DayLimits(micro_usd=0)) is Budget.MONEY


def test_a_tenant_over_its_budget_is_counted_each_time_and_told_once_a_day() -> None:
    budgets = DayBudgets(Standing(), DayLimits(runs=1))
    assert budgets.over("acme", "p1", NOW) is None
    budgets.hear(_begun("p1"), NOW)
    assert budgets.over("acme", "p1", NOW) is None  # the same attempt once more
    with counting(OVER_BUDGET, kind="runs") as counted, capture_logs() as logs:
        assert [budgets.over("acme", process, NOW) for process in ("p2", "p3")] == [Budget.RUNS] * 2
        assert budgets.over("globex", "p4", NOW) is None
    assert counted() == 2
    assert [(line["event"], line["tenant_id"]) for line in logs] == [("tenant_over_budget", "acme")]
    budgets.hear(_begun("p5", at=NOW + _DAY), NOW + _DAY)
    with capture_logs() as logs:
        assert budgets.over("acme", "p6", NOW + _DAY) is Budget.RUNS
    assert len(logs) == 1


def test_a_tenants_settings_stand_before_the_operators_and_a_projects_have_no_say() -> None:
    documents = Standing()
    budgets = DayBudgets(documents, DayLimits(runs=0))
    assert budgets.over("acme", "p1", NOW) is Budget.RUNS
    documents.put(
        {
            settings_at("acme"): "agrajag.budget.runs: 5",
            settings_at("acme", "essays"): "agrajag.budget.runs: 0",
        }
    )
    assert budgets.over("acme", "p1", NOW) is None
    assert budgets.over("globex", "p1", NOW) is Budget.RUNS

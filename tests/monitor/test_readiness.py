"""When a role is ready, and why it is not."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.metrics import REGISTRY
from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import SILENT_SECONDS, Unready, Vitals, behind_since, readiness

LIMIT = 30.0
IDLE = Vitals(100.0, {"tool-call-errors": [0, 1]}, {"tool-call-errors": 0}, committed_at=40.0)
BEHIND = replace(IDLE, lag={"tool-call-errors": 7})


def reasons(seen: Vitals | None, behind: float | None = None, now: float = 100.0) -> tuple[Unready, ...]:
    return readiness(seen, behind, now, LIMIT).reasons


def test_a_role_that_was_never_looked_at_is_starting() -> None:
    assert reasons(None) == (Unready.STARTING,)


def test_an_idle_role_is_ready_however_long_ago_it_committed() -> None:
    assert readiness(replace(IDLE, committed_at=-5_000.0), None, 100.0, LIMIT).ready
    assert readiness(replace(IDLE, committed_at=None), None, 100.0, LIMIT).ready


def test_a_role_without_partitions_stands_by_and_is_ready() -> None:
    assert reasons(Vitals(100.0, {}, {})) == ()


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ("rebalancing", Unready.REBALANCING),
        ("recovering", Unready.RECOVERING),
        ("kafka_away", Unready.KAFKA_AWAY),
        ("store_away", Unready.STORE_AWAY),
    ],
)
def test_each_fact_that_keeps_a_role_from_its_work_is_named(fact: str, reason: Unready) -> None:
    changed: dict[str, Any] = {fact: True}
    assert reasons(replace(IDLE, **changed)) == (reason,)


def test_lag_with_commits_is_ready_and_without_them_is_not() -> None:
    assert reasons(replace(BEHIND, committed_at=80.0), behind=10.0) == ()
    assert reasons(replace(BEHIND, committed_at=69.0), behind=10.0) == (Unready.NOT_COMMITTING,)
    assert reasons(replace(BEHIND, committed_at=None), behind=69.0) == (Unready.NOT_COMMITTING,)


def test_lag_that_has_just_begun_is_ready_though_the_last_commit_is_old() -> None:
    assert reasons(replace(BEHIND, committed_at=-5_000.0), behind=99.0) == ()


def test_a_role_that_was_not_seen_for_long_is_not_believed_to_be_ready() -> None:
    assert reasons(IDLE, now=100.0 + SILENT_SECONDS) == ()
    assert reasons(IDLE, now=100.1 + SILENT_SECONDS) == (Unready.SILENT,)


def test_work_begins_to_wait_when_it_is_first_seen_and_anew_after_a_rebalance() -> None:
    assert behind_since(None, BEHIND) == 100.0
    assert behind_since(60.0, BEHIND) == 60.0
    assert behind_since(60.0, IDLE) is None
    assert behind_since(60.0, replace(BEHIND, rebalancing=True)) is None
    assert behind_since(60.0, replace(BEHIND, recovering=True)) is None


@given(
    st.builds(
        Vitals,
        st.floats(0, 1e6),
        st.just({"a": [0]}),
        st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9)),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.none() | st.floats(0, 1e6),
    ),
    st.none() | st.floats(0, 1e6),
)
def test_a_role_is_ready_only_with_both_sides_there_and_its_partitions_settled(
    seen: Vitals, behind: float | None
) -> None:
    found = readiness(seen, behind, seen.at, LIMIT)
    assert not found.ready or not (seen.rebalancing or seen.recovering or seen.kafka_away or seen.store_away)
    assert json.loads(json.dumps(found.to_json()))["ready"] is found.ready


def test_the_pulse_remembers_since_when_work_waits_and_keeps_the_gauges() -> None:
    now = 100.0
    pulse = Pulse(LIMIT, lambda: now)
    assert pulse.readiness().reasons == (Unready.STARTING,)
    pulse.seen(BEHIND)
    now = 125.0
    pulse.seen(replace(BEHIND, at=125.0))
    assert pulse.readiness().ready
    assert REGISTRY.get_sample_value("agrajag_lag_records", {"topic": "tool-call-errors"}) == 7
    assert REGISTRY.get_sample_value("agrajag_last_commit_age_seconds") == 85
    now = 131.0
    pulse.seen(replace(BEHIND, at=131.0))
    assert pulse.readiness().reasons == (Unready.NOT_COMMITTING,)
    pulse.seen(Vitals(131.0, {}, {}))
    assert pulse.readiness().ready
    assert REGISTRY.get_sample_value("agrajag_lag_records", {"topic": "tool-call-errors"}) is None

"""What time may take: never anything that an event could still meet, nothing that a person would miss, all else."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.cooldown import in_flight, is_active, is_remembered
from agrajag.core.inbox import INBOX_LIFE
from agrajag.core.policy import Policy
from agrajag.core.sweep import GONE_LIFE, GRACE, MAX_LAG, NEVER, SESSION_LIFE, Swept, due_at, sweep
from agrajag.core.times import MAX_EVENT_AGE
from agrajag.core.verdicts import Verdict
from agrajag.model.enums import Classification, InboxStatus, Scope, Status
from agrajag.model.health import Connection, HealthEntry, LastDiagnosis, LinkFacet, OverrideFacet, ToolHealth
from tests.builders import NOW, a_cooldown, a_health, a_job, an_error, an_inbox_item
from tests.core.test_triage_properties import errors
from tests.core.triaging import Triage, after
from tests.model.wire_strategies import records

POLICY = Policy()
HITS = POLICY.hits_memory
COOLDOWN_OVER = a_cooldown().next_spawn_allowed_at + HITS + GRACE
"""When the cooldown of the builder may go."""
MOMENT = timedelta(microseconds=1)

moments = st.datetimes(datetime(2026, 5, 20), datetime(2026, 5, 30), timezones=st.just(UTC))  # noqa: DTZ001 - bounds
spans = st.integers(-3 * 24 * 60, 3 * 24 * 60).map(lambda minutes: timedelta(minutes=minutes))


@st.composite
def entries(draw: st.DrawFn) -> HealthEntry:
    """Any entry at all, or one whose times lie around now."""
    if draw(st.booleans()):
        return draw(records(HealthEntry))  # type: ignore[return-value]
    cooldowns = tuple(
        a_cooldown(
            error_signature=f"s{number}",
            last_triggered_at=NOW + draw(spans),
            next_spawn_allowed_at=NOW + draw(spans),
            job_id=draw(st.sampled_from([None, "job-1"])),
            lease_until=draw(st.none() | spans.map(lambda span: NOW + span)),
        )
        for number in range(draw(st.integers(0, 3)))
    )
    health = a_health(
        scope=draw(st.sampled_from(Scope)),
        status=draw(st.sampled_from([Status.OK, Status.OK, Status.DOWN])),
        cooldowns=cooldowns,
        updated_at=NOW + draw(spans),
        last_success_at=draw(st.none() | spans.map(lambda span: NOW + span)),
    )
    jobs = tuple(a_job(lease_until=NOW + draw(spans)) for _ in range(draw(st.integers(0, 2))))
    return HealthEntry(
        revision=1,
        health=draw(st.sampled_from([health, health, None])),
        jobs=jobs,
        ended_at=draw(st.none() | spans.map(lambda span: NOW + span)),
    )


CONNECTION = Connection(link_id="l", connection_id="c", seq=1, at=NOW, is_open=True, was_open=True)


def entry_of(health: ToolHealth | None, **fields: Any) -> HealthEntry:
    return HealthEntry(revision=7, health=health, **fields)


def has_ended(entry: HealthEntry) -> bool:
    """Whether its session is over, as far as the document knows."""
    return (
        entry.health is not None and entry.ended_at is not None and entry.health.updated_at <= entry.ended_at
    )


def is_gone(swept: Swept | None) -> bool:
    return swept is not None and swept.entry is not None and swept.entry.health is None


@given(entries(), moments, moments)
def test_something_is_taken_exactly_from_the_due_time_on(
    entry: HealthEntry, written_at: datetime, clock: datetime
) -> None:
    assert (sweep(entry, written_at, clock, POLICY) is not None) == (
        clock >= due_at(entry, written_at, POLICY)
    )


@given(entries(), moments, moments)
def test_to_sweep_twice_is_to_sweep_once(entry: HealthEntry, written_at: datetime, clock: datetime) -> None:
    swept = sweep(entry, written_at, clock, POLICY)
    if swept is not None and swept.entry is not None:
        assert swept.entry.revision == entry.revision + 1
        assert sweep(swept.entry, clock, clock, POLICY) is None


@given(entries(), moments, moments)
def test_nothing_that_is_active_is_ever_taken(
    entry: HealthEntry, written_at: datetime, clock: datetime
) -> None:
    swept = sweep(entry, written_at, clock, POLICY)
    if swept is None or entry.health is None or has_ended(entry):
        return
    assert swept.entry is not None
    kept = swept.entry.health.cooldowns if swept.entry.health else ()
    for cooldown in (one for one in entry.health.cooldowns if one not in kept):
        assert not is_active(cooldown, clock)
        assert not is_remembered(cooldown, clock, POLICY)
        assert not in_flight(cooldown, clock)
    assert all(clock >= job.lease_until for job in entry.jobs if job not in swept.entry.jobs)


@given(entries(), moments, moments)
def test_a_document_with_an_opinion_never_goes_unless_its_session_is_over(
    entry: HealthEntry, written_at: datetime, clock: datetime
) -> None:
    health = entry.health
    if health is None or not is_gone(sweep(entry, written_at, clock, POLICY)):
        return
    if has_ended(entry):
        assert clock >= health.updated_at + GRACE
    elif health.scope is Scope.SESSION:
        assert clock >= health.updated_at + SESSION_LIFE
    else:
        assert health.status_at(clock) is Status.OK
        assert health.history == ()
    assert has_ended(entry) or health.active_override(clock) is None


@given(
    st.lists(st.tuples(errors, st.integers(0, 90)), min_size=1, max_size=6),
    st.integers(0, 40 * 60),
    errors,
    st.integers(0, int(MAX_LAG.total_seconds()) - 1),
    st.integers(0, int(MAX_EVENT_AGE.total_seconds())),
)
def test_an_event_that_still_waits_is_judged_as_if_nothing_had_been_swept(
    past: list[tuple[dict[str, Any], int]],
    minutes: int,
    event: dict[str, Any],
    lag_seconds: int,
    age_seconds: int,
) -> None:
    clock = after(minutes=minutes)
    appended_at = clock - timedelta(seconds=lag_seconds)
    kept, swept = Triage(), Triage()
    for tools in (kept, swept):
        at = NOW
        for number, (overrides, pause) in enumerate(past):
            at += timedelta(minutes=pause)
            if at <= appended_at:
                tools.step([tools.arrival(an_error(event_id=f"e{number}", occurred_at=at, **overrides), at)])
    for key, entry in swept.table.items():
        found = sweep(entry, clock - GONE_LIFE, clock, POLICY)
        if found is not None and found.entry is not None:
            swept.table[key] = found.entry
    late = an_error(event_id="late", occurred_at=appended_at - timedelta(seconds=age_seconds), **event)
    verdicts = [tools.step([tools.arrival(late, appended_at)], clock)[0] for tools in (kept, swept)]
    seen = [
        (verdict.outcome, verdict.key, verdict.cooldown_until, verdict.job_id)
        for verdict in verdicts
        if isinstance(verdict, Verdict)
    ]
    assert len(seen) == 2
    assert seen[0] == seen[1]


def test_a_cooldown_goes_two_hours_after_its_hits_are_forgotten_and_its_document_with_it() -> None:
    entry = entry_of(a_health(cooldowns=(a_cooldown(),)), applied={"errors-0": 41})
    assert sweep(entry, NOW, COOLDOWN_OVER - MOMENT, POLICY) is None
    assert sweep(entry, NOW, COOLDOWN_OVER, POLICY) == Swept(
        HealthEntry(revision=8, applied={"errors-0": 41}), cooldowns=1
    )


def test_a_document_that_stays_loses_its_old_cooldowns_only() -> None:
    fresh = a_cooldown(error_signature="fresh", next_spawn_allowed_at=COOLDOWN_OVER)
    health = a_health(status=Status.DOWN, cooldowns=(a_cooldown(), fresh))
    swept = sweep(entry_of(health), NOW, COOLDOWN_OVER, POLICY)
    assert swept is not None
    assert swept.entry is not None
    assert swept.entry.health == health.with_changes(revision=8, cooldowns=(fresh,))


def test_a_job_goes_two_hours_after_its_lease_has_expired() -> None:
    job = a_job(lease_until=after(minutes=15))
    entry = entry_of(a_health(status=Status.DOWN), jobs=(job,))
    assert sweep(entry, NOW, after(hours=2, minutes=14), POLICY) is None
    swept = sweep(entry, NOW, after(hours=2, minutes=15), POLICY)
    assert swept is not None
    assert swept.entry is not None
    assert (swept.jobs, swept.entry.jobs) == (1, ())


@pytest.mark.parametrize(
    "carried",
    [
        {"status": Status.DOWN},
        {"link": LinkFacet(connections=(CONNECTION,))},
        {"link": LinkFacet(down_since=NOW)},
        {"override": OverrideFacet(status=Status.OK, reason="checked", by="ford", at=NOW)},
        {
            "last_diagnosis": LastDiagnosis(
                classification=Classification.USER_INPUT,
                by="agrajag",
                at=NOW,
                error_signature="s",
                job_id="j",
            )
        },
    ],
    ids=["verdict", "connection", "link that is down", "override", "diagnosis"],
)
def test_what_carries_more_than_cooldowns_stays_for_years(carried: dict[str, Any]) -> None:
    entry = entry_of(a_health(**carried))
    assert due_at(entry, NOW, POLICY) == NEVER
    assert sweep(entry, NOW, after(days=3_000), POLICY) is None


def test_what_was_only_counted_goes_two_hours_after_the_last_count() -> None:
    entry = entry_of(a_health())
    assert not is_gone(sweep(entry, NOW, after(hours=2) - MOMENT, POLICY))
    assert is_gone(sweep(entry, NOW, after(hours=2), POLICY))


def test_the_document_of_a_session_goes_a_day_after_its_last_change_whatever_it_says() -> None:
    entry = entry_of(a_health(scope=Scope.SESSION, status=Status.DOWN, link=LinkFacet(down_since=NOW)))
    assert not is_gone(sweep(entry, NOW, after(days=1) - MOMENT, POLICY))
    assert is_gone(sweep(entry, NOW, after(days=1), POLICY))


def test_the_document_of_a_session_that_ended_goes_after_two_hours_unless_something_happened_since() -> None:
    health = a_health(scope=Scope.SESSION, cooldowns=(a_cooldown(next_spawn_allowed_at=after(days=1)),))
    ended = entry_of(health, ended_at=NOW)
    assert not is_gone(sweep(ended, NOW, after(hours=2) - MOMENT, POLICY))
    assert is_gone(sweep(ended, NOW, after(hours=2), POLICY))
    goes_on = entry_of(health.with_changes(updated_at=NOW + MOMENT), ended_at=NOW)
    assert not is_gone(sweep(goes_on, NOW, after(hours=26), POLICY))


def test_a_close_that_is_only_remembered_keeps_no_document() -> None:
    closed = CONNECTION.with_changes(is_open=False, was_open=False)
    entry = entry_of(a_health(link=LinkFacet(connections=(closed,))))
    assert is_gone(sweep(entry, NOW, after(hours=2), POLICY))


def test_an_override_without_end_outlives_its_session_until_somebody_lifts_it() -> None:
    override = OverrideFacet(status=Status.DOWN, reason="maintenance", by="ford", at=NOW)
    entry = entry_of(a_health(scope=Scope.SESSION, override=override))
    assert sweep(entry, NOW, after(days=400), POLICY) is None


def test_a_gone_document_is_remembered_for_a_day_and_then_forgotten() -> None:
    gone = entry_of(None, applied={"errors-0": 41})
    assert sweep(gone, NOW, after(days=1) - MOMENT, POLICY) is None
    assert sweep(gone, NOW, after(days=1), POLICY) == Swept(None)


def test_a_time_at_the_end_of_the_calendar_never_comes() -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    entry = entry_of(a_health(cooldowns=(a_cooldown(next_spawn_allowed_at=last),)))
    assert due_at(entry, NOW, POLICY) == NEVER


def test_a_document_goes_with_the_item_that_was_all_that_kept_it() -> None:
    past = NOW - INBOX_LIFE
    item = an_inbox_item(created_at=past, updated_at=past)
    entry = entry_of(a_health(updated_at=past), inbox=(item,), ended_at=past)
    assert sweep(entry, NOW, NOW - MOMENT, POLICY) is None
    swept = sweep(entry, NOW, NOW, POLICY)
    assert is_gone(swept)
    assert swept is not None
    assert [(told.item_id, told.status) for told in swept.archived] == [(item.item_id, InboxStatus.ARCHIVED)]
    assert swept.entry is not None
    assert swept.entry.inbox == swept.archived

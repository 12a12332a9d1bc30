"""What must hold for every sequence of errors, however it is cut into steps and however often it is repeated."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.lookup import USER_CLASSES
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.model.enums import Classification, CredentialKind, HealthAction, Outcome, Scope, Status
from agrajag.model.events import ToolCallError
from agrajag.model.health import MAX_COOLDOWNS, MAX_JOBS, HealthEntry, ToolHealth
from tests.builders import NOW, a_rule, an_error
from tests.core.triaging import Triage, jobs_of

errors = st.fixed_dictionaries(
    {
        "user_id": st.sampled_from(["alice", "bob", None]),
        "project_id": st.sampled_from(["essays", "novels", None]),
        "session_id": st.sampled_from(["s1", None]),
        "tool_name": st.sampled_from(["search", "client_files"]),
        "count": st.sampled_from([1, 1, 3]),
        "http_status": st.sampled_from([401, 403, 404, 429, 500, 503, None]),
        "exception_type": st.sampled_from(["ToolException", "httpx.ConnectError", None]),
        "body": st.sampled_from(["token_expired", "Manual not found", None]),
        "headers": st.sampled_from(
            [{}, {"retry-after": "5"}, {"retry-after": "99999999"}, {"retry-after": "-1"}]
        ),
        "credential_kind": st.sampled_from([CredentialKind.USER, None]),
    }
)
steps = st.tuples(errors, st.integers(0, 1200), st.integers(-30, 30))


def arrivals_of(
    tools: Triage, sequence: Sequence[tuple[dict[str, Any], int, int]]
) -> list[Arrival[ToolCallError]]:
    """Errors at growing append times; each happened somewhat before or, by its producer's clock, after."""
    arrivals = []
    at = NOW
    for number, (overrides, pause, skew) in enumerate(sequence):
        at += timedelta(seconds=pause)
        event = an_error(event_id=f"e{number}", occurred_at=at + timedelta(seconds=skew), **overrides)
        arrivals.append(tools.arrival(event, at))
    return arrivals


def without_revision(table: dict[str, HealthEntry]) -> dict[str, Any]:
    """The table but for what depends on where one step ended and the next began."""
    return {
        key: entry.model_dump(exclude={"revision": True, "health": {"revision"}})
        for key, entry in table.items()
    }


@given(st.lists(steps, max_size=25))
def test_applying_the_same_records_twice_always_equals_applying_them_once(sequence: list[Any]) -> None:
    tools = Triage()
    arrivals = arrivals_of(tools, sequence)
    tools.step(arrivals)
    before = dict(tools.table)
    repeated = tools.step(arrivals)
    assert tools.table == before
    assert all(isinstance(one, Repeat) for one in repeated)


@given(st.lists(steps, min_size=1, max_size=25), st.data())
def test_a_repeat_from_any_record_on_changes_nothing(sequence: list[Any], data: st.DataObject) -> None:
    tools = Triage()
    arrivals = arrivals_of(tools, sequence)
    done = data.draw(st.integers(1, len(arrivals)))
    again_from = data.draw(st.integers(0, done))
    tools.step(arrivals[:done])
    tools.step(arrivals[again_from:])
    undisturbed = Triage()
    undisturbed.step(arrivals)
    assert without_revision(tools.table) == without_revision(undisturbed.table)


@given(st.lists(steps, max_size=25), st.data())
def test_where_one_fetch_ends_and_the_next_begins_never_matters(
    sequence: list[Any], data: st.DataObject
) -> None:
    whole, cut = Triage(), Triage()
    arrivals = arrivals_of(whole, sequence)
    sent = jobs_of(whole.step(arrivals))
    sent_in_parts: list[str] = []
    rest = arrivals
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        sent_in_parts += jobs_of(cut.step(rest[:size]))
        rest = rest[size:]
    assert without_revision(cut.table) == without_revision(whole.table)
    assert sent_in_parts == sent


@given(st.lists(steps, max_size=40))
def test_every_error_is_counted_once_and_every_deadline_is_capped(sequence: list[Any]) -> None:
    tools = Triage()
    arrivals = arrivals_of(tools, sequence)
    tools.step(arrivals)
    healths = [entry.health for entry in tools.table.values() if entry.health is not None]
    assert sum(health.counters.errors for health in healths) == sum(one.event.count for one in arrivals)
    cap = timedelta(hours=24)
    for health in healths:
        assert len(health.cooldowns) <= MAX_COOLDOWNS
        for cooldown in health.cooldowns:
            assert timedelta(0) < cooldown.next_spawn_allowed_at - cooldown.last_triggered_at <= cap
        recovery = health.verdict.expected_recovery_at
        if recovery is not None and health.verdict.evidence_at is not None:
            assert recovery - health.verdict.evidence_at <= cap


@given(st.lists(steps, max_size=40))
def test_there_is_never_a_second_job_for_what_is_in_flight(sequence: list[Any]) -> None:
    tools = Triage()
    lease_ends: dict[tuple[Any, ...], Any] = {}
    for arrival, decided in zip(arrivals := arrivals_of(tools, sequence), tools.step(arrivals), strict=True):
        if not isinstance(decided, Verdict) or decided.outcome is not Outcome.ENQUEUED:
            continue
        job = decided.job
        assert job is not None
        claim = (job.scope, job.scope_id, job.tool_name, job.error_signature, decided.user_id)
        assert lease_ends.get(claim, arrival.appended_at) <= arrival.appended_at
        lease_ends[claim] = job.lease_until


@given(st.lists(steps, max_size=25))
def test_revisions_only_grow_and_never_lag_behind_the_newest_record(sequence: list[Any]) -> None:
    tools = Triage()
    for arrival in arrivals_of(tools, sequence):
        before = dict(tools.table)
        tools.step([arrival])
        for key, entry in tools.table.items():
            if entry is before.get(key):
                continue
            assert entry.revision >= arrival.appended_ms
            assert entry.health is not None
            assert entry.health.revision == entry.revision
            if key in before:
                assert entry.revision > before[key].revision


@given(st.lists(steps, max_size=25))
def test_what_the_table_keeps_is_valid_and_survives_the_wire(sequence: list[Any]) -> None:
    tools = Triage()
    tools.step(arrivals_of(tools, sequence))
    for entry in tools.table.values():
        again = HealthEntry.model_validate_json(entry.to_json())
        assert again == entry
        assert len(entry.jobs) <= MAX_JOBS
        assert entry.health is not None
        assert ToolHealth.model_validate_json(entry.health.to_json()) == entry.health


@given(st.lists(steps, max_size=25), st.sampled_from(sorted(USER_CLASSES)))
def test_one_users_own_errors_never_touch_a_status_that_others_see(
    sequence: list[Any], classification: Classification
) -> None:
    personal = a_rule("personal", classification=classification, health_action=HealthAction.MARK_UNAVAILABLE)
    tools = Triage(RuleSet([personal]))
    tools.step(arrivals_of(tools, sequence))
    for entry in tools.table.values():
        assert entry.health is not None
        if entry.health.scope is not Scope.USER:
            assert entry.health.status is Status.OK


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 90)), max_size=60), st.integers(1, 8))
def test_the_history_never_outgrows_its_size_and_forgets_the_oldest_first(
    sequence: list[tuple[int, int]], size: int
) -> None:
    kinds = [
        a_rule(
            f"kind-{kind}", http_statuses=(500 + kind, 500 + kind), note=f"{kind}", cooldown=timedelta(seconds=1),
            classification=Classification.TECHNICALLY_BROKEN, health_action=HealthAction.MARK_UNAVAILABLE,
        )
        for kind in range(10)
    ]  # fmt: skip
    tools = Triage(RuleSet(kinds), Policy(history_size=size))
    marked: list[str] = []
    at = NOW
    for kind, pause in sequence:
        at += timedelta(seconds=pause)
        if tools.send(at, http_status=500 + kind).outcome is Outcome.MARKED:
            marked.append(str(kind))
    if not marked:
        return
    runs = [note for note, _ in groupby(reversed(marked))]
    assert [entry.note for entry in tools.health().history] == runs[:size]
    if len(runs) <= size:
        assert sum(entry.count for entry in tools.health().history) == len(marked)

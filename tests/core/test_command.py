"""Commands: what each kind does, that it is done once, and what is left of who and why."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from agrajag.core.command import Commanded
from agrajag.core.cooldown import is_active
from agrajag.core.policy import Names, Policy
from agrajag.core.verdicts import Repeat
from agrajag.model.enums import Classification, CommandKind, CommandOutcome, Outcome, Scope, Status
from agrajag.model.health import MAX_COOLDOWNS, RECENT_IDS, LinkFacet
from agrajag.model.keys import health_key
from tests.builders import NOW, a_command, a_cooldown, a_health
from tests.core.triaging import REFUSED, Triage, after

K = CommandKind
KEY = health_key("acme", Scope.PROJECT, "essays", "search")
COMPLETE: dict[CommandKind, dict[str, Any]] = {
    K.RECHECK: {},
    K.SET_AVAILABLE: {"reason": "tried it"},
    K.SET_UNAVAILABLE: {"classification": Classification.TECHNICALLY_BROKEN, "reason": "moving house"},
    K.SET_COOLDOWN: {
        "error_signature": "http-503",
        "duration": timedelta(hours=2),
        "classification": Classification.INTERMITTENT,
    },
    K.CLEAR_COOLDOWN: {},
    K.OVERRIDE: {"status": Status.DOWN, "reason": "maintenance"},
    K.LIFT_OVERRIDE: {"reason": "done"},
    K.DELETE: {},
    K.DISMISS_INBOX: {"inbox_item_id": "item-1"},
}
"""What each kind needs, and a little more."""
FIND_SOMETHING = (K.SET_AVAILABLE, K.CLEAR_COOLDOWN, K.LIFT_OVERRIDE, K.DELETE, K.DISMISS_INBOX)


def give(tools: Triage, kind: CommandKind, now: datetime = NOW, **overrides: Any) -> Commanded:
    """A complete command, with changes."""
    return tools.command(kind, now, **(COMPLETE[kind] | overrides))


def test_a_person_makes_a_down_tool_available_and_its_cooldowns_end() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert give(tools, K.SET_AVAILABLE, after(minutes=1)).outcome is CommandOutcome.APPLIED
    health = tools.health()
    assert (health.status, health.verdict.by, health.verdict.note) == (Status.OK, "ops", "tried it")
    assert not any(is_active(entry, after(minutes=1)) for entry in health.cooldowns)
    assert (health.history[0].by, health.history[0].classification) == ("ops", Classification.WORKING)
    assert health.last_success_at is None


@pytest.mark.parametrize(
    ("classification", "status"),
    [
        (Classification.TECHNICALLY_BROKEN, Status.DOWN),
        (Classification.INTERMITTENT, Status.DEGRADED),
        (Classification.UNCLEAR, Status.DEGRADED),
    ],
)
def test_a_person_makes_a_tool_unavailable_that_nothing_is_known_of(
    classification: Classification, status: Status
) -> None:
    tools = Triage()
    until = after(hours=3)
    assert give(tools, K.SET_UNAVAILABLE, classification=classification, expected_recovery_at=until)
    health = tools.health()
    assert (health.status, health.verdict.classification) == (status, classification)
    assert (health.verdict.expected_recovery_at, health.verdict.note) == (until, "moving house")
    assert (health.history[0].by, health.history[0].note) == ("ops", "moving house")


def test_a_person_may_say_degraded_over_an_unexpired_down() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    give(tools, K.SET_UNAVAILABLE, after(seconds=1), status=Status.DEGRADED)
    assert tools.health().status is Status.DEGRADED


def test_a_success_takes_back_what_a_person_made_unavailable() -> None:
    tools = Triage()
    give(tools, K.SET_UNAVAILABLE)
    tools.succeed(after(minutes=1))
    assert tools.health().status is Status.OK


def test_a_cooldown_that_a_person_sets_suppresses_and_can_be_longer_than_any_automatic_one() -> None:
    tools = Triage()
    give(tools, K.SET_COOLDOWN, error_signature="http-5xx", duration=timedelta(days=3))
    assert tools.send(after(days=2), http_status=503).outcome is Outcome.SUPPRESSED


def test_a_cooldown_that_a_person_sets_lasts_since_the_one_that_it_makes_longer_or_since_then() -> None:
    tools = Triage()
    tools.send(http_status=503)
    asked = {"error_signature": "http-5xx", "duration": timedelta(hours=1)}
    give(tools, K.SET_COOLDOWN, after(seconds=10), **asked)
    assert tools.health().cooldowns[0].since == NOW
    give(tools, K.SET_COOLDOWN, after(hours=2), **asked)
    assert tools.health().cooldowns[0].since == after(hours=2)


def test_a_cooldown_that_a_person_sets_never_shortens_one_and_leaves_its_job() -> None:
    tools = Triage()
    job_id = tools.send(http_status=503).job_id
    before = tools.health().cooldowns[0]
    give(tools, K.SET_COOLDOWN, after(seconds=1), error_signature="http-5xx", duration=timedelta(seconds=5))
    (entry,) = tools.health().cooldowns
    assert entry.next_spawn_allowed_at == before.next_spawn_allowed_at
    give(tools, K.SET_COOLDOWN, after(seconds=2), error_signature="http-5xx", duration=timedelta(hours=1))
    (entry,) = tools.health().cooldowns
    assert entry.next_spawn_allowed_at == after(hours=1, seconds=2)
    assert (entry.job_id, entry.hits, entry.claimed_by) == (job_id, 1, before.claimed_by)
    assert tools.send(after(minutes=2), http_status=503).outcome is Outcome.COALESCED


@pytest.mark.parametrize(
    ("fits", "left"),
    [
        ({}, set()),
        ({"error_signature": "one"}, {("two", None), ("two", "bob")}),
        ({"user_id": "bob"}, {("one", None), ("two", None)}),
        ({"error_signature": "two", "user_id": "bob"}, {("one", None), ("two", None)}),
    ],
)
def test_clearing_ends_the_cooldowns_that_fit_and_keeps_their_hits(
    fits: dict[str, Any], left: set[tuple[str, str | None]]
) -> None:
    tools = Triage()
    keys = [("one", None), ("two", None), ("two", "bob")]
    tools.put(
        a_health(
            cooldowns=tuple(a_cooldown(error_signature=sign, user_id=user, hits=3) for sign, user in keys)
        )
    )
    assert give(tools, K.CLEAR_COOLDOWN, after(seconds=1), **fits).outcome is CommandOutcome.APPLIED
    cooldowns = tools.health().cooldowns
    active = {(one.error_signature, one.user_id) for one in cooldowns if is_active(one, after(seconds=1))}
    assert active == left
    assert [one.hits for one in cooldowns] == [3, 3, 3]


def test_an_override_is_above_all_evidence_until_it_is_lifted() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    give(tools, K.OVERRIDE, after(seconds=1), status=Status.OK, reason="our own alarm")
    assert tools.health().status is Status.OK
    tools.send(after(minutes=6), **REFUSED)
    assert tools.health().status is Status.OK
    assert tools.health().verdict.status is Status.DOWN
    give(tools, K.LIFT_OVERRIDE, after(minutes=7), by="alice")
    health = tools.health()
    assert (health.status, health.override) == (Status.DOWN, None)
    assert [(one.by, one.status, one.note) for one in health.history[:3:2]] == [
        ("alice", Status.DOWN, "done"),
        ("ops", Status.OK, "our own alarm"),
    ]


def test_an_override_ends_when_it_says() -> None:
    tools = Triage()
    give(tools, K.OVERRIDE, duration=timedelta(hours=1))
    health = tools.health()
    assert health.override is not None
    assert (health.override.until, health.override.by) == (after(hours=1), "ops")
    assert health.status_at(after(minutes=59)) is Status.DOWN
    assert health.status_at(after(hours=1)) is Status.OK


def test_lifting_tells_what_then_holds() -> None:
    tools = Triage()
    tools.put(a_health(link=LinkFacet(down_since=NOW)))
    give(tools, K.OVERRIDE, status=Status.OK)
    give(tools, K.LIFT_OVERRIDE)
    assert tools.health().history[0].status is Status.DOWN


def test_a_deleted_document_is_gone_with_all_that_it_held_and_its_revision_grows() -> None:
    tools = Triage()
    tools.send(http_status=503)
    before = tools.entry()
    assert give(tools, K.DELETE, after(seconds=1)).outcome is CommandOutcome.APPLIED
    gone = tools.entry()
    assert (gone.health, gone.jobs) == (None, ())
    assert gone.revision > before.revision
    assert gone.applied.keys() == {"errors-0", "commands-0"}


def test_what_happened_before_a_deletion_does_not_bring_the_document_back() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    give(tools, K.DELETE, after(minutes=1))
    gone = tools.entry()
    late = tools.send(after(minutes=2), occurred_at=after(seconds=30), clock=after(minutes=2), **REFUSED)
    assert late.outcome is Outcome.SUPERSEDED
    assert tools.entry() == gone
    assert tools.send(after(minutes=2), **REFUSED).outcome is Outcome.MARKED
    assert tools.health().counters.errors == 1
    assert tools.health().created_at == after(minutes=2)


def test_nothing_of_a_deleted_document_is_in_the_next_one() -> None:
    tools = Triage()
    tools.put(a_health(status=Status.DOWN, cooldowns=(a_cooldown(),), last_success_at=NOW))
    give(tools, K.DELETE, after(seconds=1))
    give(tools, K.OVERRIDE, after(seconds=2))
    health = tools.health()
    assert (health.verdict.status, health.cooldowns, health.last_success_at) == (Status.OK, (), None)
    assert len(health.history) == 1


def test_a_recheck_asks_about_the_newest_cooldown_and_passes_it() -> None:
    tools = Triage()
    cooldowns = (
        a_cooldown(error_signature="older", next_spawn_allowed_at=after(hours=2)),
        a_cooldown(error_signature="newer", last_triggered_at=after(seconds=1), next_spawn_allowed_at=after(hours=1)),
        a_cooldown(error_signature="bobs", user_id="bob", last_triggered_at=after(seconds=2)),
        a_cooldown(error_signature="over", last_triggered_at=after(seconds=3), next_spawn_allowed_at=after(seconds=4)),
    )  # fmt: skip
    tools.put(a_health(cooldowns=cooldowns))
    done = give(tools, K.RECHECK, after(seconds=5), reason="is it back?")
    assert done.job is not None
    assert (done.outcome, done.job_id) == (CommandOutcome.APPLIED, done.job.job_id)
    assert (done.job.error_signature, done.job.trigger) == ("newer", "user_request")
    assert (done.job.project_id, done.job.error_detail) == ("essays", "is it back?")
    entry = next(one for one in tools.health().cooldowns if one.error_signature == "newer")
    assert (entry.job_id, entry.next_spawn_allowed_at) == (done.job_id, after(hours=1))
    assert tools.entry().jobs == (done.job,)


def test_a_recheck_of_a_tool_that_nothing_is_known_of_starts_a_job_and_no_pause() -> None:
    tools = Triage()
    done = give(tools, K.RECHECK, user_id="alice")
    assert done.job is not None
    assert (done.job.error_signature, done.job.originating_user_id) == ("user-request", "alice")
    assert not any(is_active(entry, NOW) for entry in tools.health().cooldowns)
    assert tools.send(after(seconds=1), http_status=503).outcome is Outcome.ENQUEUED


def test_the_job_of_a_recheck_is_a_child_of_the_process_that_waits_for_it() -> None:
    done = give(Triage(), K.RECHECK, originating_process_id="proc-arthur")
    assert done.job is not None
    assert done.job.originating_process_id == "proc-arthur"


def test_the_job_of_a_recheck_has_the_session_and_the_language_of_who_asks() -> None:
    done = give(Triage(), K.RECHECK, originating_session_id="chat-1", locale="de-CH")
    assert done.job is not None
    assert (done.job.originating_session_id, done.job.locale) == ("chat-1", "de-CH")
    session: dict[str, Any] = {"scope": Scope.SESSION, "scope_id": "chat-2"}
    done = give(Triage(), K.RECHECK, originating_session_id="chat-1", **session)
    assert done.job is not None
    assert done.job.originating_session_id == "chat-2"


def test_a_recheck_of_what_is_in_flight_is_told_of_that_job_and_changes_nothing() -> None:
    tools = Triage()
    job_id = tools.send(http_status=503).job_id
    before = dict(tools.table)
    done = give(tools, K.RECHECK, after(minutes=10))
    assert (done.outcome, done.job_id, done.job) == (CommandOutcome.ALREADY_APPLIED, job_id, None)
    assert tools.table == before
    later = give(tools, K.RECHECK, after(minutes=16))
    assert (later.outcome, later.job_id != job_id) == (CommandOutcome.APPLIED, True)


def test_a_recheck_for_one_user_sees_what_runs_for_everybody() -> None:
    tools = Triage()
    job_id = tools.send(http_status=503).job_id
    about: dict[str, Any] = {"scope": Scope.USER, "scope_id": "alice", "project_id": "essays"}
    assert give(tools, K.RECHECK, **about).job_id == job_id


def test_a_tool_for_which_diagnosis_is_switched_off_is_not_rechecked() -> None:
    tools = Triage(policy=Policy(never_diagnosed=Names(names=frozenset({"search"}))))
    assert give(tools, K.RECHECK).outcome is CommandOutcome.REFUSED
    assert tools.table == {}


def test_errors_join_the_job_of_a_recheck() -> None:
    tools = Triage()
    tools.put(a_health(cooldowns=(a_cooldown(),)))
    job_id = give(tools, K.RECHECK).job_id
    joined = tools.send(after(seconds=40), http_status=503)
    assert (joined.outcome, joined.job_id) == (Outcome.COALESCED, job_id)


@pytest.mark.parametrize("kind", FIND_SOMETHING)
def test_a_command_that_finds_nothing_says_so_and_leaves_no_trace(kind: CommandKind) -> None:
    tools = Triage()
    done = give(tools, kind)
    assert done.outcome is CommandOutcome.NOTHING_MATCHED
    assert done.reason
    assert tools.table == {}


@pytest.mark.parametrize("kind", FIND_SOMETHING)
def test_a_document_that_is_gone_is_nothing_to_find(kind: CommandKind) -> None:
    tools = Triage()
    tools.put(a_health())
    give(tools, K.DELETE)
    before = dict(tools.table)
    assert give(tools, kind, after(seconds=1)).outcome is CommandOutcome.NOTHING_MATCHED
    assert tools.table == before


@pytest.mark.parametrize("kind", K)
def test_the_same_command_id_twice_is_done_once(kind: CommandKind) -> None:
    tools = Triage()
    tools.put(a_health(status=Status.DOWN, cooldowns=(a_cooldown(next_spawn_allowed_at=after(hours=9)),)))
    give(tools, K.OVERRIDE)
    first = give(tools, kind, after(seconds=1), command_id="same")
    before = dict(tools.table)
    again = give(tools, kind, after(seconds=2), command_id="same")
    assert tools.table == before
    applied = first.outcome is CommandOutcome.APPLIED
    assert again.outcome is (CommandOutcome.ALREADY_APPLIED if applied else first.outcome)
    assert again.job_id == first.job_id


@pytest.mark.parametrize("kind", K)
def test_the_same_record_twice_changes_nothing(kind: CommandKind) -> None:
    tools = Triage()
    tools.put(a_health(status=Status.DOWN, cooldowns=(a_cooldown(),)))
    event = a_command(kind, **COMPLETE[kind])
    tools.take_command(event, offset=1)
    before = dict(tools.table)
    tools.take_command(event, offset=1)
    assert tools.table == before


def test_a_record_whose_answer_was_another_is_a_repeat_once_something_behind_it_was_done() -> None:
    tools = Triage()
    refused = a_command(K.OVERRIDE, command_id="refused")
    assert isinstance(tools.take_command(refused, offset=1), Commanded)
    tools.take_command(a_command(K.OVERRIDE, command_id="done", **COMPLETE[K.OVERRIDE]), offset=2)
    assert isinstance(tools.take_command(refused, offset=1), Repeat)


def test_a_recheck_that_found_its_job_in_a_wider_document_starts_none_when_it_is_repeated_later() -> None:
    tools = Triage()
    job_id = tools.send(http_status=503, project_id=None).job_id
    recheck = a_command(K.RECHECK, command_id="recheck")
    done = tools.take_command(recheck, offset=1)
    assert isinstance(done, Commanded)
    assert (done.outcome, done.job_id) == (CommandOutcome.ALREADY_APPLIED, job_id)
    everybody = {"scope": Scope.TENANT, "scope_id": "acme"}
    tools.take_command(a_command(K.DELETE, command_id="delete", **COMPLETE[K.DELETE] | everybody), offset=2)
    assert isinstance(tools.take_command(recheck, offset=1), Repeat)


def test_the_last_eight_command_ids_are_remembered() -> None:
    tools = Triage()
    for number in range(12):
        give(tools, K.OVERRIDE, command_id=f"c{number}")
    remembered = tools.entry().handled_command_ids
    assert remembered == tuple(f"c{number}" for number in range(11, 11 - RECENT_IDS, -1))


@pytest.mark.parametrize("kind", [K.LIFT_OVERRIDE, K.OVERRIDE, K.DELETE, K.SET_AVAILABLE, K.SET_COOLDOWN])
def test_a_command_that_comes_after_a_later_one_is_refused(kind: CommandKind) -> None:
    tools = Triage()
    give(tools, K.OVERRIDE, after(minutes=2))
    before = dict(tools.table)
    done = tools.command(kind, after(minutes=3), **(COMPLETE[kind] | {"at": after(minutes=1)}))
    assert (done.outcome, done.reason) == (
        CommandOutcome.REFUSED,
        "at: a later command was carried out before",
    )
    assert tools.table == before


def test_what_a_person_says_about_evidence_gives_way_to_what_was_seen_later() -> None:
    tools = Triage()
    tools.send(after(minutes=2), **REFUSED)
    late = tools.command(K.SET_AVAILABLE, after(minutes=3), at=after(minutes=1))
    assert (late.outcome, tools.health().status) == (CommandOutcome.REFUSED, Status.DOWN)
    tools.succeed(after(minutes=4))
    late = give(tools, K.SET_UNAVAILABLE, after(minutes=5), at=after(minutes=3))
    assert (late.outcome, tools.health().status) == (CommandOutcome.REFUSED, Status.OK)


def test_a_command_without_a_time_counts_from_when_it_arrived() -> None:
    tools = Triage()
    give(tools, K.OVERRIDE, at=None)
    assert tools.health().override is not None
    assert tools.health().updated_at == NOW


def test_a_full_document_takes_no_further_cooldown_and_says_so() -> None:
    tools = Triage()
    kinds = [a_cooldown(error_signature=f"kind-{number}") for number in range(MAX_COOLDOWNS)]
    tools.put(a_health(cooldowns=tuple(kinds)))
    assert give(tools, K.SET_COOLDOWN).reason == "the document can hold no further cooldown"
    assert give(tools, K.SET_COOLDOWN, error_signature="kind-1").outcome is CommandOutcome.APPLIED
    assert give(tools, K.SET_COOLDOWN, after(hours=3)).outcome is CommandOutcome.APPLIED


def test_secrets_in_a_reason_are_not_kept() -> None:
    tools = Triage()
    give(tools, K.OVERRIDE, reason="key\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz012345")
    override = tools.health().override
    assert override is not None
    assert "abcdefghij" not in override.reason
    assert "\n" not in override.reason

"""How long a pause is, whom it covers, and how two entries of one key become one."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.cooldown import (
    BACKOFFS,
    active_cover,
    cleared,
    covers,
    in_flight,
    is_active,
    is_remembered,
    joined,
    merged,
    span_for,
)
from agrajag.core.policy import Policy
from agrajag.model.enums import Classification
from agrajag.model.health import Cooldown
from tests.builders import NOW, a_cooldown, a_rule, features_of

POLICY = Policy()
_SECOND, _MINUTE, _HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("classification", "spans"),
    [
        (Classification.USER_PERMISSION, [24 * _HOUR] * 3),
        (Classification.USER_INPUT, [5 * _MINUTE] * 3),
        (Classification.TECHNICALLY_BROKEN, [5 * _MINUTE] * 3),
        (
            Classification.USER_SPECIFIC_TECHNICAL,
            [
                15 * _MINUTE,
                30 * _MINUTE,
                _HOUR,
                2 * _HOUR,
                4 * _HOUR,
                8 * _HOUR,
                16 * _HOUR,
                24 * _HOUR,
                24 * _HOUR,
            ],
        ),
        (
            Classification.INTERMITTENT,
            [30 * _SECOND, 2 * _MINUTE, 8 * _MINUTE, 32 * _MINUTE, 2 * _HOUR, 2 * _HOUR],
        ),
        (
            Classification.UNCLEAR,
            [
                30 * _SECOND,
                _MINUTE,
                2 * _MINUTE,
                4 * _MINUTE,
                8 * _MINUTE,
                16 * _MINUTE,
                30 * _MINUTE,
                30 * _MINUTE,
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_class_backs_off_by_its_factor_up_to_its_limit(
    classification: Classification, spans: list[timedelta]
) -> None:
    rule = a_rule(classification=classification)
    assert [span_for(rule, hits, features_of(), NOW, POLICY) for hits in range(1, len(spans) + 1)] == spans


def test_every_class_but_working_has_a_default() -> None:
    assert set(BACKOFFS) == set(Classification) - {Classification.WORKING}


@given(st.sampled_from(list(BACKOFFS)), st.integers(min_value=1, max_value=2**53))
def test_a_pause_never_shrinks_with_the_hits_and_never_passes_the_cap(
    kind: Classification, hits: int
) -> None:
    rule = a_rule(classification=kind)
    span = span_for(rule, hits, features_of(), NOW, POLICY)
    assert _SECOND <= span_for(rule, 1, features_of(), NOW, POLICY) <= span <= timedelta(hours=24)


def test_what_a_rule_states_holds_as_stated_and_does_not_back_off() -> None:
    rule = a_rule(cooldown=7 * _MINUTE)
    assert {span_for(rule, hits, features_of(), NOW, POLICY) for hits in (1, 2, 50)} == {7 * _MINUTE}


@pytest.mark.parametrize(
    ("cap", "expected"),
    [(48 * _HOUR, 48 * _HOUR), (24 * _HOUR, 24 * _HOUR), (_HOUR, _HOUR), (_MINUTE, _HOUR)],
)
def test_a_pause_is_capped_by_the_policy_but_never_below_an_hour(cap: timedelta, expected: timedelta) -> None:
    rule = a_rule(cooldown=timedelta(days=30))
    assert span_for(rule, 1, features_of(), NOW, Policy(cooldown_max=cap)) == expected


def test_a_pause_is_at_least_a_second() -> None:
    assert span_for(a_rule(cooldown=timedelta(microseconds=1)), 1, features_of(), NOW, POLICY) == _SECOND


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "120"}, 2 * _MINUTE),
        ({"retry-after": "Sat, 23 May 2026 12:10:00 GMT"}, 10 * _MINUTE),
        ({"Retry-After": "Sat, 23 May 2026 12:10:00 GMT", "Date": "Sat, 23 May 2026 12:09:00 GMT"}, _MINUTE),
        ({"RETRY-AFTER": "999999"}, 24 * _HOUR),
        ({"retry-after": "-5"}, _SECOND),
        ({"retry-after": "soon"}, 30 * _SECOND),
        ({"retry-after": ""}, 30 * _SECOND),
        ({"x-other": "120"}, 30 * _SECOND),
    ],
)
def test_a_pause_read_from_a_header_is_clamped_and_falls_back_to_the_class(
    headers: dict[str, str], expected: timedelta
) -> None:
    rule = a_rule(classification=Classification.INTERMITTENT, cooldown_header="retry-after")
    assert span_for(rule, 1, features_of(headers=headers), NOW, POLICY) == expected


def test_a_header_that_says_nothing_backs_off_like_its_class() -> None:
    rule = a_rule(classification=Classification.INTERMITTENT, cooldown_header="retry-after")
    assert span_for(rule, 2, features_of(), NOW, POLICY) == 2 * _MINUTE


def test_a_pause_is_over_at_its_deadline() -> None:
    pause = a_cooldown(next_spawn_allowed_at=NOW)
    assert is_active(pause, NOW - _SECOND)
    assert not is_active(pause, NOW)
    assert not is_active(pause, NOW + _SECOND)


@pytest.mark.parametrize(
    ("user", "signature", "asking", "covered"),
    [
        (None, "http-5xx", "alice", True),
        (None, "http-5xx", None, True),
        (None, "timeout", "alice", False),
        (None, None, "alice", True),
        ("alice", "http-5xx", "alice", True),
        ("alice", None, "alice", True),
        ("alice", "http-5xx", "bob", False),
        ("alice", "http-5xx", None, False),
        ("alice", "timeout", "alice", False),
    ],
)
def test_a_pause_covers_its_signature_for_its_user_and_one_for_everybody_covers_named_users_too(
    user: str | None, signature: str | None, asking: str | None, covered: bool
) -> None:
    pause = a_cooldown(user_id=user)
    assert covers(pause, signature, asking) is covered
    assert (active_cover([pause], signature, asking, NOW) is pause) is covered


def test_without_pauses_nothing_is_covered() -> None:
    assert active_cover([], None, None, NOW) is None


def test_a_pause_that_is_over_covers_nobody() -> None:
    assert active_cover([a_cooldown(next_spawn_allowed_at=NOW)], "http-5xx", None, NOW) is None


def test_of_several_covering_pauses_the_one_that_ends_last_is_named() -> None:
    short, long = a_cooldown(user_id="alice"), a_cooldown(next_spawn_allowed_at=NOW + _HOUR)
    other = a_cooldown(user_id="bob", next_spawn_allowed_at=NOW + 2 * _HOUR)
    assert active_cover([short, long, other], "http-5xx", "alice", NOW) is long


def test_hits_are_remembered_for_an_hour_after_the_end() -> None:
    pause = a_cooldown(next_spawn_allowed_at=NOW)
    assert is_remembered(pause, NOW + _HOUR - _SECOND, POLICY)
    assert not is_remembered(pause, NOW + _HOUR, POLICY)


def test_a_cleared_pause_is_over_and_its_hits_are_remembered() -> None:
    pause = cleared(a_cooldown(hits=3, next_spawn_allowed_at=NOW + _HOUR), NOW)
    assert not is_active(pause, NOW)
    assert pause.hits == 3
    assert is_remembered(pause, NOW + _MINUTE, POLICY)


def test_clearing_a_pause_that_is_over_does_not_lengthen_it() -> None:
    over = a_cooldown(next_spawn_allowed_at=NOW - _HOUR)
    assert cleared(over, NOW) == over


def test_a_diagnosis_is_in_flight_until_its_lease_ends() -> None:
    claim = a_cooldown(job_id="job-1", claimed_by="event-1", lease_until=NOW)
    assert in_flight(claim, NOW - _SECOND)
    assert not in_flight(claim, NOW)
    assert not in_flight(a_cooldown(), NOW)
    assert not in_flight(a_cooldown(lease_until=NOW + _HOUR), NOW)


def test_a_pause_that_is_made_longer_lasts_since_it_began_and_never_since_a_time_that_is_only_guessed() -> (
    None
):
    more = a_cooldown(since=NOW, next_spawn_allowed_at=NOW + 2 * _HOUR)
    known = a_cooldown(since=NOW - _HOUR, next_spawn_allowed_at=NOW + _HOUR)
    assert joined(known, more, NOW).since == NOW - _HOUR
    assert joined(known.with_changes(since=None), more, NOW).since is None
    assert joined(known.with_changes(next_spawn_allowed_at=NOW), more, NOW).since == NOW


_TIMES = st.sampled_from([timedelta(0), timedelta(milliseconds=500), _SECOND, _HOUR]).map(
    lambda after: NOW + after
)
_ENTRIES = st.builds(
    lambda **fields: a_cooldown(**fields),
    since=st.none() | _TIMES,
    next_spawn_allowed_at=_TIMES,
    last_triggered_at=_TIMES,
    hits=st.sampled_from([1, 2, 9, 10]),
    last_classification=st.none() | st.sampled_from([Classification.UNCLEAR, Classification.INTERMITTENT]),
    note=st.sampled_from([None, "a", "b"]),
    claimed_by=st.sampled_from([None, "event-1", "event-2"]),
    job_id=st.sampled_from([None, "job-1"]),
    lease_until=st.none() | _TIMES,
)


@given(_ENTRIES, _ENTRIES)
def test_merging_two_entries_does_not_depend_on_their_order(one: Cooldown, other: Cooldown) -> None:
    assert merged(one, other) == merged(other, one)


@given(_ENTRIES, _ENTRIES)
def test_merging_an_entry_again_changes_nothing(one: Cooldown, other: Cooldown) -> None:
    assert merged(one, one) == one
    assert merged(merged(one, other), other) == merged(one, other)


@given(_ENTRIES, _ENTRIES, _ENTRIES)
def test_merging_three_entries_does_not_depend_on_their_grouping(
    one: Cooldown, two: Cooldown, three: Cooldown
) -> None:
    assert merged(merged(one, two), three) == merged(one, merged(two, three))


@given(_ENTRIES, _ENTRIES)
def test_a_merged_entry_has_the_later_deadline_and_the_more_hits(one: Cooldown, other: Cooldown) -> None:
    both = merged(one, other)
    assert both.next_spawn_allowed_at == max(one.next_spawn_allowed_at, other.next_spawn_allowed_at)
    assert both.hits == max(one.hits, other.hits)
    assert both.since in {one.since, other.since}
    assert both.since is None or all(both.since <= known for known in (one.since, other.since) if known)
    assert both.last_triggered_at == max(one.last_triggered_at, other.last_triggered_at)

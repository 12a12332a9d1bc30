"""Without a model: what probes and history say, and above all what they do not say."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.diagnosis.diagnostician import decide
from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal
from agrajag.model.enums import Classification, CredentialKind, Scope, Status, Transport
from agrajag.model.jobs import Diagnosis
from tests.builders import NOW, a_cooldown
from tests.diagnosis.cases import SYSTEM, USER, a_snapshot, an_entry, fails, works

BROKEN = Classification.TECHNICALLY_BROKEN
OWN = Classification.USER_SPECIFIC_TECHNICAL
PERMISSION = Classification.USER_PERMISSION
INPUT = Classification.USER_INPUT
INTERMITTENT = Classification.INTERMITTENT
WORKING = Classification.WORKING
UNCLEAR = Classification.UNCLEAR


def said(*outcomes: ProbeOutcome, **job: Any) -> Diagnosis:
    """What these probes say of a job without a history."""
    return decide(a_snapshot(**job), outcomes, {}, NOW)


def anonymous(outcome: ProbeOutcome) -> ProbeOutcome:
    return works(**{name: getattr(outcome, name) for name in outcome.__slots__} | {"had_credentials": False})


@pytest.mark.parametrize(
    ("outcomes", "job", "expected"),
    [
        pytest.param((works(USER), works(SYSTEM)), {}, WORKING, id="both work"),
        pytest.param((fails(USER), fails(SYSTEM)), {}, BROKEN, id="both fail the same technical way"),
        pytest.param(
            (fails(USER, "http-401", 401), works(SYSTEM)), {}, OWN, id="the user's credential is refused"
        ),
        pytest.param((fails(USER), works(SYSTEM), fails(USER)), {}, OWN, id="it fails for the user twice"),
        pytest.param((fails(USER), works(SYSTEM), works(USER)), {}, INTERMITTENT, id="it fails once"),
        pytest.param(
            (fails(USER), works(SYSTEM)), {"error_signature": "user-request"}, UNCLEAR, id="one slip alone"
        ),
        pytest.param((fails(USER), works(SYSTEM)), {"distinct_users": 40}, INTERMITTENT, id="many users"),
        pytest.param(
            (fails(USER, "http-403", 403), works(SYSTEM)), {}, PERMISSION, id="the user may not call it"
        ),
        pytest.param(
            (fails(USER, "http-403", 403), fails(SYSTEM, "http-403", 403)), {}, PERMISSION, id="nobody may"
        ),
        pytest.param(
            (fails(USER, "http-401", 401), fails(SYSTEM, "http-401", 401)), {}, UNCLEAR, id="all are refused"
        ),
        pytest.param(
            (anonymous(fails(USER, "http-401", 401)), anonymous(fails(SYSTEM, "http-401", 401))),
            {"error_signature": "http-401"},
            UNCLEAR,
            id="nobody had credentials",
        ),
        pytest.param(
            (fails(USER, "http-401", 401), anonymous(fails(SYSTEM, "http-401", 401))),
            {},
            OWN,
            id="only the user's credential was tried",
        ),
        pytest.param(
            (fails(USER), anonymous(fails(SYSTEM, "http-401", 401))), {}, UNCLEAR, id="only the user tells"
        ),
        pytest.param(
            (fails(USER, "http-404", 404), anonymous(fails(SYSTEM, "http-404", 404))),
            {"error_signature": "http-404"},
            UNCLEAR,
            id="it may be hidden from whoever has no credential",
        ),
        pytest.param(
            (fails(USER, "unmatched", 302), anonymous(fails(SYSTEM, "unmatched", 302))),
            {"error_signature": "unmatched"},
            UNCLEAR,
            id="both are sent to sign in",
        ),
        pytest.param(
            (fails(USER, "unmatched", None), anonymous(fails(SYSTEM, "unmatched", None))),
            {"error_signature": "unmatched"},
            UNCLEAR,
            id="the tool tells both that it lacks something",
        ),
        pytest.param(
            2 * (fails(SYSTEM, "http-404", 404, had_credentials=False, takes_credentials=True),),
            {"error_signature": "http-404"},
            UNCLEAR,
            id="nobody had the credentials that are declared",
        ),
        pytest.param(
            (fails(USER, "unmatched", 302), works(SYSTEM)),
            {"error_signature": "unmatched"},
            UNCLEAR,
            id="the user alone is sent elsewhere",
        ),
        pytest.param(
            (
                fails(USER),
                anonymous(fails(SYSTEM, "timeout", None, unanswered=True)),
                anonymous(fails(SYSTEM)),
            ),
            {},
            BROKEN,
            id="a server that fails needs no credential to be seen",
        ),
        pytest.param(
            (fails(USER, own_sample=True), fails(SYSTEM, own_sample=True), works(USER), works(SYSTEM)),
            {},
            WORKING,
            id="what a model's own input met is the input's",
        ),
        pytest.param(
            (works(USER), anonymous(fails(SYSTEM, "http-401", 401))), {}, WORKING, id="it works for the user"
        ),
        pytest.param(
            (anonymous(fails(USER)), works(SYSTEM), anonymous(fails(USER))),
            {},
            INTERMITTENT,
            id="without credentials nothing is the user's own",
        ),
        pytest.param(
            (fails(SYSTEM, "http-401", 401), works(USER)), {}, WORKING, id="only the system's key is bad"
        ),
        pytest.param((works(USER), fails(SYSTEM)), {}, INTERMITTENT, id="it fails for the system alone"),
        pytest.param(
            (fails(USER, "http-429", 429), works(SYSTEM)), {}, INTERMITTENT, id="the user called too often"
        ),
        pytest.param(
            (fails(USER, "timeout", None), fails(SYSTEM, "timeout", None)),
            {"error_signature": "timeout"},
            BROKEN,
            id="it hangs for all",
        ),
        pytest.param(
            (fails(USER, "timeout", None), fails(SYSTEM, "timeout", None)),
            {},
            INTERMITTENT,
            id="it is too slow for a probe only",
        ),
        pytest.param(
            (works(USER, duration_ms=4_000), works(SYSTEM)),
            {"error_signature": "timeout"},
            INTERMITTENT,
            id="it is slow",
        ),
        pytest.param(
            (works(USER), works(SYSTEM)),
            {"error_signature": "unclassified", "error_detail": "status: 422\nmessage: bad field"},
            INPUT,
            id="the call was wrong",
        ),
        pytest.param(
            (works(USER), works(SYSTEM)),
            {
                "error_signature": "tool-exception",
                "error_detail": "exception: ValidationError < ToolException",
            },
            INPUT,
            id="the call was refused by its form",
        ),
        pytest.param(
            (works(USER), works(SYSTEM)), {"error_signature": "http-404"}, INPUT, id="a page was not found"
        ),
        pytest.param(
            (fails(USER, "http-404", 404), fails(SYSTEM, "http-404", 404)),
            {"error_signature": "http-404"},
            BROKEN,
            id="the endpoint is gone",
        ),
        pytest.param(
            (fails(USER, "http-404", 404), fails(SYSTEM, "http-404", 404)),
            {},
            UNCLEAR,
            id="the sample is gone",
        ),
        pytest.param(
            (fails(USER, "unclassified", 400), fails(SYSTEM, "unclassified", 400)),
            {"error_signature": "unclassified"},
            UNCLEAR,
            id="the sample is refused",
        ),
        pytest.param(
            (works(USER), works(SYSTEM)), {"error_signature": "schema-violation"}, UNCLEAR, id="wrong schema"
        ),
        pytest.param((), {}, UNCLEAR, id="nothing was probed"),
        pytest.param(
            (fails(USER, "unclassified", 410), fails(SYSTEM, "unclassified", 410)),
            {},
            BROKEN,
            id="it is gone",
        ),
        pytest.param(
            (fails(USER, "tool-exception", None), works(SYSTEM), fails(USER, "tool-exception", None)),
            {"error_signature": "tool-exception"},
            UNCLEAR,
            id="the tool tells the user of something",
        ),
        pytest.param(
            (fails(USER, "unclassified", 400, raw_response='{"error": "invalid_grant"}'), works(SYSTEM)),
            {},
            OWN,
            id="a 400 that is about the grant",
        ),
        pytest.param(
            (
                fails(USER, "tool-exception", None, raw_response="forbidden: no scope mail.read"),
                works(SYSTEM),
            ),
            {},
            PERMISSION,
            id="the tool wants another scope",
        ),
        pytest.param(
            (fails(USER, raw_response="forbidden, token expired"), fails(SYSTEM)),
            {},
            BROKEN,
            id="a failing server may say what it likes",
        ),
        pytest.param(
            (fails(SYSTEM, "http-401", 401),),
            {"error_signature": "http-401", "credential_kind": CredentialKind.SHARED},
            BROKEN,
            id="the credential that all share is refused",
        ),
        pytest.param(
            (works(USER), works(SYSTEM)),
            {"error_signature": "http-404", "transport": Transport.MCP},
            WORKING,
            id="an MCP server had forgotten a session",
        ),
        pytest.param(
            (works(SYSTEM),), {"error_signature": "http-401"}, OWN, id="the system's credential is good"
        ),
        pytest.param(
            (works(SYSTEM),),
            {"error_signature": "http-401", "credential_kind": CredentialKind.SHARED},
            WORKING,
            id="the refused credential was nobody's own",
        ),
        pytest.param(
            (fails(SYSTEM), fails(SYSTEM)),
            {"originating_user_id": None},
            BROKEN,
            id="nobody's job, seen twice",
        ),
        pytest.param(
            (fails(SYSTEM), works(SYSTEM)), {"originating_user_id": None}, INTERMITTENT, id="seen to flap"
        ),
        pytest.param(
            (fails(SYSTEM),),
            {"originating_user_id": None, "error_signature": "user-request", "error_count": 0},
            INTERMITTENT,
            id="seen once, and nobody reported it",
        ),
        pytest.param(
            (fails(USER, "timeout", None), fails(SYSTEM)), {}, BROKEN, id="one hangs, one fails as reported"
        ),
        pytest.param(
            (fails(USER, "http-401", 401), fails(SYSTEM)), {}, UNCLEAR, id="each fails in its own way"
        ),
        pytest.param(
            (works(USER), works(SYSTEM)), {"error_count": 100}, INTERMITTENT, id="a hundred errors before"
        ),
        pytest.param(
            (works(USER), works(SYSTEM)),
            {"error_signature": "mcp-session-lost", "error_detail": "message: session not found"},
            WORKING,
            id="a lost session has been made anew",
        ),
    ],
)
def test_the_same_probes_always_say_the_same(
    outcomes: tuple[ProbeOutcome, ...], job: dict[str, Any], expected: Classification
) -> None:
    assert said(*outcomes, **job).classification is expected


def test_what_is_one_users_own_lands_on_the_user() -> None:
    assert said(fails(USER, "http-401", 401), works(SYSTEM)).scope is Scope.USER


def test_nothing_is_a_users_own_without_a_user() -> None:
    found = said(fails(USER, "http-401", 401), works(SYSTEM), originating_user_id=None)
    assert (found.classification, found.scope) == (UNCLEAR, Scope.PROJECT)


@pytest.mark.parametrize(
    ("signature", "locale", "expected"),
    [
        ("auth-expired-marker", "de-CH", "Ihre Anmeldung bei search ist abgelaufen."),
        ("auth-expired-marker", "fr", "Your sign-in to search has expired."),
        ("http-401", "de", "search nimmt Ihre Zugangsdaten nicht an."),
        ("http-401", None, "search does not accept your credentials."),
    ],
)
def test_the_user_is_told_what_to_do_in_their_language(
    signature: str, locale: str | None, expected: str
) -> None:
    hint = said(fails(USER, signature, 401), works(SYSTEM), locale=locale).user_action_hint
    assert hint is not None
    assert hint.startswith(expected)


def test_a_response_that_says_so_makes_a_refused_credential_an_expired_one() -> None:
    told = fails(USER, "http-401", 401, raw_response='{"error": "token_expired"}')
    assert "expired" in (said(told, works(SYSTEM)).user_action_hint or "")


def test_a_long_tool_name_does_not_make_a_hint_too_long() -> None:
    hint = said(fails(USER), works(SYSTEM), fails(USER), tool_name="x" * 256, locale="de").user_action_hint
    assert hint is not None
    assert len(hint) <= 200


def test_a_rate_limit_lasts_as_long_as_the_tool_has_said() -> None:
    limited = fails(SYSTEM, "http-429", 429, raw_response="retry-after: 90\n\nslow down")
    found = said(limited)
    assert found.expected_recovery_at == NOW + timedelta(seconds=90)
    assert [
        (entry.error_signature, entry.user_id, entry.duration) for entry in found.cooldown_adjustments
    ] == [
        ("http-5xx", None, timedelta(seconds=90)),
        ("http-429", None, timedelta(seconds=90)),
    ]


def test_an_overloaded_server_that_asks_to_come_back_soon_is_not_down() -> None:
    found = said(fails(USER), fails(SYSTEM, raw_response="retry-after: 20\n\noverloaded"))
    assert (found.classification, found.expected_recovery_at) == (INTERMITTENT, NOW + timedelta(seconds=20))


def test_a_server_that_says_how_long_it_is_away_is_believed() -> None:
    found = said(fails(USER, raw_response="retry-after: 5400\n\nmaintenance"), fails(SYSTEM))
    assert (found.classification, found.expected_recovery_at) == (BROKEN, NOW + timedelta(minutes=90))


def test_a_rate_limit_of_centuries_lasts_a_day() -> None:
    limited = fails(SYSTEM, "http-429", 429, raw_response='{"retry_after": "999999999"}')
    assert said(limited).expected_recovery_at == NOW + timedelta(hours=24)


def test_a_rate_limit_that_layer_1_has_read_lasts_until_then() -> None:
    until = NOW + timedelta(minutes=40)
    known = a_cooldown(
        error_signature="http-429", next_spawn_allowed_at=until, last_classification=INTERMITTENT
    )
    found = decide(a_snapshot(cooldowns=(known,)), [fails(SYSTEM, "http-429", 429)], {}, NOW)
    assert found.expected_recovery_at == until


def test_a_rate_limit_on_the_users_credential_is_the_users_alone() -> None:
    found = said(fails(USER, "http-429", 429), works(SYSTEM))
    assert found.scope is Scope.USER
    assert {entry.user_id for entry in found.cooldown_adjustments} == {"alice"}


def test_a_session_is_not_left_for_the_user_because_of_a_rate_limit() -> None:
    found = said(fails(USER, "http-429", 429), works(SYSTEM), scope=Scope.SESSION, scope_id="s-1")
    assert found.scope is Scope.SESSION


def test_two_outages_make_a_pattern_for_the_third() -> None:
    history = (
        an_entry(100, Status.OK),
        an_entry(120),
        an_entry(300, Status.OK),
        an_entry(340),
    )
    found = decide(a_snapshot(*history), [fails(USER), fails(SYSTEM)], {}, NOW)
    assert found.expected_recovery_at == NOW + timedelta(minutes=40)
    assert {entry.duration for entry in found.cooldown_adjustments} == {timedelta(minutes=40)}


def test_one_outage_makes_no_pattern() -> None:
    found = decide(a_snapshot(an_entry(100, Status.OK), an_entry(120)), [fails(USER), fails(SYSTEM)], {}, NOW)
    assert (found.classification, found.expected_recovery_at) == (BROKEN, None)
    assert {entry.duration for entry in found.cooldown_adjustments} == {timedelta(minutes=5)}


def test_a_tool_that_came_and_went_within_the_hour_is_intermittent_though_it_works() -> None:
    history = (an_entry(5), an_entry(10, Status.OK), an_entry(20))
    found = decide(a_snapshot(*history), [works(USER), works(SYSTEM)], {}, NOW)
    assert found.classification is INTERMITTENT
    assert found.expected_recovery_at == NOW + timedelta(hours=1)


def test_one_long_outage_that_is_over_is_no_flapping() -> None:
    history = (an_entry(5, count=12),)
    assert decide(a_snapshot(*history), [works(USER), works(SYSTEM)], {}, NOW).classification is WORKING


def test_trouble_of_yesterday_is_no_flapping() -> None:
    history = (an_entry(1_400), an_entry(1_410, Status.OK), an_entry(1_420))
    assert decide(a_snapshot(*history), [works(USER), works(SYSTEM)], {}, NOW).classification is WORKING


def test_without_a_target_it_says_that_nothing_was_probed() -> None:
    found = decide(a_snapshot(), [], {USER: ProbeRefusal.NO_TARGET}, NOW)
    assert found.classification is UNCLEAR
    assert "As user: not probed, NO_TARGET." in found.human_note


@pytest.mark.parametrize("text", ["status: 422", "400 Bad Request: invalid input", "code: INVALID"])
def test_the_words_of_an_error_never_make_it_the_callers_fault(text: str) -> None:
    job = {"error_signature": "unclassified", "error_detail": f"exception: OSError\nmessage: {text}\n{text}"}
    assert said(works(USER), works(SYSTEM), **job).classification is WORKING

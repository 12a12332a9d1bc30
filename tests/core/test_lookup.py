"""Whose word counts for a caller: random cascades against a plain reading of the rule, and the scopes of a caller."""

from datetime import datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.core.lookup import Caller, has_lapsed, is_unconfirmed, speaks_for, unconfirmed_since
from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import LinkFacet, OverrideFacet, ToolHealth, VerdictFacet
from tests.builders import NOW, a_cooldown, a_health, an_error

POLICY = Policy()
DAY = timedelta(days=1)

# Few moments, so that they often meet exactly; a day is what a verdict lasts without confirmation.
_MOMENTS = st.sampled_from([NOW + hours * timedelta(hours=1) for hours in (-48, -25, -24, -1, 0, 1, 24, 48)])
_MAYBE = st.none() | _MOMENTS
_STATUSES = st.sampled_from(Status)
_VERDICTS = st.builds(
    lambda status, recovery, evidence: VerdictFacet(
        status=status, expected_recovery_at=recovery, evidence_at=evidence
    ),
    _STATUSES,
    _MAYBE,
    _MAYBE,
)
_OVERRIDES = st.builds(
    lambda status, until: OverrideFacet(status=status, reason="said so", by="bob", at=NOW - DAY, until=until),
    _STATUSES,
    _MAYBE,
)
_LINKS = _MAYBE.map(lambda since: LinkFacet(down_since=since))


def _document(
    scope: Scope, verdict: VerdictFacet, link: LinkFacet, override: OverrideFacet | None, cools: bool
) -> ToolHealth:
    cooldowns = (a_cooldown(),) if cools else ()
    return a_health(
        scope=scope, scope_id="", verdict=verdict, link=link, override=override, cooldowns=cooldowns
    )


@st.composite
def cascades(draw: st.DrawFn) -> list[ToolHealth]:
    """Documents of some scopes, narrowest first, each with any facets."""
    scopes = draw(st.sets(st.sampled_from(Scope)))
    return [
        _document(scope, draw(_VERDICTS), draw(_LINKS), draw(st.none() | _OVERRIDES), draw(st.booleans()))
        for scope in sorted(scopes, key=lambda scope: scope.rank)
    ]


def opinion(document: ToolHealth, now: datetime) -> Status | None:
    """What a document says, read off its facets one by one; None: it says nothing."""
    override, verdict = document.override, document.verdict
    if override and (override.until is None or override.until > now):
        return override.status
    if document.link.down_since:
        return Status.DOWN
    if verdict.status is Status.OK:
        return None
    if verdict.expected_recovery_at:
        return verdict.status if verdict.expected_recovery_at > now else None
    if verdict.evidence_at and verdict.evidence_at + DAY <= now:
        return None
    return verdict.status


@given(cascades(), _MOMENTS)
def test_the_narrowest_document_with_an_opinion_speaks_for_the_caller(
    documents: list[ToolHealth], now: datetime
) -> None:
    with_opinion = [document for document in documents if opinion(document, now) is not None]
    speaker = speaks_for(documents, now, POLICY)
    assert speaker is (with_opinion[0] if with_opinion else None)
    if speaker is not None:
        assert speaker.status_at(now) is opinion(speaker, now)


@given(cascades(), _MOMENTS, st.sampled_from(Scope))
def test_a_document_of_cooldowns_alone_never_changes_who_speaks(
    documents: list[ToolHealth], now: datetime, scope: Scope
) -> None:
    cooling = _document(scope, VerdictFacet(), LinkFacet(), None, cools=True)
    for place in range(len(documents) + 1):
        joined = [*documents[:place], cooling, *documents[place:]]
        assert speaks_for(joined, now, POLICY) is speaks_for(documents, now, POLICY)


@given(cascades(), _MOMENTS, _STATUSES)
def test_what_a_person_says_at_the_narrowest_scope_always_counts(
    documents: list[ToolHealth], now: datetime, status: Status
) -> None:
    override = OverrideFacet(status=status, reason="said so", by="bob", at=now)
    said = a_health(scope=Scope.SESSION, scope_id="s", override=override)
    assert speaks_for([said, *documents], now, POLICY) is said


@given(cascades(), _MOMENTS)
def test_a_wider_document_never_speaks_over_a_narrower_one(
    documents: list[ToolHealth], now: datetime
) -> None:
    speaker = speaks_for(documents, now, POLICY)
    for narrowest in range(len(documents)):
        part = speaks_for(documents[: narrowest + 1], now, POLICY)
        assert part is None or part is speaker


@given(_VERDICTS, _MOMENTS)
@example(VerdictFacet(status=Status.DOWN), NOW)
def test_a_verdict_is_unconfirmed_a_day_after_its_evidence_unless_it_promises_a_recovery(
    verdict: VerdictFacet, now: datetime
) -> None:
    unconfirmed = is_unconfirmed(a_health(verdict=verdict), now, POLICY)
    if verdict.evidence_at is None or verdict.expected_recovery_at or verdict.status is Status.OK:
        assert not unconfirmed
    else:
        assert unconfirmed == (now >= verdict.evidence_at + DAY)


def test_how_long_a_verdict_lasts_without_confirmation_is_the_policys() -> None:
    document = a_health(status=Status.DOWN)
    short = Policy(unconfirmed_after=timedelta(minutes=1))
    assert speaks_for([document], NOW + timedelta(seconds=59), short) is document
    assert speaks_for([document], NOW + timedelta(minutes=1), short) is None


def test_a_closed_link_never_lapses() -> None:
    closed = a_health(
        link=LinkFacet(down_since=NOW),
        verdict=VerdictFacet(status=Status.DOWN, expected_recovery_at=NOW, evidence_at=NOW),
    )
    assert not has_lapsed(closed, NOW + 30 * DAY, POLICY)
    assert speaks_for([closed], NOW + 30 * DAY, POLICY) is closed


@pytest.mark.parametrize(
    ("caller", "keys"),
    [
        (
            Caller("acme", "essays", "alice", "session-1"),
            ["SESSION|session-1", "USER|alice", "PROJECT|essays", "TENANT|acme", "GLOBAL|"],
        ),
        (
            Caller("acme", "essays", None, "session-1"),
            ["SESSION|session-1", "PROJECT|essays", "TENANT|acme", "GLOBAL|"],
        ),
        (Caller("acme", None, "alice"), ["USER|alice", "TENANT|acme", "GLOBAL|"]),
        (Caller("acme", "essays"), ["PROJECT|essays", "TENANT|acme", "GLOBAL|"]),
        (Caller("acme"), ["TENANT|acme", "GLOBAL|"]),
    ],
)
def test_a_caller_has_one_key_for_each_of_its_scopes_narrowest_first(caller: Caller, keys: list[str]) -> None:
    assert caller.keys("search") == tuple(f"acme|{key}|search" for key in keys)


def test_the_caller_of_a_failed_call_is_whoever_its_report_names() -> None:
    event = an_error(tenant_id="t", project_id="p", user_id="u", session_id="s")
    assert Caller.of(event) == Caller(tenant_id="t", project_id="p", user_id="u", session_id="s")


_SESSION, _USER = (Scope.SESSION, "session-1"), (Scope.USER, "alice")
_PROJECT, _TENANT = (Scope.PROJECT, "essays"), (Scope.TENANT, "acme")
_ALL = Caller("acme", "essays", "alice", "session-1")
_NO_SESSION = Caller("acme", "essays", "alice")
_NO_USER = Caller("acme", "essays", None, "session-1")
_TENANT_ALONE = Caller("acme")
_OWN = Classification.USER_SPECIFIC_TECHNICAL
_USERS = [Classification.USER_PERMISSION, Classification.USER_INPUT]
_EVERYBODYS = [
    Classification.TECHNICALLY_BROKEN,
    Classification.INTERMITTENT,
    Classification.UNCLEAR,
    Classification.WORKING,
]


@pytest.mark.parametrize(
    ("caller", "tool", "classifications", "target"),
    [
        (_ALL, "search", _EVERYBODYS, _PROJECT),
        (_ALL, "search", [_OWN, *_USERS], _USER),
        (_ALL, "client_read", [*_EVERYBODYS, *_USERS], _SESSION),
        (_ALL, "client_read", [_OWN], _USER),
        (_ALL, "my_client_read", _EVERYBODYS, _PROJECT),
        (_NO_SESSION, "client_read", _EVERYBODYS, _PROJECT),
        (_NO_SESSION, "client_read", [_OWN, *_USERS], _USER),
        (_NO_USER, "search", [_OWN, *_USERS, *_EVERYBODYS], _PROJECT),
        (_NO_USER, "client_read", [_OWN], _PROJECT),
        (_TENANT_ALONE, "search", [_OWN, *_USERS, *_EVERYBODYS], _TENANT),
        (_TENANT_ALONE, "client_read", [_OWN, *_USERS, *_EVERYBODYS], _TENANT),
        (Caller("acme", None, "alice"), "search", _EVERYBODYS, _TENANT),
        (Caller("acme", None, "alice"), "search", [_OWN, *_USERS], _USER),
    ],
)
def test_an_error_is_written_to_the_narrowest_scope_that_it_is_about(
    caller: Caller, tool: str, classifications: list[Classification], target: tuple[Scope, str]
) -> None:
    assert {caller.target(tool, each) for each in classifications} == {target}


_NAMES = st.none() | st.sampled_from(["a", "b", "client_"])


@given(
    st.builds(Caller, st.just("acme"), _NAMES, _NAMES, _NAMES),
    st.sampled_from(["search", "client_read"]),
    st.sampled_from(Classification),
)
def test_what_an_error_is_written_to_always_applies_to_its_caller_and_is_never_global(
    caller: Caller, tool: str, classification: Classification
) -> None:
    scope, scope_id = caller.target(tool, classification)
    assert f"acme|{scope}|{scope_id}|{tool}" in caller.keys(tool)
    assert scope is not Scope.GLOBAL


def test_unconfirmed_since_is_the_last_evidence_and_only_of_a_status_that_the_verdict_shows() -> None:
    verdict = VerdictFacet(status=Status.DOWN, evidence_at=NOW)
    health = a_health(verdict=verdict)
    assert unconfirmed_since(health, NOW + DAY - timedelta(seconds=1), POLICY) is None
    assert unconfirmed_since(health, NOW + DAY, POLICY) == NOW
    by_a_person = OverrideFacet(status=Status.DOWN, reason="maintenance", by="ford", at=NOW)
    for said in ({"override": by_a_person}, {"link": LinkFacet(down_since=NOW)}):
        assert unconfirmed_since(health.with_changes(**said), NOW + DAY, POLICY) is None
    assert unconfirmed_since(a_health(), NOW + DAY, POLICY) is None

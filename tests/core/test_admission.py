"""Nothing is refused but by the caller's own policy, and never for what nobody understands, believes or has to fear."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.admission import (
    NOTHING_KNOWN,
    Admission,
    Decision,
    Ended,
    GuardPolicy,
    Refusal,
    admission,
    held_back,
    is_long_quiet,
    lately_ended,
)
from agrajag.core.annotate import annotation
from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.policy import Policy
from agrajag.model.enums import Classification, CredentialKind, Scope, Status
from agrajag.model.health import LinkFacet, OverrideFacet, ToolHealth, VerdictFacet
from tests.builders import NOW, a_cooldown, a_health
from tests.core.triaging import REFUSED, Triage, after

ALICE, BOB = Caller("acme", "essays", "alice", "s1"), Caller("acme", "essays", "bob", "s2")
STRICT = GuardPolicy(refuse_down=True, refuse_degraded=True, refuse_cooling=True)
HARMLESS = {Classification.UNCLEAR, Classification.USER_INPUT, Classification.WORKING, None}
PROJECT_KEY = "acme|PROJECT|essays|search"

_TIMES = st.integers(-3, 3).map(lambda hours: NOW + timedelta(hours=hours))
_CLASSES = st.none() | st.sampled_from(Classification)
_COOLDOWNS = st.builds(
    lambda signature, user, until, kind, at: a_cooldown(
        error_signature=signature,
        user_id=user,
        next_spawn_allowed_at=until,
        last_classification=kind,
        last_triggered_at=at,
    ),
    st.sampled_from(["one", "other"]),
    st.sampled_from([None, "alice", "bob"]),
    _TIMES,
    _CLASSES,
    _TIMES,
)
_FACETS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "verdict": st.builds(
            VerdictFacet,
            status=st.sampled_from(Status),
            classification=_CLASSES,
            expected_recovery_at=st.none() | _TIMES,
            evidence_at=st.sampled_from([NOW - timedelta(days=2), NOW - timedelta(hours=1)]),
        ),
        "override": st.none()
        | st.builds(
            OverrideFacet,
            status=st.sampled_from(Status),
            reason=st.just("moving"),
            by=st.just("ops"),
            at=st.just(NOW),
            until=st.none() | _TIMES,
        ),
        "link": st.builds(LinkFacet, down_since=st.none() | st.just(NOW)),
        "cooldowns": st.lists(_COOLDOWNS, max_size=3).map(tuple),
        "last_success_at": st.none() | _TIMES,
    }
)
_SCOPES = {Scope.USER: "alice", Scope.PROJECT: "essays", Scope.TENANT: "acme"}
_CASCADES = st.fixed_dictionaries({}, optional=dict.fromkeys(_SCOPES, _FACETS)).map(
    lambda there: [
        a_health(scope=scope, scope_id=scope_id, **there[scope])
        for scope, scope_id in _SCOPES.items()
        if scope in there
    ]
)
_POLICIES = st.builds(GuardPolicy, st.booleans(), st.booleans(), st.booleans())


def asked(
    documents: Sequence[ToolHealth], own: GuardPolicy = STRICT, caller: Caller = ALICE, now: Any = NOW
) -> Admission:
    return admission(documents, caller, now, Policy(), own)


def ended(
    documents: Sequence[ToolHealth], own: GuardPolicy = STRICT, caller: Caller = ALICE, now: Any = NOW
) -> tuple[Ended, ...]:
    return lately_ended(documents, caller, now, Policy(), own)


@given(_CASCADES)
def test_without_a_policy_of_the_callers_nothing_is_ever_refused_or_tried(
    documents: list[ToolHealth],
) -> None:
    admitted = asked(documents, GuardPolicy())
    assert admitted.is_allowed
    assert admitted.annotation == annotation(documents, NOW, Policy())
    assert (admitted.decision is Decision.ALLOW_ANNOTATED) == (admitted.annotation is not None)
    assert ended(documents, GuardPolicy()) == ()


@given(_CASCADES, _POLICIES)
def test_every_refusal_has_a_cause_that_the_policy_names_that_lasts_and_that_is_understood(
    documents: list[ToolHealth], own: GuardPolicy
) -> None:
    admitted = asked(documents, own)
    speaking = speaks_for(documents, NOW, Policy())
    assert admitted.status is (speaking.status_at(NOW) if speaking else Status.OK)
    if admitted.is_allowed:
        assert (admitted.refusal, admitted.until, admitted.reason) == (None, None, None)
        return
    assert admitted.reason
    assert admitted.until is None or admitted.until > NOW
    if admitted.refusal is Refusal.COOLDOWN:
        assert own.refuse_cooling
        (behind, *_) = [
            entry
            for document in documents
            for entry in document.cooldowns
            if (entry.next_spawn_allowed_at, entry.error_signature) == (admitted.until, admitted.signature)
        ]
        assert behind.last_classification not in HARMLESS or behind.user_id != "alice"
        return
    assert speaking is not None
    assert own.refuses(speaking.status_at(NOW))
    said = speaking.active_override(NOW) is not None or speaking.link.down_since is not None
    assert said or speaking.verdict.classification not in HARMLESS


@given(_CASCADES, _POLICIES)
def test_a_pause_of_one_user_never_keeps_another_from_calling(
    documents: list[ToolHealth], own: GuardPolicy
) -> None:
    wide = [document for document in documents if document.scope is not Scope.USER]
    without = [
        document.with_changes(
            cooldowns=tuple(entry for entry in document.cooldowns if entry.user_id != "alice")
        )
        for document in wide
    ]
    for_bob, undisturbed = asked(wide, own, BOB), asked(without, own, BOB)
    assert for_bob._replace(reason=None) == undisturbed._replace(reason=None)
    assert ended(wide, own, BOB) == ended(without, own, BOB)


@given(_CASCADES, _POLICIES)
def test_what_has_ended_would_have_refused_before_and_refuses_no_more(
    documents: list[ToolHealth], own: GuardPolicy
) -> None:
    for one in ended(documents, own):
        assert one.at <= NOW < one.at + Policy().hits_memory
        about = next(
            document for document in documents if one.key.startswith(f"acme|{document.scope}|")
        ).with_changes(override=None, link=LinkFacet())
        before = asked([about], own, now=one.at - timedelta(seconds=1))
        assert not before.is_allowed


@given(_CASCADES, _POLICIES)
def test_of_what_is_long_quiet_nothing_is_known_and_nothing_has_to_be_tried(
    documents: list[ToolHealth], own: GuardPolicy
) -> None:
    if is_long_quiet(documents, NOW, Policy()):
        assert (asked(documents, own), ended(documents, own)) == (NOTHING_KNOWN, ())
    assert is_long_quiet([a_health(cooldowns=(a_cooldown(),))], after(hours=2), Policy())


def test_nothing_is_said_of_a_tool_of_which_nothing_is_known() -> None:
    assert asked([]) is NOTHING_KNOWN
    assert asked([a_health()]) is NOTHING_KNOWN


def test_a_tool_that_is_down_is_refused_with_why_and_until_when_by_those_who_want_that() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    documents = [tools.health()]
    refused = asked(documents, GuardPolicy(refuse_down=True))
    assert (refused.decision, refused.status, refused.refusal) == (
        Decision.REFUSE,
        Status.DOWN,
        Refusal.DOWN,
    )
    assert refused.until == after(minutes=5)
    assert refused.annotation == annotation(documents, NOW, Policy())
    assert refused.reason is not None
    assert refused.reason.startswith("down for project essays until 12:05 UTC")
    cooling = asked(documents, GuardPolicy(refuse_cooling=True))
    assert (cooling.refusal, cooling.until, cooling.signature) == (
        Refusal.COOLDOWN,
        after(minutes=5),
        "connect-refused",
    )
    assert asked(documents, GuardPolicy(refuse_degraded=True)).decision is Decision.ALLOW_ANNOTATED


def test_too_many_requests_on_one_users_credential_cool_that_user_alone() -> None:
    tools = Triage()
    headers = {"retry-after": "600"}
    tools.send(http_status=429, headers=headers, user_id="alice", credential_kind=CredentialKind.USER)
    documents = [tools.health()]
    assert asked(documents, caller=ALICE).until == after(minutes=10)
    assert asked(documents, caller=BOB).is_allowed
    tools.send(http_status=429, headers=headers, user_id="carol", credential_kind=CredentialKind.SHARED)
    assert not asked([tools.health()], caller=BOB).is_allowed


@pytest.mark.parametrize(
    "overrides", [{"http_status": 503}, {"exception_type": "ToolException", "body": "Manual not found"}]
)
def test_what_is_unclear_or_was_only_asked_wrongly_may_be_called_again_at_once(
    overrides: dict[str, Any],
) -> None:
    tools = Triage()
    tools.send(**overrides)
    documents = [entry.health for entry in tools.table.values() if entry.health is not None]
    assert documents
    assert all(asked(documents, now=after(seconds=n)).is_allowed for n in (0, 40, 400))
    assert ended(documents, now=after(seconds=400)) == ()


def test_after_its_promised_recovery_a_tool_is_tried_once_until_a_success_has_healed_it() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    assert ended([tools.health()], now=after(minutes=4)) == ()
    assert asked([tools.health()], now=after(minutes=6)).is_allowed
    assert ended([tools.health()], now=after(minutes=6)) == (Ended(PROJECT_KEY, None, after(minutes=5)),)
    assert ended([tools.health()], now=after(minutes=66)) == (), "nobody waits for ever"
    tools.succeed(after(minutes=7))
    assert ended([tools.health()], now=after(minutes=8)) == ()


def test_what_a_person_declares_well_needs_no_try() -> None:
    tools = Triage()
    tools.send(**REFUSED)
    well = OverrideFacet(status=Status.OK, reason="mended", by="ops", at=after(minutes=6))
    assert ended([tools.health().with_changes(override=well)], now=after(minutes=7)) == ()


def test_a_call_that_is_held_back_for_anothers_try_is_refused_for_as_long_as_told() -> None:
    told = held_back(NOTHING_KNOWN, after(seconds=5))
    assert (told.is_allowed, told.refusal, told.until) == (False, Refusal.ONE_TRY, after(seconds=5))

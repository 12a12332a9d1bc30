"""What never happens without a model, whatever the probes and the history are."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.probe_failures import evidence_in
from agrajag.diagnosis.diagnostician import decide
from agrajag.diagnosis.planner import next_probe
from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal
from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, Sign, reported_sign, sign_of
from agrajag.diagnosis.snapshot import Snapshot
from agrajag.model.enums import Classification, CredentialKind, ProbeIdentity, Scope, Status, Trigger
from agrajag.model.jobs import Diagnosis
from tests.builders import NOW, a_cooldown
from tests.diagnosis.cases import a_snapshot, an_entry, works

SIGNATURES = st.sampled_from(
    [f"http-{kind}" for kind in ("401", "401-expired", "403", "404", "429", "5xx")]
    + ["timeout", "connect-refused", "schema-violation", "manual-not-found", "tool-exception"]
    + ["unclassified", "user-request", "ours-17"]
)


@st.composite
def outcomes(draw: st.DrawFn) -> ProbeOutcome:
    success = draw(st.booleans())
    return works(
        draw(st.sampled_from(ProbeIdentity)),
        had_credentials=draw(st.booleans()),
        success=success,
        duration_ms=draw(st.sampled_from([1, 5_000])),
        status_code=draw(st.sampled_from([None, 200, 301, 400, 401, 403, 404, 422, 429, 500, 503, 504])),
        error_signature=None if success else draw(SIGNATURES),
        raw_response=draw(
            st.sampled_from(["", "token_expired", "retry-after: 5", "retry-after: 99999999999"])
        ),
    )


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    minutes = sorted(draw(st.lists(st.integers(0, 3_000_000), max_size=6)))
    history = [
        an_entry(ago, draw(st.sampled_from(Status)), count=draw(st.integers(1, 20))) for ago in minutes
    ]
    ends = draw(st.lists(st.integers(-60, 6_000), max_size=3))
    cooldowns = tuple(
        a_cooldown(error_signature="http-429", next_spawn_allowed_at=NOW + timedelta(minutes=end))
        for end in ends
    )
    scope = draw(st.sampled_from(Scope))
    job: dict[str, Any] = {
        "scope": scope,
        "scope_id": "" if scope is Scope.GLOBAL else "x",
        "originating_user_id": draw(st.sampled_from([None, "alice"])),
        "trigger": draw(st.sampled_from(Trigger)),
        "error_signature": draw(SIGNATURES),
        "error_detail": draw(st.sampled_from([None, "status: 422", "exception: ValueError", "message: x"])),
        "error_count": draw(st.sampled_from([0, 1, 100])),
        "distinct_users": draw(st.sampled_from([0, 1, 2, 32])),
        "credential_kind": draw(st.sampled_from([None, *CredentialKind])),
        "locale": draw(st.sampled_from([None, "de", "en-GB"])),
    }
    return a_snapshot(*history, cooldowns=cooldowns, **job)


refusals = st.dictionaries(st.sampled_from(ProbeIdentity), st.sampled_from(ProbeRefusal))
evidence = st.lists(outcomes(), max_size=6)


def said(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> Diagnosis:
    return decide(snapshot, seen, refused, NOW)


@given(snapshots(), evidence, refusals)
def test_nothing_is_ever_broken_without_a_probe_that_failed_technically(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> None:
    if said(snapshot, seen, refused).classification is not Classification.TECHNICALLY_BROKEN:
        return
    reported = reported_sign(snapshot.job)
    signs = [sign_of(outcome) for outcome in evidence_in(seen) if not outcome.success]
    is_shared = snapshot.job.credential_kind is CredentialKind.SHARED and reported is Sign.CREDENTIAL
    assert any(
        sign in TECHNICAL
        or (sign in AMBIGUOUS and sign is reported)
        or (sign is Sign.CREDENTIAL and is_shared)
        for sign in signs
    )
    assert not any(outcome.success for outcome in seen)


@given(snapshots(), evidence, refusals)
def test_nothing_ever_works_or_was_called_wrongly_without_a_probe_that_worked(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> None:
    if said(snapshot, seen, refused).classification in (Classification.WORKING, Classification.USER_INPUT):
        assert any(outcome.success for outcome in seen)


@given(snapshots(), evidence, refusals)
def test_no_answer_is_ever_wider_than_the_job(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> None:
    job, found = snapshot.job, said(snapshot, seen, refused)
    is_own = found.classification is Classification.USER_SPECIFIC_TECHNICAL
    assert found.scope.rank <= job.scope.rank or (is_own and job.scope is Scope.SESSION)
    assert not is_own or (found.scope is Scope.USER and job.originating_user_id is not None)
    for adjustment in found.cooldown_adjustments:
        assert adjustment.user_id in (job.originating_user_id, None)
        assert adjustment.user_id is not None or job.scope.rank >= Scope.PROJECT.rank


@given(snapshots(), evidence, refusals)
def test_no_recovery_ever_lies_in_the_past_or_beyond_what_is_believed(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> None:
    recovery = said(snapshot, seen, refused).expected_recovery_at
    assert recovery is None or NOW < recovery <= NOW + timedelta(hours=24)


@given(snapshots(), evidence, refusals)
def test_nothing_is_ever_asked_of_a_probe_that_has_no_more_to_tell(
    snapshot: Snapshot, seen: list[ProbeOutcome], refused: dict[ProbeIdentity, ProbeRefusal]
) -> None:
    asked: list[ProbeOutcome] = []
    while (identity := next_probe(snapshot, asked, refused)) is not None:
        assert identity is ProbeIdentity.SYSTEM or snapshot.job.originating_user_id is not None
        asked.append(works(identity) if not seen else works(**_as(seen[len(asked) % len(seen)], identity)))
    assert len(asked) <= 3


def _as(outcome: ProbeOutcome, identity: ProbeIdentity) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in outcome.__slots__} | {"identity": identity}

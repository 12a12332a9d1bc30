"""What must hold for every answer, whatever a model, a clock or a worker puts into it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.apply import Applied, apply
from agrajag.core.cooldown import is_active
from agrajag.core.drafts import Drafts
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import Classification, InboxStatus, ProbeIdentity, Scope, ServiceFailure, Status
from agrajag.model.health import MAX_INBOX, HealthEntry, ToolHealth
from agrajag.model.jobs import CooldownAdjustment, Diagnosis, DiagnosisJob, DiagnosisResult, Evidence
from agrajag.model.keys import parts
from agrajag.model.wire_model import WireModel
from tests.builders import NOW, a_health, a_result
from tests.core.applying import Applying
from tests.core.test_triage_properties import without_revision
from tests.core.triaging import after
from tests.model.wire_strategies import records

CAP = timedelta(hours=5)
moments = st.integers(0, 600).map(lambda seconds: after(seconds=seconds))


def made(record: type[WireModel], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Records with these fields."""
    return st.fixed_dictionaries(fields).map(lambda values: record(**values))


adjustments = made(
    CooldownAdjustment,
    error_signature=st.sampled_from(["http-5xx", "http-404", "made-up"]),
    user_id=st.sampled_from(["alice", "bob", None]),
    duration=st.timedeltas(timedelta(0), timedelta(days=366)),
)
diagnoses = made(
    Diagnosis,
    classification=st.sampled_from(Classification),
    scope=st.sampled_from(Scope),
    expected_recovery_at=st.none()
    | st.timedeltas(timedelta(days=-3), timedelta(days=9_000)).map(NOW.__add__),
    human_note=st.text(max_size=20),
    user_action_hint=st.none() | st.text(max_size=20),
    cooldown_adjustments=st.lists(adjustments, max_size=7).map(tuple),
)
probes = st.lists(
    made(
        Evidence,
        identity=st.sampled_from(ProbeIdentity),
        had_credentials=st.booleans(),
        success=st.booleans(),
        status_code=st.sampled_from([None, 200, 401, 403, 404, 500]),
        error_signature=st.sampled_from([None, "http-5xx", "http-401"]),
        duration_ms=st.just(5),
        at=moments,
    ),
    max_size=4,
).map(tuple)
answers = st.fixed_dictionaries(
    {
        "diagnosis": st.none() | diagnoses,
        "is_fallback": st.booleans(),
        "failure": st.none() | st.sampled_from(ServiceFailure),
        "evidence": probes,
    }
)
callers = st.fixed_dictionaries(
    {
        "project_id": st.sampled_from(["essays", None]),
        "user_id": st.sampled_from(["alice", None]),
        "session_id": st.sampled_from(["s-1", None]),
        "http_status": st.sampled_from([401, 404, 503]),
    }
)
standing = st.fixed_dictionaries(
    {
        (scope, scope_id): st.none() | st.sampled_from(Status)
        for scope, scope_id in (
            (Scope.USER, "alice"), (Scope.PROJECT, "essays"), (Scope.TENANT, "acme"), (Scope.GLOBAL, ""),
        )
    }
)  # fmt: skip


def tools_with(documents: dict[tuple[Scope, str], Status | None]) -> Applying:
    tools = Applying(policy=Policy(cooldown_max=CAP))
    for (scope, scope_id), status in documents.items():
        if status is not None:
            tools.put(a_health(scope=scope, scope_id=scope_id, status=status))
    return tools


def asked(tools: Applying, caller: dict[str, Any], *, by_person: bool) -> DiagnosisJob:
    """A job that an error of the caller has begun, or that a person has."""
    if not by_person:
        return tools.job(**caller)
    project_id, user_id = caller["project_id"], caller["user_id"]
    scope = (
        {"scope": Scope.PROJECT, "scope_id": project_id}
        if project_id
        else {"scope": Scope.TENANT, "scope_id": "acme"}
    )
    return tools.recheck(**scope, user_id=user_id)


def changed(before: dict[str, HealthEntry], tools: Applying) -> list[tuple[ToolHealth | None, ToolHealth]]:
    """Each document that an answer has changed, as it was and as it is."""
    return [
        (known.health if (known := before.get(key)) else None, entry.health)
        for key, entry in tools.table.items()
        if entry is not before.get(key) and entry.health is not None
    ]


@given(standing, callers, st.booleans(), answers, moments)
def test_no_answer_writes_wider_longer_or_worse_than_its_evidence(
    documents: dict[tuple[Scope, str], Status | None],
    caller: dict[str, Any],
    by_person: bool,
    answer: dict[str, Any],
    at: Any,
) -> None:
    tools = tools_with(documents)
    job = asked(tools, caller, by_person=by_person)
    before = dict(tools.table)
    given_answer = a_result(job, at=at).with_changes(**answer)
    applied = tools.take_answer(given_answer, after(seconds=600))
    assert isinstance(applied, Applied)
    failed = [one for one in answer["evidence"] if not one.success]
    worked = [one for one in answer["evidence"] if one.success]
    for was, document in changed(before, tools):
        _never_wider(job, document)
        _never_longer(document, applied)
        if was is None or document.verdict != was.verdict:
            _never_worse(was, document, applied, is_grounded=bool(failed) or not by_person)
            if document.verdict.status is Status.OK and document.verdict.classification is not None:
                assert worked
                assert not [one for one in failed if one.had_credentials]
    assert job.job_id not in {entry.job_id for _, now in changed(before, tools) for entry in now.cooldowns}


def _never_wider(job: DiagnosisJob, document: ToolHealth) -> None:
    is_sessions_user = (
        job.scope is Scope.SESSION
        and (document.scope, document.scope_id) == (Scope.USER, job.originating_user_id)
    )  # fmt: skip
    assert document.scope.rank <= job.scope.rank or is_sessions_user
    assert document.scope_id in {
        job.scope_id, job.project_id, job.originating_user_id, job.originating_session_id, job.tenant_id,
    }  # fmt: skip


def _never_longer(document: ToolHealth, applied: Applied) -> None:
    recovery = document.verdict.expected_recovery_at
    assert recovery is None or applied.now < recovery <= applied.now + CAP
    assert all(entry.next_spawn_allowed_at <= applied.now + CAP for entry in document.cooldowns)


def _never_worse(was: ToolHealth | None, now: ToolHealth, applied: Applied, *, is_grounded: bool) -> None:
    if now.verdict.status is Status.DOWN:
        assert is_grounded
        assert applied.verdict in {Classification.TECHNICALLY_BROKEN, Classification.USER_SPECIFIC_TECHNICAL}
    if applied.verdict is Classification.UNCLEAR:
        assert was is None or was.verdict.status is not Status.DOWN
    if now.scope.rank > Scope.USER.rank:
        assert now.verdict.classification is not Classification.USER_SPECIFIC_TECHNICAL


Sent = tuple[int, dict[str, Any], Any]
sequences = st.lists(st.tuples(st.integers(0, 2), answers, moments), max_size=5)


def three_jobs() -> tuple[Applying, list[DiagnosisJob]]:
    tools = Applying()
    jobs = [tools.job(), tools.job(http_status=404, user_id="bob"), tools.job(http_status=401)]
    return tools, jobs


def arrivals(jobs: Sequence[DiagnosisJob], sent: Sequence[Sent]) -> list[Arrival[DiagnosisResult]]:
    appended_at = after(seconds=600)
    results = [a_result(jobs[number], at=at).with_changes(**answer) for number, answer, at in sent]
    return [
        Arrival(
            result, result.process_id, "results-0", offset, appended_at, int(appended_at.timestamp() * 1000)
        )
        for offset, result in enumerate(results)
    ]


def take(tools: Applying, fetch: Sequence[Arrival[DiagnosisResult]]) -> list[Applied | Repeat]:
    """All of them in one step."""
    drafts = Drafts(tools.table.get)
    decided = [apply(one, drafts, tools.rules, tools.policy, one.appended_at) for one in fetch]
    tools.table.update({draft.key: draft.frozen() for draft in drafts.touched()})
    return decided


@given(sequences, st.data())
def test_where_one_fetch_of_answers_ends_and_the_next_begins_never_matters(
    sent: list[Sent], data: st.DataObject
) -> None:
    (whole, jobs), (cut, _) = three_jobs(), three_jobs()
    fetch = arrivals(jobs, sent)
    said = take(whole, fetch)
    told: list[Applied | Repeat] = []
    while len(told) < len(fetch):
        size = data.draw(st.integers(1, len(fetch)))
        told += take(cut, fetch[len(told) : len(told) + size])
    assert without_revision(cut.table) == without_revision(whole.table)
    assert told == said


@given(sequences)
def test_to_apply_answers_twice_is_to_apply_them_once(sent: list[Sent]) -> None:
    tools, jobs = three_jobs()
    fetch = arrivals(jobs, sent)
    take(tools, fetch)
    before = dict(tools.table)
    assert not any(isinstance(one, Applied) and one.applied for one in take(tools, fetch))
    later = [one._replace(offset=one.offset + 100) for one in fetch]
    assert not any(isinstance(one, Applied) and one.applied for one in take(tools, later))
    assert tools.table == before


@given(sequences)
def test_what_answers_leave_is_valid_survives_the_wire_and_only_grows(sent: list[Sent]) -> None:
    tools, jobs = three_jobs()
    for one in arrivals(jobs, sent):
        before = dict(tools.table)
        take(tools, [one])
        for key, entry in tools.table.items():
            assert HealthEntry.model_validate_json(entry.to_json()) == entry
            assert key not in before or entry is before[key] or entry.revision > before[key].revision
            opened = [item.error_signature for item in entry.inbox if item.status is InboxStatus.PENDING]
            assert len(opened) == len(set(opened)) <= MAX_INBOX
            assert all(item.assigned_to_user_id == parts(key)[2] for item in entry.inbox)


@given(records(DiagnosisResult), st.booleans())
def test_no_answer_that_validates_makes_our_own_code_raise(drawn: Any, is_claimed: bool) -> None:
    tools = Applying()
    job = tools.job()
    ids = {
        "tenant_id": "acme", "tool_name": "search", "scope": job.scope, "scope_id": job.scope_id,
        "job_id": job.job_id if is_claimed else drawn.job_id,
    }  # fmt: skip
    applied = tools.take_answer(drawn.with_changes(**ids))
    assert isinstance(applied, Applied)
    assert applied.reason is None or len(applied.reason) <= 200
    for entry in tools.table.values():
        assert HealthEntry.model_validate_json(entry.to_json()) == entry
        assert entry.health is not None
        assert not is_claimed or not entry.jobs
        assert all(not is_active(one, after(days=2)) for one in entry.health.cooldowns)

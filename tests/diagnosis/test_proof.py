"""A verdict of a model stands only where the probes of its run leave it open."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.probe_failures import evidence_in
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.diagnosis.proof import is_carried, uncarried
from agrajag.model.enums import Classification, CredentialKind, Scope
from agrajag.model.jobs import Diagnosis
from tests.builders import NOW, a_job
from tests.diagnosis.cases import SYSTEM, USER, fails, works
from tests.diagnosis.test_diagnostician_properties import evidence, snapshots

BROKEN = Classification.TECHNICALLY_BROKEN
OWN = Classification.USER_SPECIFIC_TECHNICAL


@pytest.mark.parametrize(
    ("classification", "outcomes", "job", "stands"),
    [
        pytest.param(BROKEN, (), {}, False, id="broken, and nobody looked"),
        pytest.param(BROKEN, (fails(SYSTEM),), {}, True, id="broken, and it fails"),
        pytest.param(BROKEN, (fails(USER), works(SYSTEM)), {}, False, id="broken, and it works for one"),
        pytest.param(
            BROKEN,
            (fails(USER, "unmatched", 302), fails(SYSTEM, "unmatched", 302)),
            {},
            False,
            id="broken, and it sends callers elsewhere",
        ),
        pytest.param(
            BROKEN,
            (fails(USER, "http-404", 404), fails(SYSTEM, "http-404", 404)),
            {},
            False,
            id="broken, and a server error was reported",
        ),
        pytest.param(
            BROKEN,
            (fails(USER, "http-404", 404), fails(SYSTEM, "http-404", 404)),
            {"error_signature": "http-404"},
            True,
            id="broken, and the same was reported",
        ),
        pytest.param(
            BROKEN,
            (fails(USER, "tool-exception", None), fails(SYSTEM, "tool-exception", None)),
            {"error_signature": "user-request"},
            False,
            id="broken, and nobody has reported it",
        ),
        pytest.param(
            BROKEN, (fails(USER),), {"error_signature": "http-404"}, False, id="broken, and it failed once"
        ),
        pytest.param(
            BROKEN,
            (fails(USER), fails(USER)),
            {},
            False,
            id="broken, and nothing tells how others fare",
        ),
        pytest.param(
            BROKEN,
            (fails(USER, "timeout", None), fails(SYSTEM, "timeout", None)),
            {"error_signature": "http-5xx"},
            False,
            id="broken, and it may only be slow",
        ),
        pytest.param(
            BROKEN,
            (fails(USER, "http-404", 404), fails(SYSTEM, "http-404", 404, had_credentials=False)),
            {"error_signature": "http-404"},
            False,
            id="broken, and hidden from whoever has no credential",
        ),
        pytest.param(BROKEN, (fails(SYSTEM, "http-429", 429),), {}, False, id="broken, and it limits"),
        pytest.param(
            BROKEN, (fails(SYSTEM, "http-403", 403),), {}, False, id="broken, and it wants a permission"
        ),
        pytest.param(
            BROKEN,
            (fails(SYSTEM, had_credentials=False, status=401),),
            {},
            False,
            id="broken, and a credential is wanting",
        ),
        pytest.param(BROKEN, (fails(SYSTEM, own_sample=True),), {}, False, id="broken by the model's input"),
        pytest.param(
            BROKEN, (works(SYSTEM, own_sample=True), fails(USER)), {}, False, id="the model's input works"
        ),
        pytest.param(
            BROKEN,
            (fails(SYSTEM, "http-401", 401),),
            {"error_signature": "http-401", "credential_kind": CredentialKind.SHARED},
            True,
            id="broken, and the credential of all is refused",
        ),
        pytest.param(OWN, (), {}, False, id="the user's own, and nobody looked"),
        pytest.param(
            OWN, (fails(USER, "http-401", 401),), {}, True, id="the user's own, and it fails for them"
        ),
        pytest.param(OWN, (fails(USER), works(SYSTEM)), {}, True, id="and works for the system"),
        pytest.param(OWN, (fails(USER), fails(SYSTEM)), {}, False, id="and fails for the system as well"),
        pytest.param(OWN, (fails(USER), works(USER)), {}, False, id="and works for the user as well"),
        pytest.param(
            OWN, (fails(USER), works(SYSTEM)), {"distinct_users": 7}, False, id="and for many others"
        ),
        pytest.param(
            OWN, (fails(USER, "http-403", 403), works(SYSTEM)), {}, False, id="and it is a permission"
        ),
        pytest.param(
            OWN, (fails(USER, had_credentials=False), works(SYSTEM)), {}, False, id="without any credential"
        ),
        pytest.param(
            OWN, (works(SYSTEM),), {"error_signature": "http-401"}, True, id="a credential was refused before"
        ),
        pytest.param(OWN, (works(SYSTEM),), {}, False, id="nothing fails"),
        pytest.param(Classification.INTERMITTENT, (), {}, True, id="what writes no DOWN stands"),
    ],
)
def test_a_verdict_stands_where_the_evidence_leaves_it_open(
    classification: Classification, outcomes: tuple[ProbeOutcome, ...], job: dict[str, Any], stands: bool
) -> None:
    assert is_carried(classification, outcomes, a_job(**job)) is stands


def test_of_an_answer_that_nothing_carries_only_the_note_is_left() -> None:
    answer = Diagnosis(
        classification=BROKEN,
        scope=Scope.PROJECT,
        expected_recovery_at=NOW,
        human_note="dead",
        user_action_hint="run",
    )
    assert uncarried(answer) == Diagnosis(
        classification=Classification.UNCLEAR,
        scope=Scope.PROJECT,
        human_note="No probe carries TECHNICALLY_BROKEN. dead",
    )


@given(st.sampled_from([BROKEN, OWN]), evidence, snapshots())
def test_no_down_ever_stands_for_a_tool_that_works_for_whom_it_is_about(
    classification: Classification, seen: list[ProbeOutcome], snapshot: Any
) -> None:
    if not is_carried(classification, seen, snapshot.job):
        return
    about = [one for one in seen if classification is BROKEN or one.identity is USER]
    assert not any(one.success for one in about)
    assert classification is OWN or any(not one.success for one in evidence_in(seen))

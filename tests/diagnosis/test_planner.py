"""Which probe comes next without a model: each identity once, and one more only where it can change the answer."""

from typing import Any

import pytest

from agrajag.diagnosis.planner import next_probe
from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal
from agrajag.model.enums import ProbeIdentity
from tests.diagnosis.cases import SYSTEM, USER, a_snapshot, fails, works


def after(*outcomes: ProbeOutcome, refused: Any = None, **job: Any) -> ProbeIdentity | None:
    return next_probe(a_snapshot(**job), outcomes, refused or {})


def test_the_user_comes_first_and_the_system_second() -> None:
    assert after() is USER
    assert after(works(USER)) is SYSTEM
    assert after(works(USER), works(SYSTEM)) is None


def test_without_a_user_only_the_system_is_asked() -> None:
    assert after(originating_user_id=None) is SYSTEM
    assert after(works(SYSTEM), originating_user_id=None) is None


def test_a_user_whose_credential_is_missing_leaves_the_system() -> None:
    assert after(refused={USER: ProbeRefusal.CREDENTIAL_MISSING}) is SYSTEM


@pytest.mark.parametrize(
    "refusal", sorted(set(ProbeRefusal) - {ProbeRefusal.NO_USER, ProbeRefusal.CREDENTIAL_MISSING})
)
def test_what_refuses_the_tool_itself_ends_the_probing(refusal: ProbeRefusal) -> None:
    assert after(refused={USER: refusal}) is None


@pytest.mark.parametrize(
    ("outcomes", "repeated"),
    [
        pytest.param((fails(USER), works(SYSTEM)), USER, id="only the user fails"),
        pytest.param((fails(USER), fails(SYSTEM)), None, id="both fail alike"),
        pytest.param((fails(USER), fails(SYSTEM, "timeout", None)), SYSTEM, id="each fails in its own way"),
        pytest.param((fails(USER, "http-401", 401), works(SYSTEM)), None, id="a refused credential is clear"),
        pytest.param((works(USER), fails(SYSTEM)), None, id="it works for the user"),
        pytest.param(
            (fails(USER), works(SYSTEM, success=False, had_credentials=False, status_code=401)),
            USER,
            id="a probe without credentials has told nothing",
        ),
        pytest.param((fails(USER), works(SYSTEM), fails(USER)), None, id="it was repeated"),
    ],
)
def test_only_the_failure_that_an_answer_rests_on_alone_is_seen_twice(
    outcomes: tuple[ProbeOutcome, ...], repeated: ProbeIdentity | None
) -> None:
    assert after(*outcomes) is repeated


def test_one_failure_of_the_system_is_seen_twice_where_there_is_no_user() -> None:
    assert after(fails(SYSTEM), originating_user_id=None) is SYSTEM

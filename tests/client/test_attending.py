"""What a failure means is known in the same turn, remembered for a moment, and forgotten when a call works."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from agrajag.client.attending import Attendant
from agrajag.client.reporter import ToolErrorReporter
from agrajag.core.admission import Decision, GuardPolicy, Refusal
from agrajag.model.enums import Classification
from agrajag.model.events import ErrorReport
from tests.client.attending import STRICT, Surroundings, unheard

REFUSED = ConnectionRefusedError("refused")


@pytest.fixture
def reporter() -> Iterator[ToolErrorReporter]:
    reporter = unheard()
    reporter.start()
    yield reporter
    reporter.close(0.01)


def test_a_failure_tells_what_it_means_and_that_call_alone_is_refused(reporter: ToolErrorReporter) -> None:
    attendant = Surroundings().attendant(reporter)
    alices, bobs = (reporter.call("crm", user=user) for user in ("alice", "bob"))
    check = attendant.begin(alices).raised(REFUSED)
    assert check is not None
    assert check.classification is Classification.TECHNICALLY_BROKEN
    refused = attendant.ask(alices)
    assert (refused.decision, refused.refusal, refused.until) == (
        Decision.REFUSE,
        Refusal.DOWN,
        check.expected_recovery_at or check.cooldown_until,
    )
    assert attendant.ask(bobs).is_allowed
    assert attendant.ask(reporter.call("other", user="alice")).is_allowed


def test_a_call_that_works_is_the_end_of_what_was_remembered(reporter: ToolErrorReporter) -> None:
    attendant = Surroundings().attendant(reporter)
    call = reporter.call("crm")
    attendant.begin(call).raised(REFUSED)
    attendant.begin(call).returned("fine")
    assert attendant.ask(call).is_allowed


@pytest.mark.parametrize(
    ("own", "failure"),
    [
        (GuardPolicy(), ErrorReport(exception_type="java.net.ConnectException")),
        (
            GuardPolicy(refuse_down=True, refuse_degraded=True, refuse_cooling=True),
            ErrorReport(http_status=400),
        ),
        (
            GuardPolicy(refuse_down=True, refuse_degraded=True, refuse_cooling=True),
            ErrorReport(message="what?"),
        ),
    ],
)
def test_nothing_is_refused_that_the_caller_wants_or_nobody_understands_or_better_input_mends(
    reporter: ToolErrorReporter, own: GuardPolicy, failure: ErrorReport
) -> None:
    attendant = Surroundings().attendant(reporter, own)
    call = reporter.call("crm")
    attendant.begin(call).failed(failure)
    assert attendant.ask(call).is_allowed


def test_what_is_remembered_ends_with_the_pause_that_the_tool_has_asked_for(
    reporter: ToolErrorReporter,
) -> None:
    attendant = Surroundings().attendant(reporter)
    call = reporter.call("crm", user="alice")
    check = attendant.begin(call).failed(ErrorReport(http_status=429, headers={"retry-after": "7"}))
    assert check is not None
    assert check.cooldown_until is not None
    assert check.cooldown_until - check.at == timedelta(seconds=7)
    assert attendant.ask(call).until == check.cooldown_until
    late = Attendant(
        reporter, Surroundings().guard(), STRICT, lambda: datetime.now(UTC) + timedelta(seconds=8)
    )
    assert late.begin(call).failed(ErrorReport(http_status=429, headers={"retry-after": "7"})) is not None
    assert late.ask(call).is_allowed


def test_with_a_reporter_alone_everything_is_allowed_and_reported(reporter: ToolErrorReporter) -> None:
    attendant = Attendant(reporter)
    call = reporter.call("crm")
    assert attendant.begin(call).raised(REFUSED) is None
    assert attendant.ask(call).is_allowed
    assert attendant.annotation(call) is None
    assert len(reporter) == 1

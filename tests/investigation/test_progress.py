"""The state machine of collecting: whatever a model does, what was said of an observation counts once, and it ends."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agrajag.errors import ConfigError
from agrajag.harness import EvidenceStatus, StopReason
from agrajag.investigation.envelope import Evaluation, PreviousObservation
from agrajag.investigation.progress import (
    Call,
    Decided,
    Proceed,
    Progress,
    ProgressLimits,
    Repair,
    RepairCode,
    StopCollecting,
    decide,
    invalid,
    ready,
)

evaluations = st.sampled_from(Evaluation)
requests = st.sampled_from("abcdefgh")


class Collecting(RuleBasedStateMachine):
    """A model that does anything, against what the specification says in plain counts."""

    @initialize(attempts=st.integers(1, 12), no_gains=st.integers(1, 4))
    def begin(self, attempts: int, no_gains: int) -> None:
        self.limits = ProgressLimits(attempts, no_gains)
        self.progress = Progress()
        self.runs: list[str] = []
        self.stopped: StopReason | None = None
        self.answered: frozenset[str] = frozenset()
        self.pending: str | None = None
        self.fruitless = 0
        self.sent_back = 0

    @rule(
        request=requests,
        status=st.sampled_from(["found", "nothing", "failed", "unrecorded"]),
        said=evaluations,
    )
    def asks_as_it_should(self, request: str, status: str, said: Evaluation) -> None:
        previous = (
            None if self.pending is None else PreviousObservation(tool_call_id=self.pending, evaluation=said)
        )
        decided = self._decide(request, previous)
        assert decided.taken == (None if previous is None else said)
        if previous is not None:
            self.pending = None
            self.fruitless = 0 if said is Evaluation.GAINED else self.fruitless + 1
        self._follow(decided, request, status)

    def _follow(self, decided: Decided, request: str, status: str) -> None:
        match decided.verdict:
            case StopCollecting(reason):
                expected = StopReason.TOOL_CALLS_EXHAUSTED
                if self.fruitless >= self.limits.no_gains:
                    expected = StopReason.INFORMATION_SATURATION
                assert reason is expected
                self.stopped = reason
            case Repair(code, fields, expected_id):
                assert (code, fields, expected_id) == (RepairCode.EQUIVALENT_CALL, (), None)
                assert request in self.answered
                assert self.fruitless < self.limits.no_gains
                self.fruitless += 1
                self.sent_back += 1
            case Proceed():
                assert self.stopped is None
                assert request not in self.answered
                assert self.fruitless < self.limits.no_gains
                assert len(self.runs) + self.sent_back < self.limits.attempts
                self._run(request, status)

    def _run(self, request: str, status: str) -> None:
        call_id = f"call-{len(self.runs)}"
        self.runs.append(call_id)
        if status == "found":
            self.progress = ready(self.progress, call_id, request, EvidenceStatus.EVIDENCE)
            self.pending = call_id
        elif status == "nothing":
            self.progress = ready(self.progress, call_id, request, EvidenceStatus.NO_EVIDENCE)
            self.fruitless += 1
        if status in ("found", "nothing"):
            self.answered |= {request}

    @precondition(lambda self: self.pending is not None)
    @rule(request=requests)
    def forgets_what_it_has_seen(self, request: str) -> None:
        self._sent_back(self._decide(request, None), RepairCode.PREVIOUS_OBSERVATION_MISSING)

    @rule(
        request=requests,
        other=st.sampled_from(["call-0", "call-1", "call-99", "run-2|call-0", ""]),
        said=evaluations,
    )
    def names_another_call(self, request: str, other: str, said: Evaluation) -> None:
        if other != self.pending:
            previous = PreviousObservation(tool_call_id=other, evaluation=said)
            self._sent_back(self._decide(request, previous), RepairCode.PREVIOUS_OBSERVATION_WRONG)

    @rule()
    def writes_no_envelope(self) -> None:
        decided = invalid(self.progress, ("input",))
        self.progress = decided.progress
        self._sent_back(decided, RepairCode.INVALID_ENVELOPE)

    def _sent_back(self, decided: Decided, code: RepairCode) -> None:
        assert isinstance(decided.verdict, Repair)
        assert (decided.verdict.code, decided.verdict.expected) == (code, self.pending)
        assert decided.taken is None
        self.sent_back += 1

    def _decide(self, request: str, previous: PreviousObservation | None) -> Decided:
        decided = decide(self.progress, Call(request, previous), self.limits)
        self.progress = decided.progress
        return decided

    @invariant()
    def nothing_is_forgotten(self) -> None:
        progress = self.progress
        assert (progress.pending, progress.no_gains, progress.answered) == (
            self.pending,
            self.fruitless,
            self.answered,
        )
        assert progress.attempts == len(self.runs) + self.sent_back

    @invariant()
    def no_more_calls_run_than_may(self) -> None:
        assert len(self.runs) <= self.limits.attempts
        assert len(set(self.runs)) == len(self.runs)


TestCollecting = Collecting.TestCase
TestCollecting.settings = settings(max_examples=100, stateful_step_count=20)


@pytest.mark.parametrize(("attempts", "no_gains"), [(0, 1), (1, 0), (-1, 3)])
def test_limits_that_allow_nothing_are_refused(attempts: int, no_gains: int) -> None:
    with pytest.raises(ConfigError, match="must be 1 or more"):
        ProgressLimits(attempts, no_gains)

"""The apply agent: answers of diagnoses become documents, inbox items, and the end of their processes."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from agrajag import metrics
from agrajag.core.apply import Applied, apply
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import ProcessStatus, Scope
from agrajag.model.health import HealthEntry
from agrajag.model.jobs import SERVICE_TYPE, DiagnosisResult
from agrajag.model.processes import ProcessEvent
from agrajag.service.sessions import SessionKey
from agrajag.stream.deciding import Attempt, KeyedByTool
from agrajag.stream.memory import PartitionView
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.topics import Topic


class _Decided(NamedTuple):
    event: DiagnosisResult
    applied: Applied


class ApplyAttempt(KeyedByTool, Attempt[DiagnosisResult]):
    """Decides about records of `diagnosis-results`."""

    source = Topic.DIAGNOSIS_RESULTS
    model = DiagnosisResult
    emitter = "agrajag/apply"

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._decided: list[_Decided] = []

    def event_id(self, event: DiagnosisResult) -> str | None:
        """The process that answered: it answers once."""
        return event.process_id

    def decide(self, arrival: Arrival[DiagnosisResult]) -> None:
        """Write what stands of one answer."""
        event = arrival.event
        project_id = event.scope_id if event.scope is Scope.PROJECT else event.project_id
        rules, policy = self.around.effective(event.tenant_id, project_id)
        decided = apply(arrival, self.drafts, rules, policy, self.clock)
        if isinstance(decided, Repeat):
            self.repeat(decided.keys, decided.job)
        else:
            self._decided.append(_Decided(event, decided))

    def answers(self) -> Iterable[Output]:
        """CLOSED for every process, with the verdict as it stands and what kept it from being written."""
        for event, applied in self._decided:
            yield process_output(self.around.topics, _closed(event, applied), self.emitter)

    def count(self) -> None:
        """Answers, by what became of them, and the guards that they met."""
        for outcome, count in Counter(applied.ending for _, applied in self._decided).items():
            metrics.ANSWERS.labels(outcome).inc(count)
        for guard, count in Counter(
            guard for _, applied in self._decided for guard in applied.guards
        ).items():
            metrics.GUARDS.labels(guard).inc(count)


def _closed(event: DiagnosisResult, applied: Applied) -> ProcessEvent:
    session = SessionKey(event.tenant_id, event.project_id, SERVICE_TYPE)
    return ProcessEvent(
        process_id=event.process_id,
        job_id=event.job_id,
        tenant_id=event.tenant_id,
        project_id=event.project_id,
        session_id=event.session_id or session.session_id,
        service_name=SERVICE_TYPE,
        status=ProcessStatus.CLOSED,
        close_reason=applied.close_reason,
        verdict=applied.verdict,
        applied=applied.applied,
        reason=applied.reason,
        human_note=applied.human_note,
        user_action_hint=applied.user_action_hint,
        originating_user_id=event.originating_user_id,
        parent_process_id=applied.parent_process_id,
        at=applied.now,
    )

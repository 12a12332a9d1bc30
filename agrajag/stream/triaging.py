"""The triage agent: errors become verdicts, documents, jobs and, for those who asked, answers."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from agrajag import metrics
from agrajag.core.check import check_result
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.trial import Tried, tried
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.model.enums import Classification, Outcome
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry, ToolHealth
from agrajag.model.keys import tool_key
from agrajag.stream.deciding import Attempt, KeyedByTool
from agrajag.stream.memory import PartitionView
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic


class _Decided(NamedTuple):
    arrival: Arrival[ToolCallError]
    verdict: Verdict
    rules: RuleSet
    policy: Policy


class TriageAttempt(KeyedByTool, Attempt[ToolCallError]):
    """Decides about records of `tool-call-errors` (spec agrajag §4.1)."""

    source = Topic.TOOL_CALL_ERRORS
    model = ToolCallError
    emitter = "agrajag/triage"
    may_tell_later = True

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._decided: list[_Decided] = []
        self._tried: list[tuple[Arrival[ToolCallError], Tried]] = []

    def event_id(self, event: ToolCallError) -> str | None:
        """The producer's own id."""
        return event.event_id

    def decide(self, arrival: Arrival[ToolCallError]) -> None:
        """Layer 1's verdict on one error."""
        event = arrival.event
        rules, policy = self.around.effective(event.tenant_id, event.project_id)
        decided = triage(arrival, self.drafts, rules, policy, self.clock)
        if isinstance(decided, Repeat):
            self.repeat(decided.keys, decided.job)
            return
        self._decided.append(_Decided(arrival, decided, rules, policy))
        if rules.trial is not None:
            change = tried(arrival, decided, rules, policy, self.clock)
            if change is not None:
                self._tried.append((arrival, change))
        if decided.job is not None:
            self.send_job(decided.job, first=decided.outcome is Outcome.ENQUEUED)

    def answers(self) -> Iterable[Output]:
        """A `CheckResult` for every error that asked for one."""
        name = self.around.topics.name(Topic.CHECK_RESULTS)
        for arrival, verdict, rules, policy in self._decided:
            event = arrival.event
            if event.reply_to is None and not policy.answer_all:
                continue
            documents = self._standing(Caller.of(event), event.tool_name)
            result = check_result(arrival, verdict, rules.hash, documents, policy)
            headers = binary_headers(EventType.CHECK_RESULT, self.emitter, arrival.event_id)
            yield Output(name, tool_key(event.tenant_id, event.tool_name).encode(), result.to_json(), headers)

    def _standing(self, caller: Caller, tool_name: str) -> list[ToolHealth]:
        """The documents that apply to a caller, narrowest first, as they stand after the step."""
        tool = tool_key(caller.tenant_id, tool_name)
        entries = (self.entry(tool, key.encode()) for key in caller.keys(tool_name))
        return [entry.health for entry in entries if entry is not None and entry.health is not None]

    def count(self) -> None:
        """Verdicts, by outcome and classification, and those that shadow rules would give."""
        verdicts: Counter[tuple[Outcome, Classification]] = Counter()
        for one in self._decided:
            rule = one.verdict.rule
            verdicts[one.verdict.outcome, rule.classification if rule else Classification.UNCLEAR] += 1
        for kind, held_back in (
            (metrics.HeldBack.DIAGNOSIS, sum(one.verdict.undiagnosed for one in self._decided)),
            (metrics.HeldBack.MARK_DOWN, sum(one.verdict.unmarked for one in self._decided)),
        ):
            metrics.HELD_BACK.labels(kind).inc(held_back)
        for (outcome, classification), count in verdicts.items():
            metrics.VERDICTS.labels(outcome, classification).inc(count)
            if outcome is Outcome.NO_ROOM:
                metrics.COOLDOWNS_REFUSED.inc(count)
        if self._tried:
            shadows = Counter((change.outcome, change.classification) for _, change in self._tried)
            for (outcome, classification), count in shadows.items():
                metrics.SHADOW_VERDICTS.labels(outcome, classification).inc(count)
            self.around.shadow_log.tell(self._tried, self.clock)

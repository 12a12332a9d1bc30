"""The recover agent: a success heals what it disproves; the documents themselves are all that it tells."""

from collections import Counter
from collections.abc import Iterable

from agrajag import metrics
from agrajag.core.recover import Recovery, recover
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.events import ToolCallSucceeded
from agrajag.model.health import HealthEntry
from agrajag.stream.deciding import Attempt, KeyedByTool
from agrajag.stream.memory import PartitionView
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic


class RecoverAttempt(KeyedByTool, Attempt[ToolCallSucceeded]):
    """Decides about records of `tool-call-successes`."""

    source = Topic.TOOL_CALL_SUCCESSES
    model = ToolCallSucceeded
    emitter = "agrajag/recover"

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._recoveries: Counter[Recovery] = Counter()

    def event_id(self, event: ToolCallSucceeded) -> str | None:
        """The producer's own id."""
        return event.event_id

    def decide(self, arrival: Arrival[ToolCallSucceeded]) -> None:
        """Take back what one success disproves."""
        event = arrival.event
        _, policy = self.around.effective(event.tenant_id, event.project_id)
        decided = recover(arrival, self.drafts, policy)
        if isinstance(decided, Repeat):
            self.repeat(decided.keys, decided.job)
        else:
            self._recoveries[decided] += 1

    def answers(self) -> Iterable[Output]:
        """None: nobody waits for the effect of a success."""
        return ()

    def count(self) -> None:
        """Successes, by what they did."""
        for outcome, count in self._recoveries.items():
            metrics.SUCCESSES.labels(outcome).inc(count)

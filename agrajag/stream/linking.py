"""The agents of connections: an event of a link becomes a record for each of its tools, and that a change of the tool.

Two steps, because the events of one link belong in one order and the documents of one tool in one partition. `links`
knows nothing and sends the same again for the same; `link` tells repeats by their place and by their meaning.
"""

from collections import Counter
from collections.abc import Iterable

from aiokafka import ConsumerRecord

from agrajag import metrics
from agrajag.core.link import link, scope_id_of, scope_of, tool_links, tools_of
from agrajag.core.times import event_time
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.errors import InputError
from agrajag.model.enums import LinkEffect, Scope
from agrajag.model.events import SystemEvent, ToolLink
from agrajag.model.health import HealthEntry
from agrajag.model.keys import link_key, tool_key
from agrajag.stream.deciding import Attempt, KeyedByTool, TooMuchError
from agrajag.stream.memory import PartitionView
from agrajag.stream.surroundings import Surroundings
from agrajag.wire.cloudevents import EventType, binary_headers
from agrajag.wire.origin import Origin
from agrajag.wire.outputs import Output
from agrajag.wire.reasons import DeadLetterReason, RepairKind
from agrajag.wire.topics import Topic

MAX_TOOL_LINKS = 20_000
"""How many records one step of `links` sends: some 10 MB. One event is about 500 tools at most."""

_ID_FIELDS = {Scope.SESSION: "sessionId", Scope.PROJECT: "projectId"}


class LinksAttempt(Attempt[SystemEvent]):
    """Makes records of `tool-links` of those of `system-events`."""

    source = Topic.SYSTEM_EVENTS
    model = SystemEvent
    emitter = "agrajag/links"

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._links: list[ToolLink] = []
        self._foreign = 0

    def decode(self, record: ConsumerRecord, origin: Origin) -> SystemEvent:
        """The event that a record holds; it says whom it concerns, and names a tool that can be about."""
        event = super().decode(record, origin)
        scope = scope_of(event.kind)
        if not scope_id_of(event):
            raise InputError(
                DeadLetterReason.MISSING_FIELD, f"{_ID_FIELDS[scope]}: {event.kind} is about a {scope}"
            )
        if not tools_of(event):
            raise InputError(DeadLetterReason.INVALID_FIELD, f"toolNames: none that {event.kind} is about")
        return event

    def key(self, event: SystemEvent) -> str:
        """That of its link."""
        return link_key(event.tenant_id, event.link_id)

    def event_id(self, event: SystemEvent) -> str | None:
        """The producer's own id."""
        return event.event_id

    def decide(self, arrival: Arrival[SystemEvent]) -> None:
        """A record for each tool."""
        event = arrival.event
        now = event_time(event.occurred_at, arrival.appended_at)
        self._links += tool_links(event, arrival.event_id, now)
        self._foreign += len(set(event.tool_names)) - len(tools_of(event))
        if len(self._links) > MAX_TOOL_LINKS:
            raise TooMuchError

    def answers(self) -> Iterable[Output]:
        """The records for `tool-links`."""
        name = self.around.topics.name(Topic.TOOL_LINKS)
        for one in self._links:
            headers = binary_headers(EventType.TOOL_LINK, self.emitter, one.link_event_id)
            yield Output(name, tool_key(one.tenant_id, one.tool_name).encode(), one.to_json(), headers)

    def count(self) -> None:
        """Names of tools that their link cannot carry."""
        metrics.REPAIRS.labels(RepairKind.TOOL_NAMES_DROPPED).inc(self._foreign)


class LinkAttempt(KeyedByTool, Attempt[ToolLink]):
    """Decides about records of `tool-links`."""

    source = Topic.TOOL_LINKS
    model = ToolLink
    emitter = "agrajag/link"

    def __init__(self, around: Surroundings, view: PartitionView[HealthEntry]) -> None:
        super().__init__(around, view)
        self._effects: Counter[LinkEffect] = Counter()
        self._forgotten = 0

    def decode(self, record: ConsumerRecord, origin: Origin) -> ToolLink:
        """What a record says about a tool."""
        event = super().decode(record, origin)
        if event.scope is not scope_of(event.kind) or not event.scope_id:
            raise InputError(DeadLetterReason.INVALID_FIELD, f"scope: {event.kind} is about another")
        return event

    def event_id(self, event: ToolLink) -> str | None:
        """What the event of the link and the tool make together."""
        return event.link_event_id

    def decide(self, arrival: Arrival[ToolLink]) -> None:
        """What the connection that came or went does to the tool."""
        event = arrival.event
        project_id = event.scope_id if event.scope is Scope.PROJECT else None
        _, policy = self.around.effective(event.tenant_id, project_id)
        decided = link(arrival, self.drafts, policy)
        if isinstance(decided, Repeat):
            self.repeat(decided.keys, decided.job)
            return
        self._effects[decided.effect] += 1
        self._forgotten += decided.forgotten

    def answers(self) -> Iterable[Output]:
        """Nobody waits for an answer."""
        return ()

    def count(self) -> None:
        """What the events did, and connections for which there was no room."""
        for effect, count in self._effects.items():
            metrics.LINKS.labels(effect).inc(count)
        metrics.CONNECTIONS_FORGOTTEN.inc(self._forgotten)

"""What a service pays for knowing how its tools are: the start of its view, and the question before each call."""

import time
from datetime import UTC, datetime, timedelta

from aiokafka import AIOKafkaProducer

from agrajag.client.call import Call
from agrajag.client.guard import Guard
from agrajag.core.admission import NOTHING_KNOWN, GuardPolicy
from agrajag.documents.cascade import Cascade
from agrajag.documents.rulebook import Rulebook
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, HistoryEntry, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key, tool_key
from agrajag.view import HealthView
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.health_records import health_headers
from agrajag.wire.partition import partition_for
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics

DOCUMENTS = 100_000
STARTS = 3
ROUNDS = 9
CALLS = 500
_NOW = datetime.now(UTC)
_STRICT = GuardPolicy(refuse_down=True, refuse_degraded=True, refuse_cooling=True)


async def measure(bootstrap_servers: str) -> dict[str, float]:
    """`client.view_start_100k_s`: until a view shows 100,000 documents of 1.1 kB, the best of three.

    `client.guard_us`: the CPU of one question about a tool that was down once and is well, by a caller of all scopes
    who refuses all that can be refused.
    """
    connection, topics = KafkaConnection(bootstrap_servers), Topics("bench-client", partitions=8)
    await _fill(connection, topics)
    starts = []
    for _ in range(STARTS):
        view = HealthView(connection, topics)
        started = time.perf_counter()
        await view.start()
        starts.append(time.perf_counter() - started)
    return {"client.view_start_100k_s": min(starts), "client.guard_us": _guarded_us(view)}


def _guarded_us(view: HealthView) -> float:
    guard = Guard(view, Rulebook(Cascade({})).effective, _STRICT)
    calls = [
        Call("acme", f"tool-{number}", f"project-{number % 100}", "alice", "sess_abc")
        for number in range(CALLS)
    ]
    assert all(view.documents_of(call.caller, call.tool_name) for call in calls)
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for call in calls:
            assert guard.ask(call) is NOTHING_KNOWN
        rounds.append(time.process_time() - started)
    return min(rounds) / CALLS * 1e6


async def _fill(connection: KafkaConnection, topics: Topics) -> None:
    """The topic with so many documents, as a worker writes them."""
    async with admin_client(connection) as admin:
        await ensure_topics(admin, topics)
    name = topics.name(Topic.HEALTH_CHANGED)
    options = {**connection.producer_options(), "linger_ms": 20, "max_batch_size": 1 << 18}
    async with AIOKafkaProducer(**options) as producer:
        for number in range(DOCUMENTS):
            health = _was_down(number)
            key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name).encode()
            tool = tool_key(health.tenant_id, health.tool_name).encode()
            headers = health_headers("agrajag/triage", key, health.revision)
            partition = partition_for(tool, topics.partitions)
            await producer.send(name, health.to_json(), key, partition=partition, headers=list(headers))


_NOTE = "The backend cannot be reached."
_HISTORY = tuple(
    HistoryEntry(
        at=_NOW - timedelta(hours=hours),
        last_at=_NOW - timedelta(hours=hours),
        status=status,
        classification=Classification.TECHNICALLY_BROKEN,
        by="agrajag-checker",
        note=_NOTE,
    )
    for hours, status in ((2, Status.OK), (3, Status.DOWN))
)


def _was_down(number: int) -> ToolHealth:
    down_at = _NOW - timedelta(hours=3)
    return ToolHealth(
        revision=int(_NOW.timestamp() * 1000) + number,
        tenant_id="acme",
        scope=Scope.PROJECT,
        scope_id=f"project-{number % 100}",
        tool_name=f"tool-{number}",
        verdict=VerdictFacet(since=_NOW, by="agrajag-checker"),
        cooldowns=(
            Cooldown(
                error_signature="connect-refused",
                next_spawn_allowed_at=down_at + timedelta(minutes=5),
                last_triggered_at=down_at,
                last_classification=Classification.TECHNICALLY_BROKEN,
                note=_NOTE,
            ),
        ),
        last_success_at=_NOW - timedelta(hours=2),
        history=_HISTORY,
        created_at=_NOW,
        updated_at=_NOW,
    )

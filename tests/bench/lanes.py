"""How many jobs a worker of service engines answers, and how near many lanes come to running side by side.

The one is our own engine with a model that answers at once, in a process of its own; for the other a small engine of
the tests waits half a second, as for a quick model. Everything else is real: jobs and answers on Kafka, processes told,
offsets committed.
"""

import asyncio
import time
from typing import Any
from uuid import uuid4

from agrajag.diagnosis.engine import AgrajagEngine
from agrajag.model.enums import Diagnostician
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.service.engine import ServiceRun
from agrajag.service.health_tools import read_tool
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics
from tests.bench.rounds import ANSWERS, model_process
from tests.diagnosis.engine_runs import OneDocument, ScriptedProbes, TheModel
from tests.harness.runs import connected
from tests.service.engines import Scripted
from tests.service.running import a_fresh_job, a_worker, committed, job_record, send
from tests.service.topics import make_topics
from tests.waiting import eventually

JOBS = 1_000
PROJECTS = 40
LANE_JOBS = 200
LANES = 20
ENGINE_SECONDS = 0.5


async def measure(bootstrap_servers: str) -> dict[str, float]:
    """`diagnosis.jobs_per_s`, with a model that takes no time, and `diagnosis.lanes_over_ideal`.

    Ideal is that each lane runs its jobs one after the other and waits for nothing else. Both times run from the first
    job that begins to the last that is committed, so that joining the group does not count.
    """
    connection = KafkaConnection(bootstrap_servers)
    async with model_process(ANSWERS) as url, connected(url) as model:
        engine = _Counting(TheModel(model), ScriptedProbes(), OneDocument(), [read_tool(OneDocument())])
        seconds = await _seconds(connection, engine, JOBS, PROJECTS)
    lane_seconds = await _seconds(connection, Scripted(_as_a_model), LANE_JOBS, LANES)
    ideal_seconds = ENGINE_SECONDS * LANE_JOBS / LANES
    return {
        "diagnosis.jobs_per_s": JOBS / seconds,
        "diagnosis.lanes_over_ideal": lane_seconds / ideal_seconds,
    }


class _Counting(AgrajagEngine):
    """Our own engine; `ran` are the jobs that it has begun."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.ran: list[str] = []

    async def run(self, job: DiagnosisJob, run: ServiceRun) -> DiagnosisResult:
        self.ran.append(job.job_id)
        result = await super().run(job, run)
        assert result.answered_by is Diagnostician.MODEL
        return result


async def _as_a_model(job: DiagnosisJob) -> None:
    await asyncio.sleep(ENGINE_SECONDS)


async def _seconds(connection: KafkaConnection, engine: Scripted | _Counting, jobs: int, lanes: int) -> float:
    topics = Topics(f"bench-{uuid4().hex[:8]}", partitions=4)
    await make_topics(connection, topics)
    await send(connection, topics, [job_record(topics, a_fresh_job(n, n % lanes)) for n in range(jobs)])

    async def all_committed() -> bool:
        return len(engine.ran) == jobs and await committed(connection, topics) == jobs

    async with a_worker(connection, topics, engine, session_timeout_seconds=10.0):
        await eventually(lambda: engine.ran, timeout=60.0)
        started = time.perf_counter()
        await eventually(all_committed, timeout=300.0)
        return time.perf_counter() - started

"""Engines of other packages: found by their entry points, and run like any other without a change to the pattern."""

from pathlib import Path

import orjson
import pytest

from agrajag.clock import utc_now
from agrajag.errors import ConfigError
from agrajag.model.answers import HealthCommand
from agrajag.model.processes import ProcessEvent
from agrajag.service.models import DeclaredModels, Models
from agrajag.service.registry import EngineParts, engines_by_name, installed_engines
from agrajag.service.tools import ToolRegistry
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topic, Topics
from tests.documents.texts import a_recipe_file, recipe_at
from tests.kafka_reading import read_all
from tests.service.attempting import Counter, Standing
from tests.service.engines import Scripted
from tests.service.outside import install
from tests.service.reading import Documents
from tests.service.running import a_fresh_job, a_worker, committed, job_record, send
from tests.waiting import eventually


def the_parts(topics: Topics) -> EngineParts:
    models = Models(Standing(), DeclaredModels({}))
    return EngineParts(topics, Documents(), models, ToolRegistry([]), utc_now)


async def test_an_engine_of_another_package_answers_its_jobs_beside_ours(
    connection: KafkaConnection, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, package="frankies", entry_points="frankie = frankies:Frankie")
    (frankie,) = installed_engines(the_parts(topics))
    documents = Standing()
    documents.put({recipe_at("frankie", "acme"): a_recipe_file("frankie", params={"tool": "a screwdriver"})})
    ours = a_fresh_job(1, 0)
    fields = orjson.loads(ours.to_json()) | {
        "serviceType": "frankie",
        "jobId": "job-f",
        "brokenTool": "search",
    }
    del fields["toolName"], fields["scope"], fields["scopeId"], fields["errorSignature"], fields["claimedBy"]
    orphan = fields | {"serviceType": "prak", "jobId": "job-p"}
    records = [
        job_record(topics, ours),
        job_record(topics, ours, orjson.dumps(fields)),
        job_record(topics, ours, orjson.dumps(fields | {"jobId": "job-g", "trigger": "a_whim"})),
        job_record(topics, ours, orjson.dumps(orphan | {"brokenTool": None})),
    ]
    await send(connection, topics, records)
    diagnosis = Scripted()
    async with a_worker(connection, topics, diagnosis, frankie, documents=documents):

        async def all_committed() -> bool:
            return await committed(connection, topics) == len(records)

        await eventually(all_committed, timeout=30.0)
    assert [job_id for job_id, _ in diagnosis.ran] == ["job-001"]
    orders = await read_all(connection.bootstrap_servers, topics.name(Topic.HEALTH_COMMANDS))
    told = {order.command_id: order.reason for order in (HealthCommand.from_json(o.value) for o in orders)}
    assert told == {
        "repair-job-f": "repaired by a screwdriver as alice",
        "repair-job-g": "not repaired: not_readable",
    }
    assert {order.key for order in orders} == {b"acme|search"}
    steps = [
        ProcessEvent.from_json(record.value)
        for record in await read_all(connection.bootstrap_servers, topics.name(Topic.PROCESS_EVENTS))
        if orjson.loads(record.value)["kind"] == "process"
    ]
    of_frankie = [str(step.status) for step in steps if step.job_id == "job-f"]
    assert of_frankie == ["INIT", "RUNNING", "CLOSED"]
    assert {step.service_name for step in steps if step.job_id == "job-f"} == {"frankie"}
    letters = await read_all(connection.bootstrap_servers, topics.dead_letters(Topic.DIAGNOSIS_JOBS))
    assert sorted(orjson.loads(letter.value)["jobId"] for letter in letters) == ["job-g", "job-p"]


def test_what_is_offered_and_cannot_be_built_stops_the_start_with_a_line_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = "frank = frankies_too:Frankie\ngone = frankies_too:Gone\nnowhere = not_installed:build"
    install(tmp_path, monkeypatch, package="frankies_too", entry_points=offered)
    with pytest.raises(ConfigError) as stopped:
        installed_engines(the_parts(Topics("test")))
    assert [line.partition(" (")[0] for line in stopped.value.problems] == [
        "engine frank",
        "engine gone",
        "engine nowhere",
    ]
    assert "it calls itself frankie" in stopped.value.problems[0]


def test_engines_that_do_not_go_together_stop_the_start() -> None:
    with pytest.raises(ConfigError) as stopped:
        engines_by_name([Scripted(), Scripted(), Counter(name="counter")])
    assert stopped.value.problems == (
        "engine agrajag: there are two of this name",
        "engine counter: answers on process-events, which is not for answers",
    )


def test_without_other_packages_there_are_no_other_engines() -> None:
    assert installed_engines(the_parts(Topics("test"))) == ()

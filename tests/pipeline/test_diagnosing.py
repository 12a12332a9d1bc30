"""Jobs from the first error to the user's inbox, with a diagnosis that is killed again and again."""

import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from agrajag.diagnosis.loopback import LoopbackServer, Reply, Request, Whole
from agrajag.documents.cascade import TOOLS_PATH, DocumentName
from agrajag.documents.pushing import outputs_of, planned_push
from agrajag.documents.records import DocumentTable
from agrajag.model.answers import InboxItem
from agrajag.model.enums import InboxStatus, ProcessStatus, Scope, Status
from agrajag.model.events import ToolCallError
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.keys import health_key
from agrajag.model.processes import ProcessEvent
from agrajag.wire.process_records import read_process_record
from agrajag.wire.topics import Topic
from tests.builders import an_error
from tests.pipeline.runs import Run, Sent, sent

TOOLS = [f"tool-{number}" for number in range(10)]
USERS = [f"user-{number}" for number in range(10)]
KILLS = 10
DICE = random.Random(7)


async def refuse_users(request: Request) -> Reply:
    """A tool that takes the credential of the system and no other."""
    if request.headers.get("authorization") == "Bearer of-the-system":
        return Whole(200, b"{}")
    return Whole(401, b"unknown token")


def tools_document(url: str) -> str:
    target = {
        "safety": "SAFE_PROBE",
        "http": {"url": url},
        "credentials": {"user": {"vault": "own"}, "system": {"file": "own"}},
    }
    return orjson.dumps({"tools": dict.fromkeys(TOOLS, target)}).decode()


def settings(run: Run, directory: Path) -> dict[str, str]:
    """Those of a diagnosis; the credentials that it finds are written here."""
    for place, secret in [
        (directory / "secrets" / "acme" / "own", "of-the-system"),
        *((directory / "vault" / "acme" / user / "own", "of-a-user") for user in USERS),
    ]:
        place.parent.mkdir(parents=True)
        place.write_text(secret)
    return {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": run.plan.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": run.plan.prefix,
        "AGRAJAG_TOPICS_PARTITIONS": str(run.plan.topics.partitions),
        "AGRAJAG_DIAGNOSIS_PRIVATE_ADDRESSES": "true",
        "AGRAJAG_DIAGNOSIS_SECRETS_DIR": str(directory / "secrets"),
        "AGRAJAG_DIAGNOSIS_VAULT_DIR": str(directory / "vault"),
    }


async def declare_tools(run: Run, url: str) -> None:
    table = DocumentTable()
    plan = planned_push({DocumentName("acme", None, TOOLS_PATH): tools_document(url)}, table)
    outputs = outputs_of(run.plan.topics.name(Topic.DOCUMENTS), plan, table, datetime.now(UTC))
    await run.send([Sent(output.value or b"", output.key, 0, topic=Topic.DOCUMENTS) for output in outputs])


def errors() -> list[ToolCallError]:
    """A refused call of each user and tool; each tool is another project's, and so another lane's."""
    return [
        an_error(
            event_id=f"{tool}-{user}",
            occurred_at=datetime.now(UTC),
            tool_name=tool,
            project_id=f"project-of-{tool}",
            user_id=user,
            http_status=401,
        )
        for user in USERS
        for tool in TOOLS
    ]


async def results(run: Run) -> list[DiagnosisResult]:
    records = await run.read(run.plan.topics.name(Topic.DIAGNOSIS_RESULTS))
    return [DiagnosisResult.from_json(record.value) for record in records]


async def ends(run: Run) -> list[ProcessEvent]:
    records = map(read_process_record, await run.read(run.plan.topics.name(Topic.PROCESS_EVENTS)))
    return [
        step for step in records if isinstance(step, ProcessEvent) and step.status is ProcessStatus.CLOSED
    ]


@pytest.mark.slow  # a group needs a second to notice each death
async def test_a_diagnosis_killed_ten_times_has_each_job_applied_once(run: Run, tmp_path: Path) -> None:
    run.start()
    async with LoopbackServer(refuse_users) as tool:
        await declare_tools(run, tool.url)
        environment = settings(run, tmp_path)
        await run.send(map(sent, errors()))
        for _ in range(KILLS):
            diagnosis = run.start_module(["tests.pipeline.diagnosing"], environment)
            enough = len(await results(run)) + DICE.randint(1, 8)

            async def some_are_answered(count: int = enough) -> bool:
                return len(await results(run)) >= count

            await run.settled(some_are_answered, 60.0)
            diagnosis.kill()
            diagnosis.wait()
        run.start_module(["tests.pipeline.diagnosing"], environment)

        async def all_are_closed() -> bool:
            return len({step.job_id for step in await ends(run)}) == 100

        await run.settled(all_are_closed, 90.0)
    await run.caught_up()

    jobs = {job.job_id for job in await run.jobs()}
    assert len(jobs) == 100
    applied = Counter(step.job_id for step in await ends(run) if step.applied)
    assert applied == dict.fromkeys(jobs, 1)
    documents = await run.documents()
    for tool_name in TOOLS:
        for user in USERS:
            document = documents[health_key("acme", Scope.USER, user, tool_name)]
            assert document.status is Status.DOWN
            assert [entry.count for entry in document.history] == [1]
    # A record may stand there twice: whatever it is about, it is the same item in the same state.
    told = {record.value for record in await run.read(run.plan.topics.name(Topic.INBOX_ITEMS))}
    items = [InboxItem.from_json(value) for value in told]
    assert Counter(item.assigned_to_user_id for item in items) == dict.fromkeys(USERS, len(TOOLS))
    assert len({item.item_id for item in items}) == len(items)
    assert {item.status for item in items} == {InboxStatus.PENDING}

"""A person sees what a diagnosis did, and what users were told, on a real Kafka."""

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import AIOKafkaProducer
from rich.console import Console

from agrajag.bootstrap import create_topics
from agrajag.cli.run_tables import as_data, in_full, overview
from agrajag.core.stories import Story, stories
from agrajag.embedded import EmbeddedKafka
from agrajag.model.enums import Classification, CloseReason, InboxStatus, ProcessStatus, ToolCallStatus
from agrajag.model.processes import ProcessRecord
from agrajag.settings import load_settings
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.process_records import process_output
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_process_event, a_session_event, a_tool_call_event, a_usage, an_inbox_item
from tests.cli.programs import agrajag

_AT = NOW + timedelta(seconds=1.5)
_CLOSED = a_process_event(
    ProcessStatus.CLOSED,
    at=_AT,
    close_reason=CloseReason.STALE,
    verdict=Classification.WORKING,
    applied=False,
    reason="superseded",
    human_note="the tool\u202e answers",
    parent_process_id="proc-parent",
)
_CALLED = a_tool_call_event(arguments='{"identity": "user"}')
_ANSWERED = a_tool_call_event(ToolCallStatus.READY, at=_AT, observation='{"success": true}')
_USAGE = a_usage(tokens=1_200, model_calls=2, tool_calls=1, cost_micro_usd=12_300, model="claude-x")
_TOLD: list[ProcessRecord] = [a_process_event(), _CLOSED, _CALLED, _ANSWERED, _USAGE, a_session_event()]


@pytest.fixture
def settings(kafka: EmbeddedKafka, topic_prefix: str) -> dict[str, str]:
    found = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "1",
    }
    asyncio.run(create_topics(load_settings(found)))
    return found


def _sent(kafka: EmbeddedKafka, outputs: Iterable[Output]) -> None:
    async def send() -> None:
        async with AIOKafkaProducer(
            **KafkaConnection(kafka.bootstrap_servers).producer_options()
        ) as producer:
            for output in outputs:
                await producer.send_and_wait(
                    output.topic, output.value, output.key, headers=list(output.headers)
                )

    asyncio.run(send())


def _printed(story: Story) -> str:
    console = Console(width=200, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(*in_full(story), sep="\n")
    return captured.get()


def test_a_person_finds_a_run_in_the_list_and_sees_all_that_it_did(
    kafka: EmbeddedKafka, topic_prefix: str, settings: dict[str, str]
) -> None:
    topics = Topics(topic_prefix, partitions=1)
    now = datetime.now(UTC)
    others = [
        a_process_event(process_id="proc-2", job_id="job-2", project_id="letters", at=now),
        a_process_event(process_id="proc-3", job_id="job-3", tenant_id="globex", at=now),
    ]
    outputs = [process_output(topics, record, "agrajag/service") for record in (*_TOLD, *others)]
    _sent(kafka, [*outputs, outputs[0]._replace(value=b"{")])
    listed = agrajag("runs", "list", "--project", "essays", AGRAJAG_TENANT="acme", **settings)
    assert (listed.returncode, listed.stderr) == (0, "")
    (line,) = listed.stdout.splitlines()[1:]
    assert " ".join(line.split()) == (
        "2026-05-23 12:00:00Z acme essays agrajag proc-1 job-1 "
        "CLOSED STALE WORKING not applied: superseded 1.5 1 1,200"
    )
    shown = agrajag("runs", "show", "job-1", "--json", **settings)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert [json.loads(line) for line in shown.stdout.splitlines()] == [as_data(stories(_TOLD)[0])]
    unknown = agrajag("runs", "show", "job-9", **settings)
    assert (unknown.returncode, unknown.stderr) == (1, "agrajag: nothing is known of job-9\n")


def test_a_run_in_full_is_its_steps_its_calls_and_what_it_used() -> None:
    (story,) = stories(_TOLD)
    lines = [line.rstrip() for line in _printed(story).splitlines()]
    assert lines[:6] == [
        "proc-1  job job-1  of acme/essays",
        "2026-05-23 12:00:00Z  RUNNING",
        "2026-05-23 12:00:01Z  CLOSED STALE WORKING not applied: superseded",
        "for: alice",
        "asked by: proc-parent",
        "note: the tool\\u202e answers",
    ]
    assert lines[6].split() == ["called", "tool", "with", "ended", "gave", "seconds"]
    assert " ".join(lines[7].split()) == (
        '2026-05-23 12:00:00Z tool_probe_as_user {"identity": "user"} READY {"success": true} 1.5'
    )
    assert lines[8] == "used: 2 model calls, 1,200 tokens, 1 tool calls, 0.0123 USD of claude-x"


def test_what_is_known_by_halves_is_shown_by_halves() -> None:
    (cut,) = stories(
        [_ANSWERED.with_changes(project_id=None), a_usage(usage_complete=False, project_id=None)]
    )
    printed = _printed(cut)
    assert "of acme\n" in printed
    assert "used: 0 model calls, 0 tokens, 0 tool calls; not all of it is known" in printed
    (data,) = as_data(cut)["calls"]
    assert data["started"] is None
    assert data["ended"]["status"] == "READY"
    assert overview([cut]).row_count == 1


def test_the_inbox_of_a_user_is_listed_and_what_is_over_only_where_it_is_asked_for(
    kafka: EmbeddedKafka, topic_prefix: str, settings: dict[str, str]
) -> None:
    name = Topics(topic_prefix, partitions=1).name(Topic.INBOX_ITEMS)
    items = [
        an_inbox_item(title="log in\u202e again"),
        an_inbox_item(item_id="over", status=InboxStatus.ARCHIVED, updated_at=_AT),
        an_inbox_item(item_id="bob", assigned_to_user_id="bob"),
        an_inbox_item(item_id="globex", tenant_id="globex"),
    ]
    _sent(kafka, [Output(name, item.item_id.encode(), item.to_json()) for item in items])
    listed = agrajag("inbox", "list", "--tenant", "acme", "--user", "alice", **settings)
    assert (listed.returncode, listed.stderr) == (0, "")
    (line,) = listed.stdout.splitlines()[1:]
    assert line.split(maxsplit=6) == [
        "2026-05-23",
        "12:00:00Z",
        "alice",
        "search",
        "PENDING",
        "inbox-1",
        "log in\\u202e again",
    ]
    told = agrajag("inbox", "list", "--tenant", "acme", "--all", "--json", **settings)
    assert [json.loads(line)["itemId"] for line in told.stdout.splitlines()] == ["bob", "inbox-1", "over"]

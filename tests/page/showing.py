"""What tests of the page put on the topics, and how they find it on the page."""

import asyncio
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from aiokafka import AIOKafkaProducer
from playwright.sync_api import Locator, Page, expect

from agrajag.api.changes.stream import ChangeStream
from agrajag.clock import utc_now
from agrajag.metrics import StreamEnd
from agrajag.model.enums import Classification, Status
from agrajag.model.health import HistoryEntry, ToolHealth, VerdictFacet
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi, key_of
from tests.builders import a_health
from tests.waiting import eventually_blocking


def down(tool: str, revision: int = 1, **overrides: Any) -> ToolHealth:
    """A tool that went down an hour ago, and was well for eight hours before that."""
    now = utc_now()
    began = now - timedelta(hours=1)
    verdict = VerdictFacet(
        status=Status.DOWN,
        since=began,
        classification=Classification.TECHNICALLY_BROKEN,
        note="connection refused",
        by="agrajag",
        evidence_at=now,
    )
    well = now - timedelta(hours=9)
    history = (
        HistoryEntry(at=began, last_at=began, status=Status.DOWN, by="agrajag", note="connection refused"),
        HistoryEntry(at=well, last_at=well, status=Status.OK, by="success"),
    )
    given: dict[str, Any] = {"verdict": verdict, "history": history, "created_at": well, "updated_at": now}
    return a_health(tool_name=tool, revision=revision, **(given | overrides))


def working(tool: str, revision: int = 1, **overrides: Any) -> ToolHealth:
    """A tool against which nothing is known."""
    return a_health(tool_name=tool, revision=revision, updated_at=utc_now(), **overrides)


def show_together(api: RunningApi, documents: Sequence[ToolHealth]) -> None:
    """Put many documents on the topic, and wait until the view shows them all."""
    topic = api.parts.topics.name(Topic.HEALTH_CHANGED)

    async def sent() -> None:
        async with AIOKafkaProducer(**api.parts.connection.producer_options()) as producer:
            await asyncio.gather(
                *[await producer.send(topic, one.to_json(), key_of(one).encode()) for one in documents]
            )

    api.run(sent())
    eventually_blocking(lambda: all(api.shown(one) == one for one in documents))


def cut_streams(api: RunningApi) -> None:
    """End all streams of changes, as a network does that breaks."""

    async def cut() -> None:
        for stream in api.parts.open_streams:
            assert isinstance(stream, ChangeStream)
            stream.end(StreamEnd.FAULT)

    api.run(cut())


def row(page: Page, tool: str) -> Locator:
    """The row of a tool, where it is shown."""
    return page.get_by_role("listitem").filter(has=page.get_by_role("link", name=tool, exact=True))


def group(page: Page, state: str) -> Locator:
    """The tools of a state."""
    return page.get_by_role("region", name=re.compile(f"^{state}"))


def only(page: Page, state: str) -> Locator:
    """The switch that leaves the tools of a state."""
    return page.get_by_role("checkbox", name=re.compile(f"^{state}"))


def confirm(page: Page, button: str, reason: str) -> None:
    """Answers the dialog, and waits until it was carried out."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(reason)
    dialog.get_by_role("button", name=button, exact=True).click()
    expect(dialog).to_have_count(0)

"""What tests of the page put on the topics, and how they find it on the page."""

import re
from datetime import timedelta
from typing import Any

from playwright.sync_api import Locator, Page, expect

from agrajag.clock import utc_now
from agrajag.model.enums import Classification, Status
from agrajag.model.health import HistoryEntry, ToolHealth, VerdictFacet
from tests.builders import a_health


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

"""`agrajag watch ...`: what changes about the health of tools, as it happens."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.options import AsJson, Tenant, settings_for_a_person, tenant_of
from agrajag.cli.telling import tell
from agrajag.clock import utc_now
from agrajag.model.enums import Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from agrajag.core.policy import Policy
    from agrajag.model.health import ToolHealth
    from agrajag.settings import Settings
    from agrajag.wire.health_records import HealthChange


def watch(
    tool: Annotated[
        str | None, typer.Argument(metavar="TOOL", help="Which tool; without it, all of the tenant.")
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Print each change of a health document as it comes, until Ctrl-C ends it.

    What only counts on (further failures of the same kind) is left out. As JSON a line is a reading of the document, as
    agrajag health --json prints it, or {"key": ..., "gone": true}.

    Example: agrajag watch --tenant acme
    """
    from agrajag.cli.interrupt import run_interruptibly

    settings = settings_for_a_person()
    run_interruptibly(_watched(settings, tenant_of(settings, tenant), tool, as_json), tell)


async def _watched(settings: "Settings", tenant_id: str, tool: str | None, as_json: bool) -> None:
    from agrajag import bootstrap
    from agrajag.core.newest import Newest
    from agrajag.wire.standing_health import of_tool

    newest: Newest[str, ToolHealth] = Newest()
    told = False
    async with aclosing(bootstrap.health_changes(settings, of_tool(tenant_id, tool))) as following:
        async for found, policy_of in following:
            for change in found.changes:
                before = newest.get(change.key)
                if newest.take(*change) and told and _is_news(before, change.health):
                    _tell(change, policy_of, as_json)
            if found.caught_up and not told:
                told = True
                tell("watching; Ctrl-C ends it")


def _is_news(before: "ToolHealth | None", after: "ToolHealth | None") -> bool:
    from agrajag.core.health import only_counts_on

    return before is None or after is None or not only_counts_on(before, after)


def _tell(change: "HealthChange", policy_of: "Callable[[str, str | None], Policy]", as_json: bool) -> None:
    from agrajag.cli.tables import moment
    from agrajag.core.reading import reading
    from agrajag.core.shown import visible

    if (document := change.health) is None:
        gone = {"key": change.key, "gone": True}
        typer.echo(json.dumps(gone) if as_json else f"{moment(utc_now())} {visible(change.key)} is gone")
        return
    project = document.scope_id if document.scope is Scope.PROJECT else None
    shown = reading(document, utc_now(), policy_of(document.tenant_id, project))
    if as_json:
        typer.echo(json.dumps(shown.model_dump(mode="json", exclude_none=True)))
        return
    whose = f"{document.scope} {visible(document.scope_id)}".strip()
    typer.echo(f"{moment(document.updated_at)} {visible(document.tool_name)} {whose}: {shown.words}")

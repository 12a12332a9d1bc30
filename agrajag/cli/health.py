"""`agrajag health ...`: how tools are, for everybody or for one caller."""

import asyncio
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agrajag.cli.exits import exit_of
from agrajag.cli.options import AsJson, Tenant, settings_for_a_person, tenant_of
from agrajag.clock import utc_now
from agrajag.model.enums import Scope, Status

if TYPE_CHECKING:
    from agrajag.bootstrap.seeing import Standing
    from agrajag.core.lookup import Caller
    from agrajag.model.health import ToolHealth
    from agrajag.model.reading import CascadeReading, HealthReading
    from agrajag.model.wire_model import WireModel


class _Shown(NamedTuple):
    """What is asked for: the readings of documents, or one for a caller."""

    readings: "list[HealthReading]"
    cascade: "CascadeReading | None"


def health(
    tool: Annotated[
        str | None, typer.Argument(metavar="TOOL", help="Which tool; without it, all of the tenant.")
    ] = None,
    tenant: Tenant = None,
    user: Annotated[
        str | None, typer.Option("--as", "--user", metavar="USER", help="How TOOL is for this user.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="How TOOL is for calls of this project.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="SESSION", help="How TOOL is in this session.")
    ] = None,
    status: Annotated[
        list[Status] | None,
        typer.Option(metavar="STATUS", case_sensitive=False, help="Only what is DOWN, DEGRADED or OK."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell how tools are: for whom, until when, why.

    With --as, --project or --session: how TOOL is for that caller, by all documents that apply. Ends with 0 where all
    that is shown is OK, with 4 where the worst is DEGRADED, with 5 where something is DOWN.

    Example: agrajag health search --as alice --project essays --tenant acme
    """
    from agrajag import bootstrap
    from agrajag.core.lookup import Caller
    from agrajag.wire.standing_health import of_tool

    settings = settings_for_a_person()
    tenant_id = tenant_of(settings, tenant)
    is_for_caller = any((user, project, session))
    if is_for_caller and tool is None:
        raise typer.BadParameter("--as, --project and --session ask about one tool: name it")
    standing = asyncio.run(bootstrap.health_documents(settings, of_tool(tenant_id, tool)))
    if tool is not None and is_for_caller:
        _tell_caller(standing, Caller(tenant_id, project, user, session), tool, as_json)
        return
    readings = [one for one in _readings(standing) if not status or one.status in status]
    if as_json:
        _as_json(readings)
    elif tool is None:
        _tell_list(readings)
    else:
        _tell_in_full(readings, tool)
    raise typer.Exit(exit_of(one.status for one in readings))


def _readings(standing: "Standing") -> "list[HealthReading]":
    """All documents, the worst first, then by tool and from the narrowest scope up."""
    from agrajag.core.reading import reading

    now = utc_now()
    found = [
        reading(one, now, standing.policy_of(one.tenant_id, _project_of(one))) for one in standing.documents
    ]
    return sorted(
        found,
        key=lambda one: (
            -exit_of([one.status]),
            one.health.tool_name,
            one.health.scope.rank,
            one.health.scope_id,
        ),
    )


def _project_of(document: "ToolHealth") -> str | None:
    return document.scope_id if document.scope is Scope.PROJECT else None


def _tell_caller(standing: "Standing", caller: "Caller", tool: str, as_json: bool) -> None:
    from agrajag.core.reading import cascade_reading
    from agrajag.model.keys import health_key

    by_key = {
        health_key(one.tenant_id, one.scope, one.scope_id, one.tool_name): one for one in standing.documents
    }
    applying = [by_key[key] for key in caller.keys(tool) if key in by_key]
    policy = standing.policy_of(caller.tenant_id, caller.project_id)
    shown = cascade_reading(applying, caller, utc_now(), policy)
    if as_json:
        _as_json([shown])
    else:
        from agrajag.core.shown import visible

        typer.echo(f"{visible(tool)}: {shown.words}")
        _tell_in_full(shown.documents, tool)
    raise typer.Exit(exit_of([shown.status]))


def _tell_list(readings: "Iterable[HealthReading]") -> None:
    from agrajag.cli.health_tables import overview
    from agrajag.cli.tables import result_console

    result_console().print(overview(readings))


def _tell_in_full(readings: "Iterable[HealthReading]", tool: str) -> None:
    from agrajag.cli.health_tables import in_full
    from agrajag.cli.tables import result_console
    from agrajag.cli.telling import tell

    found = list(readings)
    if not found:
        tell(f"nothing is known of {tool!a}")
    for one in found:
        result_console().print(*in_full(one), sep="\n")


def _as_json(records: "Iterable[WireModel]") -> None:
    for record in records:
        typer.echo(json.dumps(record.model_dump(mode="json", exclude_none=True)))

"""`agrajag report ...`: reports one failed call, and can wait for what Layer 1 makes of it."""

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agrajag.cli.options import AsJson, Tenant, settings_for_a_person, tenant_of
from agrajag.clock import utc_now

if TYPE_CHECKING:
    from agrajag.model.answers import CheckResult
    from agrajag.model.events import ToolCallError

Text = str | None


def report(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Which tool failed.")],
    message: Annotated[Text, typer.Argument(metavar="MESSAGE", help="What it said.")] = None,
    tenant: Tenant = None,
    user: Annotated[
        Text, typer.Option("--as", "--user", metavar="USER", help="For whom it was called.")
    ] = None,
    project: Annotated[Text, typer.Option(metavar="PROJECT", help="In which project.")] = None,
    session: Annotated[Text, typer.Option(metavar="SESSION", help="In which session.")] = None,
    http_status: Annotated[
        int | None, typer.Option("--status", metavar="502", min=100, max=999, help="The response's status.")
    ] = None,
    exception: Annotated[Text, typer.Option(metavar="CLASS", help="The exception's class.")] = None,
    body: Annotated[Text, typer.Option(help="The text of the response.")] = None,
    header: Annotated[
        list[str] | None, typer.Option(metavar="'NAME: VALUE'", help="A header of the response.")
    ] = None,
    code: Annotated[Text, typer.Option(metavar="CODE", help="The tool's own code of the error.")] = None,
    family: Annotated[Text, typer.Option(metavar="slack", help="The kind of system behind the tool.")] = None,
    transport: Annotated[Text, typer.Option(metavar="http", help="How the tool is reached.")] = None,
    credential: Annotated[
        Text, typer.Option(metavar="user", help="Whose credential it was: user, shared or none.")
    ] = None,
    event_id: Annotated[Text, typer.Option(help="Names the event: sent again it is the same.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is judged, and print that.")] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait for that.")
    ] = 30.0,
    as_json: AsJson = False,
) -> None:
    """Report a failed call, and print the event's id; with --wait, what Agrajag tells the caller.

    Secrets that are recognised are taken out before it is sent.

    Example: agrajag report search "Server error" --status 502 --as alice --project essays --tenant acme --wait
    """
    from agrajag import bootstrap

    settings = settings_for_a_person()
    named = event_id or f"cli-{uuid.uuid4().hex}"
    error = an_error(
        tenantId=tenant_of(settings, tenant),
        toolName=tool,
        userId=user,
        projectId=project,
        sessionId=session,
        toolFamily=family,
        transport=transport,
        credentialKind=credential,
        eventId=named,
        occurredAt=utc_now().isoformat(),
        replyTo=named if wait else None,
        error={
            "message": message,
            "httpStatus": http_status,
            "exceptionType": exception,
            "body": body,
            "headers": dict(_header(one) for one in header or ()),
            "errorCode": code,
        },
    )
    answer = asyncio.run(bootstrap.report_error(settings, error, named, timeout if wait else None))
    if answer is not None:
        typer.echo(
            json.dumps(answer.model_dump(mode="json", exclude_none=True)) if as_json else in_words(answer)
        )
    else:
        typer.echo(json.dumps({"eventId": named}) if as_json else named)


def an_error(**fields: Any) -> "ToolCallError":
    """The report of these fields as they are written on the wire, without the secrets that are recognised.

    Raises ConfigError, naming the fields at fault.
    """
    from pydantic import ValidationError

    from agrajag.core.redacted_report import redacted_report
    from agrajag.errors import ConfigError
    from agrajag.model.events import ToolCallError

    given = {name: value for name, value in fields.items() if value is not None}
    given["error"] = {name: value for name, value in given["error"].items() if value is not None}
    try:
        error = ToolCallError.from_json(json.dumps(given).encode())
    except ValidationError as problem:
        found = problem.errors(include_url=False, include_input=False)
        raise ConfigError(*(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)) from None
    return error.with_changes(error=redacted_report(error.error))


def in_words(answer: "CheckResult") -> str:
    """The answer on one line for a person."""
    from agrajag.cli.tables import moment
    from agrajag.core.shown import visible

    told = {
        "rule": answer.rule_id,
        "signature": answer.error_signature,
        "scope": f"{answer.scope} {answer.scope_id}".strip(),
        "status": answer.status,
        "cooldown until": moment(answer.cooldown_until) if answer.cooldown_until else None,
        "job": answer.job_id,
        "hint": answer.hint,
        "event": answer.event_id,
    }
    parts = [f"{name} {visible(text)}" for name, text in told.items() if text]
    return f"{answer.classification} {answer.outcome}: {', '.join(parts)}"


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (colon and name.strip()):
        raise typer.BadParameter(f"{text!a} is no header, write 'NAME: VALUE'")
    return name.strip().lower(), value.strip()

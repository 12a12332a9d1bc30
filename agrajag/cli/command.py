"""`agrajag command ...`: asks something of one health document, and tells how it ended."""

import asyncio
import getpass
import json
import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agrajag.model.enums import Classification, CommandKind, CommandOutcome, Scope, Status

if TYPE_CHECKING:
    from agrajag.model.answers import HealthCommand

FAILED = 1

Text = str | None


def command(
    kind: Annotated[CommandKind, typer.Argument(metavar="KIND", case_sensitive=False, help="What to do.")],
    tenant: Annotated[str, typer.Argument(help="Whose tool.")],
    tool: Annotated[str, typer.Argument(help="Which tool.")],
    scope: Annotated[Scope, typer.Option(metavar="SCOPE", case_sensitive=False, help="Whom it concerns.")],
    scope_id: Annotated[
        Text, typer.Option(help="The session, user or project; TENANT and GLOBAL need none.")
    ] = None,
    reason: Annotated[Text, typer.Option(help="Why; kept in the document.")] = None,
    status: Annotated[
        Status | None, typer.Option(metavar="STATUS", case_sensitive=False, help="override, setUnavailable.")
    ] = None,
    classification: Annotated[
        Classification | None,
        typer.Option(metavar="CLASS", case_sensitive=False, help="setUnavailable, setCooldown."),
    ] = None,
    error_signature: Annotated[Text, typer.Option(help="setCooldown; clearCooldown: this one only.")] = None,
    user_id: Annotated[
        Text, typer.Option(help="setCooldown, clearCooldown: this user's; recheck: as whom.")
    ] = None,
    duration: Annotated[
        Text, typer.Option(metavar="PT2H", help="setCooldown, override, setUnavailable.")
    ] = None,
    until: Annotated[Text, typer.Option(metavar="TIME", help="override: its end, with a zone.")] = None,
    expected_recovery_at: Annotated[
        Text, typer.Option(metavar="TIME", help="setUnavailable: when it is expected back.")
    ] = None,
    project_id: Annotated[
        Text, typer.Option(help="The project of a narrower scope, whose policy counts.")
    ] = None,
    inbox_item_id: Annotated[Text, typer.Option(help="dismissInbox.")] = None,
    locale: Annotated[
        Text, typer.Option(metavar="de-CH", help="recheck: the language for what the user is told.")
    ] = None,
    by: Annotated[Text, typer.Option(help="Who commands; by default the user of this shell.")] = None,
    command_id: Annotated[
        Text, typer.Option(help="Names the command: with the same id it is done once.")
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait for the result.")
    ] = 30.0,
) -> None:
    """Ask something of the health document of one tool and scope, and wait for the result.

    KIND is recheck, setAvailable, setUnavailable, setCooldown, clearCooldown, override, liftOverride, delete or
    dismissInbox; SCOPE is SESSION, USER, PROJECT, TENANT or GLOBAL, which is kept per tenant. Prints outcome, revision
    and job id. Ends with 1 where it was refused, with 3 where no worker has answered in time: then it will still be
    carried out, and the same --command-id again is harmless.

    Example: agrajag command override acme search --scope TENANT --status DOWN --reason "moving house" --duration PT2H
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.cli.telling import tell
    from agrajag.settings import load_settings

    log_for_a_person()
    asked = _asked(
        commandId=command_id or f"cli-{uuid.uuid4().hex}",
        kind=kind,
        tenantId=tenant,
        projectId=project_id,
        scope=scope,
        scopeId=scope_id or (tenant if scope is Scope.TENANT else ""),
        toolName=tool,
        by=by or _user_of_shell(),
        reason=reason,
        classification=classification,
        status=status,
        errorSignature=error_signature,
        userId=user_id,
        duration=duration,
        expectedRecoveryAt=expected_recovery_at,
        until=until,
        inboxItemId=inbox_item_id,
        locale=locale,
    )
    result = asyncio.run(bootstrap.send_command(load_settings(), asked, wait))
    told = {"command": result.command_id, "revision": result.revision, "job": result.job_id}
    typer.echo(" ".join([result.outcome, *(f"{name}={value}" for name, value in told.items() if value)]))
    if result.reason:
        tell(result.reason)
    raise typer.Exit(FAILED if result.outcome is CommandOutcome.REFUSED else 0)


def _user_of_shell() -> str:
    from agrajag.errors import ConfigError

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise ConfigError("by: this shell's user has no name; say who commands with --by") from None


def _asked(**fields: Any) -> "HealthCommand":
    """The command of these fields as they are written on the wire. Raises ConfigError, naming the options at fault."""
    from pydantic import ValidationError

    from agrajag.errors import ConfigError
    from agrajag.model.answers import HealthCommand

    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return HealthCommand.from_json(json.dumps(given).encode())
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise ConfigError(*(f"{problem['loc'][0]}: {problem['msg']}" for problem in problems)) from None

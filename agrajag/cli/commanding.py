"""Makes commands of what was typed, sends them, and tells how each ended."""

import asyncio
import getpass
import json
import uuid
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agrajag.cli.exits import Exit
from agrajag.cli.telling import tell
from agrajag.model.enums import CommandKind, CommandOutcome

if TYPE_CHECKING:
    from agrajag.model.answers import CommandResult, HealthCommand

By = Annotated[str | None, typer.Option(help="Who commands; by default the user of this shell.")]
Reason = Annotated[str | None, typer.Option(help="Why; kept in the document.")]
CommandId = Annotated[str | None, typer.Option(help="Names the command: with the same id it is done once.")]
Wait = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0.1, help="How long to wait for the result.")
]
Timeout = Annotated[
    float,
    typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long to wait for a worker's answer."),
]


def a_command(
    kind: CommandKind, *, by: str | None = None, command_id: str | None = None, **fields: Any
) -> "HealthCommand":
    """The command of these fields, by default of this shell's user and under an id of its own; times and spans as they
    are written on the wire.

    Raises ConfigError, naming the fields at fault.
    """
    from pydantic import ValidationError
    from pydantic.alias_generators import to_camel

    from agrajag.errors import ConfigError
    from agrajag.model.answers import HealthCommand

    given = fields | {
        "kind": kind,
        "by": by or _user_of_shell(),
        "command_id": command_id or f"cli-{uuid.uuid4().hex}",
    }
    on_the_wire = {to_camel(name): value for name, value in given.items() if value is not None}
    try:
        return HealthCommand.from_json(json.dumps(on_the_wire).encode())
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise ConfigError(*(f"{problem['loc'][0]}: {problem['msg']}" for problem in problems)) from None


def carry_out(command: "HealthCommand", wait_seconds: float, as_json: bool) -> None:
    """Send the command, tell how it ended, and end the program by that. Raises as `bootstrap.send_command`."""
    from agrajag import bootstrap
    from agrajag.cli.options import settings_for_a_person

    result = asyncio.run(bootstrap.send_command(settings_for_a_person(), command, wait_seconds))
    tell_result(result, as_json)
    raise typer.Exit(exit_of_results(result))


def tell_result(result: "CommandResult", as_json: bool) -> None:
    """One line: how a command ended."""
    from agrajag.core.shown import visible

    if as_json:
        typer.echo(json.dumps(result.model_dump(mode="json", exclude_none=True)))
        return
    told = {"command": result.command_id, "revision": result.revision, "job": result.job_id}
    typer.echo(" ".join([result.outcome, *(f"{name}={value}" for name, value in told.items() if value)]))
    if result.reason:
        tell(visible(result.reason))


def exit_of_results(*results: "CommandResult") -> Exit:
    """FAILED where one was refused."""
    refused = any(result.outcome is CommandOutcome.REFUSED for result in results)
    return Exit.FAILED if refused else Exit.FINE


def _user_of_shell() -> str:
    from agrajag.errors import ConfigError

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise ConfigError("by: this shell's user has no name; say who commands with --by") from None

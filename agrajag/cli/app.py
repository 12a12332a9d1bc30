"""The program `agrajag`: its commands, and what each kind of error means to whoever started it.

Results go to standard output, everything else to standard error; `--json` makes them one JSON object a line, with the
names of the wire. The program ends with

0  what was asked is done; `health`, and `recheck --wait`: all that was shown is OK; Ctrl-C in what has no end
1  something failed, was refused, or is not there
2  the usage or a setting is wrong
3  a service cannot be reached, or nobody has answered in time; what was sent is carried out later
4  `health`, and `recheck --wait`: the worst that was shown is DEGRADED
5  `health`, and `recheck --wait`: something that was shown is DOWN
"""

import sys
from collections.abc import Callable, Sequence

import typer

from agrajag import __version__
from agrajag.cli import (
    clear,
    command,
    config,
    demo,
    dev,
    dlq,
    documents,
    evaluation,
    health,
    inbox,
    override,
    rebuild,
    recheck,
    report,
    roles,
    rules,
    runs,
    tail,
    tokens,
    topics,
    watch,
)
from agrajag.cli.exits import Exit
from agrajag.cli.telling import tell
from agrajag.errors import AgrajagError, ConfigError, TransientError


def exit_code_of(error: AgrajagError) -> Exit:
    """The exit code by what the caller can do: correct the setup, try again later, or read the message."""
    if isinstance(error, ConfigError):
        return Exit.WRONG_SETUP
    return Exit.UNREACHABLE if isinstance(error, TransientError) else Exit.FAILED


app = typer.Typer(
    name="agrajag",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # its tracebacks can show values, and values can be secrets
    help="Decides whose fault a failing tool call is, and tells every agent before it tries again.",
    epilog="To see it at work: agrajag demo. To have it at hand on this machine: agrajag dev.",
)


def _add(panel: str, *commands: Callable[..., None], **groups: typer.Typer) -> None:
    """Commands under the names of their functions, and groups, under one heading of the help."""
    for command_ in commands:
        app.command(rich_help_panel=panel)(command_)
    for name, group in groups.items():
        app.add_typer(group, name=name, rich_help_panel=panel)


_add("See and report", health.health, watch.watch, report.report, tail.tail, runs=runs.app, dlq=dlq.app)
_add(
    "Decide", recheck.recheck, clear.clear, override.override, override.lift, command.command, inbox=inbox.app
)
_add(
    "Set up",
    topics=topics.app,
    config=config.app,
    documents=documents.app,
    rules=rules.app,
    tables=rebuild.app,
    tokens=tokens.app,
)
_add("Run", dev.dev, demo.demo, roles.worker, roles.sink, roles.diagnosis, roles.api)
app.command("eval", rich_help_panel="Run")(evaluation.evaluate)


@app.command()
def version() -> None:
    """Print the version.

    Example: agrajag version
    """
    typer.echo(__version__)


def main(arguments: Sequence[str] | None = None, program: typer.Typer = app, name: str = "agrajag") -> None:
    """Run the program under this name, with `arguments` or those of the process. Always ends in SystemExit."""
    try:
        program(args=arguments, prog_name=name)
    except AgrajagError as error:
        for problem in error.problems if isinstance(error, ConfigError) else (str(error),):
            tell(problem)
        sys.exit(exit_code_of(error))

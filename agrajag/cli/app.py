"""The program `agrajag`: its commands, and what each kind of error means to whoever started it.

Results go to standard output, everything else to standard error. Exit codes: 0 fine, 1 something failed, 2 the usage
or a setting is wrong, 3 a service cannot be reached.
"""

import sys
from collections.abc import Sequence

import typer

from agrajag import __version__
from agrajag.cli import (
    command,
    config,
    demo,
    dev,
    dlq,
    documents,
    evaluation,
    inbox,
    processes,
    rebuild,
    roles,
    rules,
    tokens,
    topics,
)
from agrajag.cli.telling import tell
from agrajag.errors import AgrajagError, ConfigError, TransientError

FAILED = 1
WRONG_SETUP = 2
UNREACHABLE = 3


def exit_code_of(error: AgrajagError) -> int:
    """The exit code by what the caller can do: correct the setup, try again later, or read the message."""
    if isinstance(error, ConfigError):
        return WRONG_SETUP
    return UNREACHABLE if isinstance(error, TransientError) else FAILED


app = typer.Typer(
    name="agrajag",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks can show values, and values can be secrets
    help="Decides whose fault a failing tool call is, and tells every agent before it tries again.",
    epilog="To see it at work: agrajag demo. To have it at hand on this machine: agrajag dev.",
)
app.add_typer(topics.app, name="topics")
app.add_typer(config.app, name="config")
app.add_typer(documents.app, name="documents")
app.add_typer(rules.app, name="rules")
app.add_typer(rebuild.app, name="tables")
app.command()(command.command)
app.add_typer(inbox.app, name="inbox")
app.add_typer(processes.app, name="processes")
app.add_typer(dlq.app, name="dlq")
app.command()(roles.worker)
app.command()(roles.sink)
app.command()(roles.diagnosis)
app.command()(roles.api)
app.add_typer(tokens.app, name="tokens")
app.command()(dev.dev)
app.command()(demo.demo)
app.command("eval")(evaluation.evaluate)


@app.command()
def version() -> None:
    """Print the version.

    Example: agrajag version
    """
    typer.echo(__version__)


def main(arguments: Sequence[str] | None = None, program: typer.Typer = app) -> None:
    """Run the program with `arguments`, or those of the process. Always ends in SystemExit."""
    try:
        program(args=arguments)
    except AgrajagError as error:
        for problem in error.problems if isinstance(error, ConfigError) else (str(error),):
            tell(problem)
        sys.exit(exit_code_of(error))

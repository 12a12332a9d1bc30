"""`python -m agrajag.investigation`: one investigation at a terminal, for whoever works on it; no command of agrajag.

The question is an argument, or JSON with `query` and `previous_turn` on standard input; the result is JSON on standard
output, with the record of every tool call. Exit codes: 0 for a draft, 1 for a failure, 2 for a wrong setting or
question, 3 where the store cannot be reached, 4 for a controlled stop.
"""

import sys
from typing import Annotated
from uuid import uuid4

import orjson
import typer

from agrajag.cli.app import main
from agrajag.cli.exits import Exit
from agrajag.cli.interrupt import run_interruptibly
from agrajag.cli.telling import tell
from agrajag.errors import InputError

program = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@program.command()
def investigate(
    query: Annotated[
        str | None, typer.Argument(help="The question; without it, JSON from standard input.")
    ] = None,
    session: Annotated[str, typer.Option(help="Id of the session, for the record.")] = "terminal",
    run: Annotated[
        str | None, typer.Option(help="Id of the run, for the record; a new one by default.")
    ] = None,
) -> None:
    """Investigate one question with the sources and the model of the settings. The first Ctrl-C stops it in order.

    Example: python -m agrajag.investigation "order-service 从 14:00 起返回 503，原因是什么？"
    """
    from agrajag import bootstrap
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    try:
        asked = sys.stdin.buffer.read() if query is None else _as_question(query)
        work = bootstrap.run_investigation(load_settings(), asked, session, run or f"run-{uuid4()}")
        ended = run_interruptibly(work, tell)
    except InputError as error:
        tell(str(error))
        raise typer.Exit(Exit.WRONG_SETUP) from None
    if ended is None:
        raise typer.Exit(1)
    typer.echo(orjson.dumps(ended.shown, option=orjson.OPT_INDENT_2))
    raise typer.Exit(ended.exit_code)


def _as_question(query: str) -> bytes:
    try:
        return orjson.dumps({"query": query, "previous_turn": None})
    except TypeError:
        raise InputError("invalid_field", "query: is no Unicode text") from None


def run() -> None:
    """The entry point; always ends in SystemExit."""
    main(program=program, name="python -m agrajag.investigation")

"""`agrajag dlq ...`: the records that could not be used, and sending them again once what was wrong is mended."""

import asyncio
import json
from collections import deque
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.telling import tell
from agrajag.wire.reasons import DeadLetterReason
from agrajag.wire.topics import Topic

if TYPE_CHECKING:
    from agrajag.settings import Settings
    from agrajag.wire.letter_box import Replay
    from agrajag.wire.letters import Letter, Piles, Selection

app = typer.Typer(help="List, show and replay dead letters.", no_args_is_help=True)

Topics = Annotated[list[Topic] | None, typer.Option("--topic", help="Only letters of this topic.")]
Reasons = Annotated[
    list[DeadLetterReason] | None, typer.Option("--reason", help="Only letters of this reason.")
]
Places = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="PARTITION:OFFSET", help="Only the letter of the record that stood there."),
]


@app.callback()
def dlq() -> None:
    """List, show and replay dead letters."""


@app.command("list")
def list_(topic: Topics = None, reason: Reasons = None) -> None:
    """Count the dead letters by topic and reason: how many, how many of them were replayed, oldest and newest.

    Example: agrajag dlq list --topic tool-call-errors
    """
    from agrajag.cli.tables import moment, plain_table, result_console

    table = plain_table(("topic", "reason", "oldest", "newest"), numbers=("letters", "replayed"))
    for pile in asyncio.run(_piles(_selection(topic, reason, None))):
        times = moment(pile.oldest), moment(pile.newest)
        table.add_row(pile.topic, pile.reason, *times, str(pile.letters), str(pile.replayed))
    result_console().print(table)


@app.command()
def show(
    topic: Topics = None,
    reason: Reasons = None,
    at: Places = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many, the last ones.")] = 10,
) -> None:
    """Print dead letters as JSON lines: where the record stood, what was wrong, its headers and the start of its body.

    Secrets that are recognised are left out.

    Example: agrajag dlq show --topic tool-call-errors --at 3:41
    """
    from agrajag.wire.letters import shown

    for letter in asyncio.run(_last(_selection(topic, reason, at), limit)):
        typer.echo(json.dumps(shown(letter)))


@app.command()
def replay(
    topic: Topics = None,
    reason: Reasons = None,
    at: Places = None,
    everything: Annotated[bool, typer.Option("--all", help="Every letter that there is.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")
    ] = False,
) -> None:
    """Send the records of dead letters to their topics again, under the event ids that they had.

    What was replayed before is left alone, so this may be repeated. Ends with 1 if a letter could not be replayed.

    Example: agrajag dlq replay --topic tool-call-errors --reason processing_failed --dry-run
    """
    if not (topic or reason or at or everything):
        raise typer.BadParameter("say which letters: --topic, --reason, --at or --all")
    done = asyncio.run(_replayed(_selection(topic, reason, at), dry_run))
    typer.echo(f"{'would replay' if dry_run else 'replayed'} {done.sent.total()}, before {done.already}")
    for name, count in sorted(done.sent.items()):
        typer.echo(f"  {name}: {count}")
    for why, count in sorted(done.refused.items()):
        tell(f"{count} cannot be replayed: {why}")
    raise typer.Exit(1 if done.refused else 0)


def _settings() -> "Settings":
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    return load_settings()


async def _piles(selection: "Selection") -> "Piles":
    from agrajag import bootstrap
    from agrajag.wire.letters import Piles

    piles = Piles()
    async with bootstrap.dead_letters(_settings()) as box:
        async for letter in box.letters(selection):
            piles.add(letter)
    return piles


async def _last(selection: "Selection", limit: int) -> "deque[Letter]":
    from agrajag import bootstrap

    last: deque[Letter] = deque(maxlen=limit)
    async with bootstrap.dead_letters(_settings()) as box:
        async for letter in box.letters(selection):
            last.append(letter)
    return last


async def _replayed(selection: "Selection", dry_run: bool) -> "Replay":
    from agrajag import bootstrap

    async with bootstrap.dead_letters(_settings()) as box:
        return await box.replay(selection, dry_run=dry_run)


def _selection(
    topics: list[Topic] | None, reasons: list[DeadLetterReason] | None, places: list[str] | None
) -> "Selection":
    from agrajag.wire.letters import Selection

    return Selection(frozenset(topics or ()), frozenset(reasons or ()), frozenset(map(_place, places or ())))


def _place(text: str) -> tuple[int, int]:
    partition, _, offset = text.partition(":")
    if not (partition.isdecimal() and offset.isdecimal()):
        raise typer.BadParameter(f"{text!r} is no place, write PARTITION:OFFSET such as 3:41")
    return int(partition), int(offset)

"""`agrajag tail ...`: the records of any topic, read for a person."""

import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.options import AsJson, settings_for_a_person
from agrajag.cli.telling import tell

if TYPE_CHECKING:
    from agrajag.settings import Settings
    from agrajag.wire.any_record import SeenRecord, TailedTopic

_MAX_LINE = 1_000


def tail(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Such as tool-call-errors, or tool-call-errors.dlq.")
    ],
    tenant: Annotated[str | None, typer.Option(metavar="TENANT", help="Of this tenant only.")] = None,
    tool: Annotated[str | None, typer.Option(metavar="TOOL", help="About this tool only.")] = None,
    key: Annotated[str | None, typer.Option(metavar="KEY", help="Under this record key only.")] = None,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest that the topic keeps.")
    ] = False,
    to_end: Annotated[
        bool, typer.Option("--to-end", help="What the topic holds now, from the beginning, and no more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the records of a topic as they come, decoded, until Ctrl-C ends it.

    One that cannot be used is shown with the reason, a dead letter with what it holds. Secrets that are recognised are
    left out. TOPIC is any of those that agrajag topics create makes, without prefix and version.

    Example: agrajag tail tool-call-errors --tenant acme --from-beginning
    """
    from agrajag.cli.interrupt import run_interruptibly
    from agrajag.wire.any_record import TAILED

    if topic not in TAILED:
        raise typer.BadParameter(f"there is no topic {topic!a}; there are {', '.join(TAILED)}")

    def is_wanted(seen: "SeenRecord") -> bool:
        return tenant in (None, seen.tenant_id) and tool in (None, seen.tool_name) and key in (None, seen.key)

    async def shown(settings: "Settings", tailed: "TailedTopic") -> None:
        from agrajag import bootstrap

        coming = bootstrap.tailed(settings, tailed, from_beginning=from_beginning or to_end, ends=to_end)
        has_begun = False
        async with aclosing(coming) as following:
            async for records in following:
                if not (has_begun or to_end):
                    has_begun = True
                    tell("reading; Ctrl-C ends it")
                for seen in filter(is_wanted, records):
                    typer.echo(json.dumps(seen.as_data()) if as_json else in_words(seen))

    run_interruptibly(shown(settings_for_a_person(), TAILED[topic]), tell)


def in_words(seen: "SeenRecord") -> str:
    """The record on one line of bounded length."""
    from agrajag.cli.tables import moment
    from agrajag.core.shown import one_line, visible

    at = moment(seen.at) if seen.at else "at no time"
    said = "gone" if seen.value is None else json.dumps(seen.value, ensure_ascii=False)
    told = f"unusable, {seen.problem}" if seen.problem else said
    return f"{at} {seen.place} {visible(seen.key)}  {one_line(visible(told), _MAX_LINE)}"

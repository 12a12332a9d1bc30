"""`agrajag dev`: Kafka, store, worker and sink on this machine, until it is told to end."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agrajag.cli.local import LocalParts, Plan

DEFAULT_DATA_DIR = Path(".agrajag")


def dev(
    kafka: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            envvar="AGRAJAG_KAFKA_BOOTSTRAP_SERVERS",
            help="Use this Kafka instead of starting one.",
        ),
    ] = None,
    mongo: Annotated[
        str | None,
        typer.Option(
            metavar="URI", envvar="AGRAJAG_MONGO_URI", help="Use this MongoDB instead of starting a store."
        ),
    ] = None,
    data_dir: Annotated[
        Path, typer.Option(envvar="AGRAJAG_DATA_DIR", help="Where data and log files are kept.")
    ] = DEFAULT_DATA_DIR,
) -> None:
    """Run everything on this machine: Kafka, document store, worker and sink.

    Prints what listens where and runs until Ctrl-C. A worker or sink that dies is started again. Data survive in the
    data directory.

    Example: agrajag dev --data-dir /tmp/agrajag
    """
    from agrajag.cli.interrupt import run_interruptibly
    from agrajag.cli.local import Plan, own_environment
    from agrajag.logs import configure_logging

    configure_logging("warning", "console")
    plan = Plan(data_dir.absolute(), kafka, mongo, own_environment())
    run_interruptibly(_run(plan), _tell)


async def _run(plan: "Plan") -> None:
    from agrajag.cli.local import local_parts

    _tell("starting")
    async with local_parts(plan, _tell) as parts:
        _show(plan, parts)
        await parts.supervisor.watch()


def _show(plan: "Plan", parts: "LocalParts") -> None:
    from rich.console import Console
    from rich.table import Table

    for finding in parts.findings:
        _tell(finding)
    table = Table(box=None, pad_edge=False)
    for heading in ("part", "address", "log"):
        table.add_column(heading, no_wrap=True, overflow="ignore")
    for part, address, log_file in parts.listings:
        table.add_row(part, address, str(log_file or "runs elsewhere"))
    console = Console()
    console.print(table, crop=False)
    console.print(f"\ndata: {plan.data_dir}\nready, Ctrl-C ends it", highlight=False, soft_wrap=True)


def _tell(line: str) -> None:
    typer.echo(f"agrajag: {line}", err=True)

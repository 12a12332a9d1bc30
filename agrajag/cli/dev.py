"""`agrajag dev`: Kafka, store and all roles on this machine, until it is told to end."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.telling import tell

if TYPE_CHECKING:
    from agrajag.cli.local import LocalParts, Plan


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
        Path | None,
        typer.Option(help="Where data and log files are kept, by default AGRAJAG_DATA_DIR or .agrajag."),
    ] = None,
) -> None:
    """Run everything on this machine: Kafka, document store, worker, sink, diagnosis and the API with its status page.

    Prints what listens where and runs until Ctrl-C. A role that dies is started again. Data survive in the
    data directory.

    Example: agrajag dev --data-dir /tmp/agrajag
    """
    from agrajag.cli.interrupt import run_interruptibly
    from agrajag.cli.local import Plan
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    directory = data_dir or load_settings().data_dir
    plan = Plan(directory.absolute(), kafka, mongo, os.environ)
    run_interruptibly(_run(plan), tell)


async def _run(plan: "Plan") -> None:
    from agrajag.cli.local import local_parts

    tell("starting")
    async with local_parts(plan, tell) as parts:
        _show(plan, parts)
        await parts.supervisor.watch()


def _show(plan: "Plan", parts: "LocalParts") -> None:
    from agrajag.cli.tables import plain_table, result_console

    for finding in parts.findings:
        tell(finding)
    table = plain_table(("part", "address", "log"))
    for part, address, log_file in parts.listings:
        table.add_row(part, address, str(log_file or "runs elsewhere"))
    console = result_console()
    console.print(table)
    console.print(f"\ndata: {plan.data_dir}\nready, Ctrl-C ends it", soft_wrap=True)

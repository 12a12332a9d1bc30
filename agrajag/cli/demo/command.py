"""The command `agrajag demo`."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from agrajag.cli.telling import tell


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep data and log files, and say where they are.")
    ] = False,
) -> None:
    """Send some thousand errors of three tenants through Kafka, worker, sink and store, and check the books.

    Everything runs on this machine, in a directory of its own, and is ended again. Ends with 1 if an error was lost or
    a document is not as it must be; data and log files are then kept.

    Example: agrajag demo
    """
    from agrajag.cli.demo.run import plan_of_demo, run_demo
    from agrajag.cli.interrupt import run_interruptibly
    from agrajag.cli.start import log_for_a_person

    log_for_a_person()
    data_dir = Path(tempfile.mkdtemp(prefix="agrajag-demo-"))
    kept = True
    try:
        result = run_interruptibly(run_demo(plan_of_demo(data_dir, os.environ), tell), tell)
        kept = keep or (result is not None and not result.balanced)
    finally:
        if kept:
            tell(f"data and log files: {data_dir}")
        else:
            shutil.rmtree(data_dir, ignore_errors=True)
    raise typer.Exit(0 if result is not None and result.balanced else 1)

"""`agrajag worker`, `sink`, `diagnosis` and `api`: the parts that run for ever."""

from typing import Annotated

import typer

from agrajag.cli.telling import tell


def worker(
    processes: Annotated[
        int, typer.Option(min=1, max=256, help="How many workers to run, each as a process of its own.")
    ] = 1,
    end_with_input: Annotated[bool, typer.Option("--end-with-input", hidden=True)] = False,
) -> None:
    """Decide about errors: read tool-call-errors, write documents, jobs, answers and dead letters.

    Runs until SIGTERM or Ctrl-C. Start as many as there are partitions; they share the work. Settings come from
    AGRAJAG_* variables; the topics must exist (agrajag topics create).

    Of several processes, one that dies is started again after a pause that grows; one that says that its setup is wrong
    ends all of them.

    Example: AGRAJAG_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 agrajag worker --processes 4
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    settings = settings_of_role()
    if processes > 1:
        from agrajag.cli.interrupt import run_interruptibly
        from agrajag.cli.worker_processes import run_workers

        run_interruptibly(run_workers(settings, processes), tell)
        return
    if end_with_input:
        from agrajag.cli import worker_processes

        worker_processes.end_with_input()
    raise typer.Exit(bootstrap.run_worker(settings))


def sink() -> None:
    """Mirror health documents, rules, the inbox and what processes did into MongoDB.

    Runs until SIGTERM or Ctrl-C, and waits for brokers and a store that are away. Any number of sinks may run. The
    topics must exist (agrajag topics create).

    Example: AGRAJAG_MONGO_URI=mongodb://mongo:27017 agrajag sink
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    raise typer.Exit(bootstrap.run_sink(settings_of_role()))


def diagnosis() -> None:
    """Find out what the rules cannot decide: read diagnosis-jobs, probe, ask a model, write diagnosis-results.

    Runs until SIGTERM or Ctrl-C, and waits for brokers that are away. Any number may run; they share the projects.
    Without AGRAJAG_MODEL_API_KEY rules alone diagnose. The topics must exist (agrajag topics create).

    Example: AGRAJAG_MODEL_API_KEY_FILE=/run/secrets/model agrajag diagnosis
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    raise typer.Exit(bootstrap.run_diagnosis(settings_of_role()))


def api() -> None:
    """Serve the HTTP API: report, read, command, follow the changes, and the status page.

    Runs until SIGTERM or Ctrl-C, and waits for brokers that are away; while the store is away, what comes from memory
    is still answered. Any number may run. Without tokens it serves this machine alone, and everything to everybody
    there (agrajag tokens new makes one). The topics must exist (agrajag topics create).

    Example: AGRAJAG_API_TOKENS_FILE=tokens.yaml AGRAJAG_API_HOST=0.0.0.0 agrajag api
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    raise typer.Exit(bootstrap.run_api(settings_of_role()))

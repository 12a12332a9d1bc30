"""`agrajag worker` and `agrajag sink`: the parts that run for ever."""

import typer


def worker() -> None:
    """Decide about errors: read tool-call-errors, write documents, jobs, answers and dead letters.

    Runs until SIGTERM or Ctrl-C. Start as many as there are partitions; they share the work. Settings come from
    AGRAJAG_* variables; the topics must exist (agrajag topics create).

    Example: AGRAJAG_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 agrajag worker
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    raise typer.Exit(bootstrap.run_worker(settings_of_role()))


def sink() -> None:
    """Mirror the health documents into MongoDB.

    Runs until SIGTERM or Ctrl-C, and waits for brokers and a store that are away. Any number of sinks may run. The
    topics must exist (agrajag topics create).

    Example: AGRAJAG_MONGO_URI=mongodb://mongo:27017 agrajag sink
    """
    from agrajag import bootstrap
    from agrajag.cli.start import settings_of_role

    raise typer.Exit(bootstrap.run_sink(settings_of_role()))

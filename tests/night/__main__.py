"""A night on this machine: mixed load while parts fail, and the books at its end (`python -m tests.night`).

Ends with 1 if anything is lost, a fault could not be seen from outside, or a role's memory grew.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console

from agrajag.cli.local import LocalParts, Plan, local_parts
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.logs import configure_logging
from agrajag.settings import ENV_PREFIX
from tests.night import load, report
from tests.night.books import Sent, problems_in, repeated_reports
from tests.night.faults import TENANT, Faults
from tests.night.memory import curve, growth
from tests.night.plan import Night, night_of
from tests.night.reading import read_at_end
from tests.night.watch import Watch, seen_at, signs_left

_ROLES = frozenset({"worker", "sink", "diagnosis", "api"})
_READY_SECONDS = 60.0
_SETTINGS = {
    "AGRAJAG_POLICY_ANSWER_ALL": "true",
    "AGRAJAG_TOPICS_PARTITIONS": "4",
    "AGRAJAG_WORKER_TOLD_INTERVAL_SECONDS": "1",
    "AGRAJAG_API_STREAM_MEMORY_MIB": "2",  # full within a minute; the 64 it has else would fill all night long
}


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _plan(directory: Path, kafka: EmbeddedKafka, store: EmbeddedStore) -> Plan:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
    documents = {"AGRAJAG_DOCUMENTS_DIR": str(directory / "documents")}
    return Plan(directory / "roles", kafka.bootstrap_servers, store.uri, environment | _SETTINGS | documents)


async def _play(night: Night, faults: Faults, began: float) -> None:
    for span in night.spans:
        await asyncio.sleep(max(0.0, began + span.begins_seconds - time.monotonic()))
        _say(f"{span.fault}")
        await faults.begin(span.fault)
        await asyncio.sleep(span.lasts_seconds)
        await faults.undo(span.fault)


async def _through(night: Night, minutes: float, parts: LocalParts, faults: Faults) -> report.Outcome:
    settings, sent, answers = parts.settings, Sent(), Counter[int]()
    address = f"http://127.0.0.1:{settings.api.port}/brain/{TENANT}"
    subscriber = load.Subscriber(f"{address}/changes")
    watch = Watch(settings, {"kafka": lambda: faults.kafka.pid, "store": lambda: faults.store.pid})
    await watch.until_ready(_READY_SECONDS)
    began = time.monotonic()
    beside = [asyncio.ensure_future(watch.run()), asyncio.ensure_future(subscriber.run())]
    try:
        await asyncio.gather(
            load.Producers(settings, sent).run(night.lasts_seconds),
            load.report(settings, sent, night.lasts_seconds),
            load.ask(f"{address}/health", answers, night.lasts_seconds),
            _play(night, faults, began),
        )
        _say("reading the books")
        found = await read_at_end(settings, sent, subscriber, watch)
    finally:
        for task in beside:
            task.cancel()
        ended = await asyncio.gather(*beside, return_exceptions=True)
    growths = {name: growth(samples, night.lasts_seconds) for name, samples in watch.samples.items()}
    failed = tuple(f"{error!r}" for error in ended if not isinstance(error, asyncio.CancelledError))
    unanswered = tuple(f"the API answered {code}" for code in answers if code != 200)
    return report.Outcome(
        minutes=minutes,
        errors=sent.errors.total(),
        failures_reported=sent.reported.total(),
        reports_repeated=repeated_reports(sent, found),
        commands=len(sent.commands),
        others=sent.others,
        dead_letters=len(set(found.dead_letters)),
        api_answers=dict(answers),
        stream_resets=subscriber.resets,
        seen={span.fault: seen_at(span, watch.looks) for span in night.spans},
        growth={name: share for name, share in growths.items() if name in _ROLES},
        growth_of_servers={name: share for name, share in growths.items() if name not in _ROLES},
        memory_mib={name: curve(samples) for name, samples in watch.samples.items()},
        book_problems=tuple(problems_in(sent, found)),
        other_problems=(*failed, *unanswered, *signs_left(watch.looks)),
    )


async def _run(minutes: float, directory: Path) -> report.Outcome:
    with EmbeddedKafka(directory / "kafka") as kafka, EmbeddedStore(directory / "store") as store:
        faults = Faults(
            kafka, store, directory / f"documents/{TENANT}/_tenant/_vance/agrajag/error-patterns.yaml"
        )
        faults.prepare()
        async with local_parts(_plan(directory, kafka, store), _say) as parts:
            return await parts.supervisor.beside(_through(night_of(minutes), minutes, parts, faults))


def main() -> int:
    """Play the night, show and write what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.night", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    minutes = parser.parse_args().minutes
    directory = Path(tempfile.mkdtemp(prefix="agrajag-night-"))
    _say(f"data and log files: {directory}")
    with (directory / "night.log").open("w") as log:
        configure_logging("warning", stream=log)
        outcome = asyncio.run(_run(minutes, directory))
    report.write(outcome)
    report.show(outcome, Console())
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main())

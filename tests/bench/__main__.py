"""All benchmarks in one run: prints them beside their goals and writes `.bench/results.json` (`make bench`)."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.logs import configure_logging
from tests.bench import (
    classify,
    guarding,
    investigation,
    labelled,
    lanes,
    latency,
    recovery,
    reporter,
    rounds,
    sink,
    worker,
)

RESULTS = Path(".bench/results.json")
GOALS: dict[str, tuple[str, float]] = {
    "classify.over_parse": ("<=", 4.0),
    "classify.rules_10000_over_12": ("<=", 1.5),
    "classify.packs_over_twelve": ("<=", 1.5),
    "corpus.unambiguous": (">=", 0.95),
    "corpus.acceptable": (">=", 0.9),
    "corpus.left_unclear": ("<=", 0.2),
    "corpus.cooldown": (">=", 1.0),
    "corpus.harmful": ("<=", 0.0),
    "corpus.without_the_family": (">=", 0.75),
    "worker.over_naive_faust": (">=", 10.0),
    "worker.over_raw_copy": (">=", 0.8),
    "worker.storm_over_naive_faust": (">=", 20.0),
    "latency.p99_ms": ("<=", 15.0),
    "sink.over_bulk_upsert": (">=", 0.7),
    "diagnosis.round_over_sdk": ("<=", 1.5),
    "diagnosis.lanes_over_ideal": ("<=", 1.3),
    "investigation.run_over_sdk": ("<=", 1.5),
    "client.view_start_100k_s": ("<=", 3.0),
    "client.guard_us": ("<=", 10.0),
    "client.report_us": ("<=", 50.0),
}


def reached(name: str, value: float) -> bool:
    """Whether the goal of `name` is reached."""
    sign, goal = GOALS[name]
    return value <= goal if sign == "<=" else value >= goal


def shown(results: dict[str, float]) -> Table:
    """The results as a table: value, goal and whether it is reached."""
    table = Table("benchmark", "measured", "goal", "")
    for name, value in results.items():
        goal = " ".join(map(str, GOALS[name])) if name in GOALS else ""
        verdict = ("reached" if reached(name, value) else "missed") if name in GOALS else ""
        table.add_row(name, f"{value:,.2f}", goal, verdict)
    return table


async def measure(directory: Path) -> dict[str, float]:
    """Every benchmark, one after the other, on one broker and one store."""
    results = classify.measure()
    results |= labelled.measure()
    results |= await rounds.measure()
    results |= await investigation.measure()
    with EmbeddedKafka(directory / "kafka") as kafka, EmbeddedStore(directory / "store") as store:
        results |= await latency.measure(kafka.bootstrap_servers, directory)
        results |= await worker.measure(kafka.bootstrap_servers, directory)
        results |= await recovery.measure(kafka.bootstrap_servers, directory)
        results |= await reporter.measure(kafka.bootstrap_servers)
        results |= await guarding.measure(kafka.bootstrap_servers)
        results |= await lanes.measure(kafka.bootstrap_servers)
        results |= await sink.measure(kafka.bootstrap_servers, store.uri)
    return results


def main() -> int:
    """Measure, write, show. A goal that is missed is shown as missed; only a failure to measure fails."""
    configure_logging("warning")
    with tempfile.TemporaryDirectory(prefix="agrajag-bench-") as directory:
        results = asyncio.run(measure(Path(directory)))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    Console().print(shown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

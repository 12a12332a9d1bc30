"""One run of the demo: parts up, errors in, everything through, books checked."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aiokafka.errors import KafkaError

from agrajag import bootstrap
from agrajag.cli.demo.balance import Balance, Readings, Trouble, balance
from agrajag.cli.demo.diagnosing import SECRETS_DIR, VAULT_DIR, Diagnosed, through_diagnosis
from agrajag.cli.demo.healing import HealingBooks, bundled_healing_steps, through_healing
from agrajag.cli.demo.links import LinkBooks, bundled_link_steps, through_links
from agrajag.cli.demo.reading import Follower, Ledger, following
from agrajag.cli.demo.ruling import RulingBooks, through_ruling
from agrajag.cli.demo.scenarios import Script, bundled_script
from agrajag.cli.demo.sending import send
from agrajag.cli.demo.showing import Counts, health_table, live_counts, progress_console
from agrajag.cli.local import LocalParts, Plan, local_parts
from agrajag.cli.tables import result_console
from agrajag.clock import utc_now
from agrajag.documents.rule_files import bundled_rules
from agrajag.errors import TransientError
from agrajag.settings import ENV_PREFIX, Settings

_THROUGH_SECONDS = 120.0
_LINKS_SECONDS = 30.0
_HEALING_SECONDS = 30.0
_RULING_SECONDS = 30.0
_DIAGNOSIS_SECONDS = 60.0
_STORE_SECONDS = 30.0
_SETTINGS = {
    "AGRAJAG_POLICY_ANSWER_ALL": "true",
    "AGRAJAG_WORKER_TOLD_INTERVAL_SECONDS": "1",
    "AGRAJAG_DIAGNOSIS_PRIVATE_ADDRESSES": "true",
}
_OF_MODELS = f"{ENV_PREFIX}MODEL_"
_DIAGNOSIS = "diagnosis"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class _Run:
    balance: Balance
    ledger: Ledger
    links: LinkBooks
    healing: HealingBooks
    ruling: RulingBooks
    diagnosed: Diagnosed
    sent_twice: int


def plan_of_demo(data_dir: Path, environment: Mapping[str, str]) -> Plan:
    """All parts here, and no setting but the demo's own and those of the model: it shows the same wherever it runs."""
    given = {
        name: value
        for name, value in environment.items()
        if not name.startswith(ENV_PREFIX) or name.startswith(_OF_MODELS)
    }
    places = {
        "AGRAJAG_DIAGNOSIS_SECRETS_DIR": str(data_dir / SECRETS_DIR),
        "AGRAJAG_DIAGNOSIS_VAULT_DIR": str(data_dir / VAULT_DIR),
    }
    environment = given | _SETTINGS | places
    return Plan(data_dir, None, None, environment, ("worker", "sink", _DIAGNOSIS), frozenset({_DIAGNOSIS}))


async def run_demo(plan: Plan, tell: Tell) -> Balance:
    """Run the demo on new topics and print its results.

    What is not through after two minutes is lost by these books. Raises ConfigError or TransientError if a part does
    not come up, PermanentError if one is given up.
    """
    started = time.monotonic()
    tell("starting Kafka, store, worker and sink")
    async with local_parts(plan, tell) as parts:
        tell(f"started in {time.monotonic() - started:.1f} s")
        try:
            run = await parts.supervisor.beside(_through(parts, plan.data_dir, bundled_script(), tell))
        except KafkaError as error:
            raise TransientError(f"kafka: {type(error).__name__}: {error}") from error
        _show(run)
    for problem in run.balance.problems:
        tell(problem)
    tell(f"all of it took {time.monotonic() - started:.1f} s")
    return run.balance


def _show(run: _Run) -> None:
    console = result_console()
    console.print(health_table(run.ledger.documents, utc_now()))
    lines = (
        f"sent twice by their producer: {run.sent_twice:,}",
        f"republished to their right partition: {run.ledger.republished:,}",
        *map(str, (run.links, run.healing, run.ruling)),
        *run.diagnosed.lines,
        run.balance.closing_line,
    )
    console.print("\n" + "\n".join(lines))


async def _through(parts: LocalParts, data_dir: Path, script: Script, tell: Tell) -> _Run:
    settings = parts.settings
    connection, topics = settings.kafka.connection(), settings.topics.topics()
    records = script.records(utc_now())
    sent: Counter[str] = Counter()
    async with following(connection, topics) as follower:
        sending = asyncio.ensure_future(send(connection, topics, records, sent))
        try:
            await _follow(follower, sent, sending, len(records))
        finally:
            sending.cancel()
        sent_twice = sum(1 for times in follower.ledger.received.values() if times > 1)
        links = await through_links(connection, topics, follower, bundled_link_steps(), tell, _LINKS_SECONDS)
        steps = bundled_healing_steps()
        healing = await through_healing(connection, topics, follower, steps, tell, _HEALING_SECONDS)
        ruling = await through_ruling(settings, follower, script, sent, tell, _RULING_SECONDS)
        diagnosed = await through_diagnosis(
            settings,
            data_dir,
            follower,
            lambda: parts.supervisor.start(*parts.held_back),
            tell,
            _DIAGNOSIS_SECONDS,
        )
        tell("comparing the store with its topic")
        differences = await _store_differences(settings)
        await follower.read_to_end()
    ledger = follower.ledger
    readings = Readings(
        sent=sent,
        received=ledger.received,
        republished=ledger.republished,
        verdicts=ledger.verdicts,
        dead_letters=ledger.dead_letters,
        documents=ledger.documents,
        job_ids={trouble: frozenset(ids) for trouble, ids in ledger.job_ids.items()},
        storms=storms_of(script),
        link_problems=links.problems,
        healing_problems=healing.problems,
        ruling_problems=ruling.problems,
        diagnosis_problems=diagnosed.problems,
        store_differences=differences,
    )
    return _Run(balance(readings), ledger, links, healing, ruling, diagnosed, sent_twice)


async def _follow(
    follower: Follower, sent: Counter[str], sending: "asyncio.Future[None]", total: int
) -> None:
    """Read until everything that was sent is through, or the time for it is over."""
    ledger = follower.ledger
    deadline = time.monotonic() + _THROUGH_SECONDS
    with live_counts(progress_console(), total) as show:
        while time.monotonic() < deadline:
            await follower.read_on()
            show(
                Counts(
                    total=total,
                    sent=sent.total(),
                    verdicts=ledger.verdicts.total(),
                    dead_letters=ledger.dead_letters.total(),
                    documents=len(ledger.documents),
                    jobs=ledger.jobs,
                )
            )
            if sending.done():
                sending.result()
                if ledger.is_complete(sent):
                    return


async def _store_differences(settings: Settings) -> tuple[str, ...]:
    """Where the store is not as the topic, after the sink has had its time to catch up."""
    books = await bootstrap.compare_store(settings, _STORE_SECONDS)
    return tuple(
        f"the store's {difference.key} is {difference.fault}: revision {difference.store_revision}, "
        f"the topic has {difference.topic_revision}"
        for difference in books.differences
    )


def storms_of(script: Script) -> frozenset[Trouble]:
    """The troubles of which the script makes storms."""
    signatures = {rule.id: rule.signature for rule in bundled_rules().rules}
    return frozenset(
        Trouble(scenario.tenant_id, scenario.tool_name, signatures[scenario.rule])
        for scenario in script.scenarios
        if scenario.storm
    )

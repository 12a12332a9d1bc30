"""What the worker is measured against, each as a process (`python -m tests.bench.contenders NAME '<json of Race>'`).

`raw_copy` is the least that a Kafka consumer can do with an event: parse it, write it again, send it, commit.
`naive_faust` is the worker that Faust's manual leads to: one agent, one table, a list of rules tried
one after the other.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import faust
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from agrajag.documents.rule_files import bundled_rules


@dataclass(frozen=True)
class Race:
    """The brokers, the topic to read, the topic to write, and how many partitions both have."""

    bootstrap_servers: str
    source: str
    target: str
    partitions: int
    group: str


async def raw_copy(race: Race) -> None:
    """Copy events until killed."""
    consumer = AIOKafkaConsumer(
        race.source,
        bootstrap_servers=race.bootstrap_servers,
        group_id=race.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    producer = AIOKafkaProducer(bootstrap_servers=race.bootstrap_servers, acks="all", linger_ms=5)
    async with consumer, producer:
        while True:
            fetched = await consumer.getmany(timeout_ms=200, max_records=500)
            sending = [
                await producer.send(race.target, orjson.dumps(orjson.loads(record.value)), key=record.key)
                for records in fetched.values()
                for record in records
            ]
            if sending:
                await asyncio.gather(*sending)
                await consumer.commit()


def naive_faust(race: Race) -> faust.App:
    """A plain Faust app: JSON in, the first matching rule of a list, one table, JSON out."""
    app = faust.App(
        race.group,
        broker=f"kafka://{race.bootstrap_servers}",
        store="memory://",
        topic_partitions=race.partitions,
        topic_disable_leader=True,
        broker_max_poll_records=500,
        web_enabled=False,
    )
    events = app.topic(race.source, partitions=race.partitions, key_type=bytes)
    changes = app.topic(race.target, partitions=race.partitions, key_type=bytes)
    healths = app.Table("health", partitions=race.partitions, key_type=bytes)
    rules = [
        {
            "statuses": rule.match.http_statuses,
            "exceptions": rule.match.exception_types,
            "body": rule.match.body_contains,
            "classification": rule.classification.value,
            "signature": rule.signature,
        }
        for rule in bundled_rules().rules
    ]

    @app.agent(events)
    async def triage(stream: Any) -> None:
        async for key, event in stream.items():
            rule = next(rule for rule in rules if _matches(rule, event["error"]))
            health = healths.get(key) or {"errors": 0, "history": []}
            health["errors"] += 1
            health["classification"] = rule["classification"]
            health["history"] = [rule["signature"], *health["history"]][:20]
            healths[key] = health
            await changes.send(key=key, value=health)

    return app


def _matches(rule: dict[str, Any], error: dict[str, Any]) -> bool:
    if rule["statuses"] and not rule["statuses"][0] <= error.get("httpStatus", 0) <= rule["statuses"][1]:
        return False
    if rule["exceptions"] and error.get("exceptionType") not in rule["exceptions"]:
        return False
    text = f"{error.get('message', '')}\n{error.get('body', '')}".lower()
    return not rule["body"] or any(part in text for part in rule["body"])


async def run_naive_faust(race: Race) -> None:
    """Run the app until killed, without Faust's own command line and its debug records."""
    for name in ("faust", "mode", "aiokafka"):
        logging.getLogger(name).setLevel(logging.WARNING)
    app = naive_faust(race)
    await app.start()
    await app.wait_until_stopped()


CONTENDERS: dict[str, Callable[[Race], Any]] = {"raw_copy": raw_copy, "naive_faust": run_naive_faust}

if __name__ == "__main__":
    asyncio.run(CONTENDERS[sys.argv[1]](Race(**json.loads(sys.argv[2]))))

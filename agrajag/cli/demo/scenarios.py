"""The errors of the demo: scenarios from the bundled files, multiplied into records.

The same files, seed and time give the same records. A scenario is one failure as many users meet it; its event is a
template in which `$user`, `$session`, `$request`, `$ms` and `$n` stand for what differs from call to call.
"""

import random
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib import resources
from string import Template
from typing import Annotated, Any, NamedTuple

import orjson
from pydantic import Field

from agrajag.model.keys import tool_key
from agrajag.model.wire_model import MAX_ID, Id, WireModel
from agrajag.wire.partition import partition_for

TENANT_FILES = ("magrathea", "milliways", "sirius")
SEED = 42

_TOO_LONG = "x" * (MAX_ID + 1)


class Producer(StrEnum):
    """How the reporting service finds the partition of a key."""

    KAFKA = "kafka"
    """murmur2, as Kafka's own clients do: the right partition."""
    LIBRDKAFKA = "librdkafka"
    """CRC32, the default of librdkafka and all that is built on it: often another one."""

    def place(self, key: bytes, partitions: int) -> int:
        """Where this producer puts `key`."""
        return zlib.crc32(key) % partitions if self is Producer.LIBRDKAFKA else partition_for(key, partitions)


class Scenario(WireModel):
    """One line of a tenant's file: `count` equal failures from `users` users, and the bundled rule that they meet.

    They begin `starts_seconds_ago` and are spread over `over_seconds`. `storm`: they have to end in one diagnosis job.
    `sent_twice`: so many events reach Kafka twice. `without_ids`: the producer gives its events no ids.
    """

    name: Id
    rule: Id
    count: Annotated[int, Field(ge=1)]
    users: Annotated[int, Field(ge=1)]
    starts_seconds_ago: int
    over_seconds: int
    event: dict[str, Any]
    storm: bool = False
    sent_twice: int = 0
    without_ids: bool = False
    producer: Annotated[Producer, Field(strict=False)] = Producer.KAFKA

    @property
    def tenant_id(self) -> str:
        """Whose tool fails."""
        return str(self.event["tenantId"])

    @property
    def tool_name(self) -> str:
        """Which tool fails."""
        return str(self.event["toolName"])


class Broken(WireModel):
    """One line of the file of broken records; `reason` is what its dead letter has to say."""

    name: Id
    key: str
    reason: str
    value: str


class DemoRecord(NamedTuple):
    """One record to be sent."""

    key: bytes
    value: bytes
    producer: Producer


@dataclass(frozen=True)
class Script:
    """All that the demo sends."""

    scenarios: tuple[Scenario, ...]
    broken: tuple[Broken, ...]

    def records(self, now: datetime, seed: int = SEED) -> list[DemoRecord]:
        """All records in the order of their events, broken ones between them, repeats at the end."""
        chance = random.Random(seed)  # noqa: S311 - no secret
        timed: list[tuple[datetime, DemoRecord]] = []
        repeats: list[DemoRecord] = []
        for scenario in self.scenarios:
            own = list(_multiplied(scenario, now, chance))
            timed += own
            repeats += [record for _, record in own[: scenario.sent_twice]]
        timed.sort(key=lambda item: item[0])
        records = [record for _, record in timed]
        for broken in self.broken:
            records.insert(chance.randrange(len(records)), _broken_record(broken))
        return records + repeats


def bundled_script() -> Script:
    """What the package brings along."""
    scenarios = tuple(
        Scenario.model_validate_json(line) for tenant in TENANT_FILES for line in _lines(f"{tenant}.jsonl")
    )
    return Script(scenarios, tuple(Broken.model_validate_json(line) for line in _lines("broken.jsonl")))


def _lines(file_name: str) -> Iterable[str]:
    return resources.files("agrajag").joinpath(f"defaults/demo/{file_name}").read_text("utf-8").splitlines()


def _multiplied(
    scenario: Scenario, now: datetime, chance: random.Random
) -> Iterator[tuple[datetime, DemoRecord]]:
    template = Template(orjson.dumps(scenario.event).decode())
    key = tool_key(scenario.tenant_id, scenario.tool_name).encode()
    start = now.astimezone(UTC) - timedelta(seconds=scenario.starts_seconds_ago)
    for number in range(scenario.count):
        user = f"{scenario.tenant_id}-user-{chance.randrange(scenario.users):03}"
        at = start + timedelta(seconds=scenario.over_seconds * (number + chance.random()) / scenario.count)
        text = template.safe_substitute(
            user=user,
            session=f"session-of-{user}",
            request=f"{chance.getrandbits(48):012x}",
            ms=chance.randrange(10_000, 30_000),
            n=number,
        )
        event = {"occurredAt": at.isoformat(timespec="milliseconds"), **orjson.loads(text)}
        if not scenario.without_ids:
            event = {"eventId": f"{scenario.name}-{number:04}", **event}
        yield at, DemoRecord(key, orjson.dumps(event), scenario.producer)


def _broken_record(broken: Broken) -> DemoRecord:
    value = Template(broken.value).safe_substitute(long=_TOO_LONG)
    return DemoRecord(broken.key.encode(), value.encode(), Producer.KAFKA)

"""Looks at the roles through a night as Prometheus would, and decides whether each fault could be seen from outside."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx
from prometheus_client.parser import text_string_to_metric_families

from agrajag.cli.local import ROLES
from agrajag.settings import Settings
from tests.night.memory import Sample, role_pids, rss_bytes
from tests.night.plan import Fault, Span

_EVERY_SECONDS = 0.5
_LATE_SECONDS = 20.0
"""How long after its end a fault may be seen first: a broker's return is a fault's end, and no client's."""

REASONS = "not ready"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at one role; `values` is None where it did not answer. Values of one metric are added up over labels
    but for `kind` and `result`, which stand behind the name."""

    at_seconds: float
    role: str
    values: Mapping[str, float] | None
    reasons: tuple[str, ...] = ()


def _is_away(look: Look) -> bool:
    return look.role == "worker" and look.values is None


def _misses_brokers(look: Look) -> bool:
    return "kafka_away" in look.reasons


def _misses_store(look: Look) -> bool:
    return look.role == "sink" and "store_away" in look.reasons


def _has_rejected(look: Look) -> bool:
    return look.role == "worker" and (look.values or {}).get("agrajag_document_faults:rejected", 0) > 0


SIGNS: dict[Fault, tuple[str, Callable[[Look], bool]]] = {
    Fault.WORKER_KILLED: ("worker does not answer (up == 0)", _is_away),
    Fault.KAFKA_RESTARTED: ("a role not ready: kafka_away", _misses_brokers),
    Fault.RULES_BROKEN: ('worker: agrajag_document_faults{kind="rejected"} > 0', _has_rejected),
    Fault.STORE_STOPPED: ("sink not ready: store_away", _misses_store),
}


def seen_at(span: Span, looks: Sequence[Look]) -> float | None:
    """When the sign of the fault was seen first, in seconds after its beginning; None if it never was."""
    _, is_sign = SIGNS[span.fault]
    times = [
        look.at_seconds
        for look in looks
        if span.begins_seconds <= look.at_seconds <= span.ends_seconds + _LATE_SECONDS and is_sign(look)
    ]
    return min(times) - span.begins_seconds if times else None


def signs_left(looks: Sequence[Look]) -> Iterator[str]:
    """A line for each sign that the last look at a role still shows."""
    for look in {look.role: look for look in looks}.values():
        for fault, (told, is_sign) in SIGNS.items():
            if is_sign(look):
                yield f"{fault}: still to be seen at the end: {told}"


@dataclass
class Watch:
    """Everything that was seen, with the memory of each role and server at the same times."""

    settings: Settings
    servers: Mapping[str, Callable[[], int | None]]
    began: float = 0.0
    looks: list[Look] = field(default_factory=list)
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    async def until_ready(self, timeout_seconds: float) -> None:
        """Returns once every role is ready. Raises TimeoutError if they are not in time."""
        async with asyncio.timeout(timeout_seconds), httpx.AsyncClient(timeout=5.0) as client:
            looks = [Look(0.0, role, None) for role in ROLES]
            while any(look.values is None or look.reasons for look in looks):
                await asyncio.sleep(_EVERY_SECONDS)
                looks = await asyncio.gather(*(self._look(client, role) for role in ROLES))

    async def run(self) -> None:
        """Never returns."""
        self.began = time.monotonic()
        async with httpx.AsyncClient(timeout=5.0) as client:
            while True:
                await self.look(client)
                await asyncio.sleep(_EVERY_SECONDS)

    async def look(self, client: httpx.AsyncClient) -> None:
        """Look at every role once."""
        self.looks += await asyncio.gather(*(self._look(client, role) for role in ROLES))
        pids: dict[str, int | None] = dict(role_pids(os.getpid()))
        pids |= {name: pid_of() for name, pid_of in self.servers.items()}
        for name, pid in pids.items():
            if pid is None:
                continue
            try:
                sample = Sample(self._now(), pid, rss_bytes(pid))
            except (OSError, ValueError):
                continue
            self.samples.setdefault(name, []).append(sample)

    async def _look(self, client: httpx.AsyncClient, role: str) -> Look:
        port = getattr(self.settings.monitor, f"{role}_port")
        try:
            told = await client.get(f"http://127.0.0.1:{port}/metrics")
            ready = await client.get(f"http://127.0.0.1:{port}/readyz")
        except httpx.TransportError:
            return Look(self._now(), role, None)
        return Look(self._now(), role, values_of(told.text), tuple(ready.json()["reasons"]))

    def _now(self) -> float:
        return time.monotonic() - self.began


def values_of(text: str) -> dict[str, float]:
    """The metrics of one answer, by name, with `kind` or `result` behind it; other labels are added up."""
    values: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            label = sample.labels.get("kind") or sample.labels.get("result")
            name = f"{sample.name}:{label}" if label else sample.name
            values[name] = values.get(name, 0.0) + sample.value
    return values

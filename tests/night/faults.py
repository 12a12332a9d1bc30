"""Does what goes wrong in a night, and undoes it."""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.night.memory import role_pids
from tests.night.plan import Fault

TENANT = "acme"

_RULES = """patterns:
  - id: night-quota
    match:
      bodyContains: ["night quota"]
    before: fallback
    signature: night-quota
    classification: INTERMITTENT
    cooldown: PT10M
"""
_BROKEN = "patterns: [\n"


@dataclass(frozen=True)
class Faults:
    """The parts that faults happen to; `rules` is the tenant's file in the documents directory of the roles."""

    kafka: EmbeddedKafka
    store: EmbeddedStore
    rules: Path

    def prepare(self) -> None:
        """Write the rules as they should be."""
        self.rules.parent.mkdir(parents=True, exist_ok=True)
        self.rules.write_text(_RULES)

    async def begin(self, fault: Fault) -> None:
        """Returns once it has happened."""
        match fault:
            case Fault.WORKER_KILLED:
                os.kill(role_pids(os.getpid())["worker"], signal.SIGKILL)
            case Fault.KAFKA_RESTARTED:
                await asyncio.to_thread(self.kafka.restart)
            case Fault.RULES_BROKEN:
                self.rules.write_text(_BROKEN)
            case Fault.STORE_STOPPED:
                await asyncio.to_thread(self.store.stop)

    async def undo(self, fault: Fault) -> None:
        """Returns once all is as before; what is over by itself needs nothing."""
        match fault:
            case Fault.RULES_BROKEN:
                self.rules.write_text(_RULES)
            case Fault.STORE_STOPPED:
                await asyncio.to_thread(self.store.start)
            case Fault.WORKER_KILLED | Fault.KAFKA_RESTARTED:
                pass

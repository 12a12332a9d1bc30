"""Decides when a system session becomes active and when it is suspended (spec agrajag §7).

There is one for each tenant, project and service, whose id is derived from these: whoever has a job for it takes it,
and a worker that finds it taken by another lets go without a word. `seq` is the time in ms, or one more than the
highest that was heard of: it grows over restarts, and over workers whose clocks differ.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from agrajag.core.jobs import derived_id
from agrajag.model.enums import SessionStatus
from agrajag.model.processes import SessionEvent
from agrajag.model.wire_model import MAX_ID


class SessionKey(NamedTuple):
    """Whose session it is."""

    tenant_id: str
    project_id: str | None
    service_name: str

    @property
    def session_id(self) -> str:
        """The same in every worker and after every restart."""
        return derived_id("sess", *self)


@dataclass(frozen=True, slots=True)
class _Held:
    """An active session of this worker: which processes use it, and since when none does."""

    key: SessionKey
    seq: int
    users: frozenset[str]
    idle_since: datetime


class Sessions:
    """The sessions of one worker."""

    def __init__(self, worker_id: str, idle_after: timedelta) -> None:
        self._worker_id = worker_id
        self._idle_after = idle_after
        self._held: dict[str, _Held] = {}
        self._heard: dict[str, int] = {}

    def take(self, key: SessionKey, process_id: str, now: datetime) -> SessionEvent | None:
        """Use the session until `release`. What there is to write first: it was not active here."""
        session_id = key.session_id
        held = self._held.get(session_id)
        if held is not None:
            self._held[session_id] = replace(held, users=held.users | {process_id})
            return None
        event = self._event(key, SessionStatus.ACTIVE, now)
        self._held[session_id] = _Held(key, event.seq, frozenset({process_id}), idle_since=now)
        return event

    def release(self, session_id: str, process_id: str, now: datetime) -> None:
        """A process uses it no more. Of a session that this worker does not hold nothing happens."""
        held = self._held.get(session_id)
        if held is not None:
            self._held[session_id] = replace(held, users=held.users - {process_id}, idle_since=now)

    def lose(self, session_id: str) -> None:
        """What was to be written was not, or another has it: the next run takes it again."""
        self._held.pop(session_id, None)

    def suspended(self, now: datetime) -> list[SessionEvent]:
        """Let go of what has been idle for long enough; what there is to write about it."""
        return self._let_go(lambda held: now - held.idle_since >= self._idle_after, now)

    def ended(self, now: datetime) -> list[SessionEvent]:
        """Let go of all that nothing uses, since the worker ends."""
        return self._let_go(lambda _: True, now)

    def hear(self, event: SessionEvent) -> None:
        """What the topic tells of any worker's sessions."""
        session_id = event.session_id
        self._heard[session_id] = max(event.seq, self._heard.get(session_id, 0))
        held = self._held.get(session_id)
        if held is not None and event.worker_id != self._worker_id and event.seq > held.seq:
            self.lose(session_id)

    def _let_go(self, due: Callable[[_Held], bool], now: datetime) -> list[SessionEvent]:
        idle = [held for held in self._held.values() if not held.users and due(held)]
        for held in idle:
            self.lose(held.key.session_id)
        return [self._event(held.key, SessionStatus.SUSPENDED, now) for held in idle]

    def _event(self, key: SessionKey, status: SessionStatus, now: datetime) -> SessionEvent:
        session_id = key.session_id
        seq = max(int(now.timestamp() * 1000), self._heard.get(session_id, 0) + 1)
        self._heard[session_id] = seq
        return SessionEvent(
            session_id=session_id,
            seq=seq,
            tenant_id=key.tenant_id,
            project_id=key.project_id,
            service_name=key.service_name,
            display_name=f"_{key.service_name}"[:MAX_ID],
            status=status,
            worker_id=self._worker_id,
            at=now,
        )

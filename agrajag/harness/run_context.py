"""Holds who a run is, until when it may go on, and what it has used; asks budgets.py what that allows.

One context is one run: it is passed explicitly to everything that acts for the run, and refuses a second one. It
belongs to the event loop that runs it, `cancel` included.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal

from agrajag.harness.budgets import Budgets, Round, Spent, before_tool, enough, interruption, next_round
from agrajag.harness.stops import StopKind, Stopped, StopReason
from agrajag.harness.usage import Prices, Usage, cost_usd


class RunContext:
    """A bounded run. `deadline` is in the event loop's time; ids are the caller's and stand in every record."""

    def __init__(self, run_id: str, session_id: str, budgets: Budgets, deadline: float) -> None:
        self.run_id = run_id
        self.session_id = session_id
        self.budgets = budgets
        self.deadline = deadline
        self.spent = Spent()
        self.usage = Usage()
        self.cost_usd: Decimal | None = None
        self.answer_clamped = False
        self._cancelled = False
        self._begun = False
        self._claimed: set[str] = set()
        self._cut: asyncio.Timeout | None = None

    @property
    def begun(self) -> bool:
        """Whether a run has used this context; then no other can."""
        return self._begun

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The run itself: what is awaited inside is cut at once at the deadline and by `cancel`, as Stopped."""
        if self._begun:
            raise RuntimeError(f"run {self.run_id}: its context was used before")
        self._begun = True
        cut = self._cut = asyncio.timeout_at(self.deadline)
        try:
            async with cut:
                yield
        except TimeoutError:
            if not cut.expired():
                raise
        finally:
            self._cut = None
        # A tool that swallows the cut must not turn a run that was stopped into one that went well.
        if cut.expired():
            raise Stopped(StopReason.CANCELLED if self._cancelled else StopReason.DEADLINE_EXCEEDED)

    def cancel(self) -> None:
        """End the run: what is under way is cut at once, nothing more begins. Once more changes nothing."""
        self._cancelled = True
        if self._cut is not None and not self._cut.expired():
            self._cut.reschedule(asyncio.get_running_loop().time())

    def require_stop(self, reason: StopReason) -> None:
        """Make the next round the final one. The first reason stays; it must be one of the LIMITED ones."""
        if reason.kind is not StopKind.LIMITED:
            raise ValueError(f"{reason} is no reason to require a stop")
        if self.spent.stop_required is None:
            self.spent = replace(self.spent, stop_required=reason)

    def before_model_call(self, max_tokens: int) -> Round:
        """Count a round and say how it is to be asked for. Raises Stopped where there is none any more."""
        self._not_interrupted()
        allowed = next_round(self.budgets, self.spent, max_tokens)
        if isinstance(allowed, StopReason):
            raise Stopped(allowed)
        self.spent = replace(self.spent, model_calls=self.spent.model_calls + 1, final=allowed.final)
        self.answer_clamped = allowed.clamped
        return allowed

    def after_model_call(self, usage: Usage, prices: Prices | None) -> None:
        """Add what the round has used."""
        self.usage = self.usage.plus(usage)
        self.spent = replace(self.spent, tokens=self.spent.tokens + usage.total)
        if prices is not None:
            self.cost_usd = (self.cost_usd or Decimal(0)) + cost_usd(usage, prices)

    def claim(self, call_id: str) -> bool:
        """Whether this is the first time that a call of this id comes; it is the only one that may run."""
        if call_id in self._claimed:
            return False
        self._claimed.add(call_id)
        return True

    def before_tool(self) -> bool:
        """Whether tools may still be called. Raises Stopped where no round could read what a tool says."""
        self._not_interrupted()
        stop = before_tool(self.budgets, self.spent)
        if stop is not None:
            raise Stopped(stop)
        return enough(self.budgets, self.spent) is None

    def count_tool_call(self) -> None:
        """A tool is about to be called."""
        self.spent = replace(self.spent, tool_calls=self.spent.tool_calls + 1)

    def count_observation(self, size_bytes: int) -> bool:
        """Whether an observation of this size fits; it is counted, and one that does not fit ends the collecting."""
        total = self.spent.observation_bytes + size_bytes
        fits = total <= self.budgets.observation_bytes
        self.spent = replace(self.spent, observation_bytes=total if fits else self.budgets.observation_bytes)
        return fits

    def count_text(self, size_bytes: int) -> None:
        """Add an accepted input or answer. Raises Stopped where it does not fit."""
        total = self.spent.text_bytes + size_bytes
        if total > self.budgets.text_bytes:
            raise Stopped(StopReason.BYTES_EXHAUSTED)
        self.spent = replace(self.spent, text_bytes=total)

    def _not_interrupted(self) -> None:
        stop = interruption(self._cancelled, asyncio.get_running_loop().time(), self.deadline)
        if stop is not None:
            raise Stopped(stop)

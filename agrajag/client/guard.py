"""Asks, before a call is made, whether it should be; and says at once what a failed one means.

It reads memory and waits for nobody, on whatever thread it is asked.
"""

import time
import uuid
from collections.abc import Callable
from datetime import timedelta

from agrajag.client.call import Call
from agrajag.client.half_open import HalfOpen
from agrajag.client.successes import KnownHealth
from agrajag.clock import Clock, utc_now
from agrajag.core.admission import (
    NOTHING_KNOWN,
    Admission,
    Decision,
    GuardPolicy,
    Refusal,
    admission,
    held_back,
    is_long_quiet,
    lately_ended,
)
from agrajag.core.annotate import annotation
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.precheck import precheck
from agrajag.metrics import GUARD_CALLS, GUARD_CHECKS, GUARD_REFUSALS
from agrajag.model.answers import CheckResult
from agrajag.model.events import ToolCallError

_COUNT = {decision: GUARD_CALLS.labels(decision) for decision in Decision}
_COUNT_NOTHING_KNOWN = _COUNT[NOTHING_KNOWN.decision]
_COUNT_REFUSED = {refusal: GUARD_REFUSALS.labels(refusal) for refusal in Refusal}
_ANNOTATES_ONLY = GuardPolicy()


class Guard:
    """For any number of threads. `effective` gives the rules and the policy in force for a tenant and project.

    `own` is what this caller does not want to call; by default everything is allowed, and annotated where something is
    known. Somebody who refuses says how calls end by `ended`: for one who does not, a tool whose refusal has ended is
    tried every half minute only, until its documents say that it works, for an hour at most.
    """

    def __init__(
        self,
        health: KnownHealth,
        effective: Callable[[str, str | None], tuple[RuleSet, Policy]],
        own: GuardPolicy = _ANNOTATES_ONLY,
        half_open: HalfOpen | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._health = health
        self._effective = effective
        self._own = own
        self._half_open = half_open or HalfOpen()
        self._clock = clock

    @property
    def own(self) -> GuardPolicy:
        """What this caller does not want to call."""
        return self._own

    def ask(self, call: Call, own: GuardPolicy | None = None) -> Admission:
        """Whether to make this call, in microseconds; `own` instead of the guard's own policy.

        A call that is allowed and `half_open` is the one try of this process after a refusal.
        """
        admitted = self._asked(call, own or self._own)
        if admitted is NOTHING_KNOWN:  # nearly always: it is not looked up what to count
            _COUNT_NOTHING_KNOWN.inc()
            return admitted
        _COUNT[admitted.decision].inc()
        if admitted.refusal is not None:
            _COUNT_REFUSED[admitted.refusal].inc()
        return admitted

    def annotation(self, call: Call) -> str | None:
        """What a model is told of the tool before it calls, whatever the policy; None where nothing is wrong."""
        documents = self._health.documents_of(call.caller, call.tool_name)
        if not documents:
            return None
        _, policy = self._effective(call.tenant_id, call.project_id)
        return annotation(documents, self._clock(), policy)

    def ended(self, call: Call, *, worked: bool) -> None:
        """Says how a call that was allowed has ended, so that others need not wait for a try of it."""
        self._half_open.ended((call.caller, call.tool_name), worked, time.monotonic())

    def check(self, event: ToolCallError) -> CheckResult:
        """What this error means, by the rules and documents that are known here: what the worker will say of it too, if
        it is reported. Nothing is claimed and nothing written."""
        documents = self._health.documents_of(Caller.of(event), event.tool_name)
        rules, policy = self._effective(event.tenant_id, event.project_id)
        event_id = event.event_id or f"check-{uuid.uuid4().hex}"
        result = precheck(event, event_id, documents, rules, policy, self._clock())
        GUARD_CHECKS.labels(result.outcome, result.classification).inc()
        return result

    def _asked(self, call: Call, own: GuardPolicy) -> Admission:
        caller = call.caller
        documents = self._health.documents_of(caller, call.tool_name)
        if not documents:
            return NOTHING_KNOWN
        now = self._clock()
        _, policy = self._effective(call.tenant_id, call.project_id)
        if is_long_quiet(documents, now, policy):
            return NOTHING_KNOWN
        admitted = admission(documents, caller, now, policy, own)
        if own.is_idle or not admitted.is_allowed:
            return admitted
        ended = lately_ended(documents, caller, now, policy, own)
        if not ended:
            return admitted
        entered = self._half_open.enter(ended, (caller, call.tool_name), time.monotonic())
        if entered.wait_seconds is not None:
            return held_back(admitted, now + timedelta(seconds=entered.wait_seconds))
        return admitted._replace(half_open=True) if entered.is_try else admitted

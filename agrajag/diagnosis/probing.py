"""Carries out probes: whether a tool may be probed, as whom, with what; and what came of it.

A probe that is not made has a reason and says nothing about the tool; one that is made has an outcome, whatever the
tool does. Nothing is sent before everything that could refuse it has been asked.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import structlog

from agrajag.clock import Clock
from agrajag.core.exceptions import class_names, is_no_answer
from agrajag.core.match import RuleSet
from agrajag.core.targets import CredentialRef, McpCall, Target, TargetKind
from agrajag.diagnosis.adapter import RawOutcome, Secret, TargetAdapter, failed
from agrajag.diagnosis.credentials import CredentialStore
from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal, ProbeRequest
from agrajag.diagnosis.reading import as_error, shown, signature_of
from agrajag.diagnosis.samples import chosen_sample
from agrajag.diagnosis.targets import Targets
from agrajag.metrics import PROBE_REFUSALS, PROBE_SECONDS, PROBES, ProbeEnd
from agrajag.model.enums import ProbeIdentity
from agrajag.model.processes import SYSTEM_OWNER

log = structlog.get_logger(__name__)

MIN_SECONDS = 0.5
"""With less time than this a probe would only show that it had none."""

RulesInForce: TypeAlias = Callable[[str, str | None], RuleSet]
"""The rules of a tenant and project at this moment."""

_LAST_WORDS_SECONDS = 0.1
"""How much sooner than the deadline an adapter has to end by itself: it knows what it has seen until then."""
_MIN_CALL_SECONDS = 0.3
_GOOD = range(200, 300)
_TIMEOUT = "java.net.SocketTimeoutException"


class Probes:
    """A `Prober`. `adapters` are those of this worker; a kind without one has no target."""

    def __init__(
        self,
        targets: Targets,
        rules: RulesInForce,
        credentials: CredentialStore,
        adapters: Mapping[TargetKind, TargetAdapter],
        now: Clock,
    ) -> None:
        self._targets = targets
        self._rules = rules
        self._credentials = credentials
        self._adapters = adapters
        self._now = now

    async def probe(self, request: ProbeRequest, seconds: float) -> ProbeOutcome | ProbeRefusal:
        """One probe, as `Prober` asks. Refused as LIMIT_REACHED where `seconds` are too few to show anything."""
        found = await self._made(request, seconds)
        if isinstance(found, ProbeRefusal):
            PROBE_REFUSALS.labels(found).inc()
            log.info(
                "probe_refused",
                probe_id=request.probe_id,
                tenant_id=request.tenant_id,
                tool_name=request.tool_name,
                identity=request.identity,
                reason=found,
            )
        return found

    async def _made(self, request: ProbeRequest, seconds: float) -> ProbeOutcome | ProbeRefusal:
        if seconds < MIN_SECONDS:
            return ProbeRefusal.LIMIT_REACHED
        user_id = request.user_id if request.identity is ProbeIdentity.USER else None
        if request.identity is ProbeIdentity.USER and user_id in (None, SYSTEM_OWNER):
            return ProbeRefusal.NO_USER
        target = self._targets.find(request.tenant_id, request.project_id, request.tool_name)
        if isinstance(target, ProbeRefusal):
            return target
        adapter = self._adapters.get(target.kind)
        if adapter is None:
            return ProbeRefusal.NO_TARGET
        sample = chosen_sample(target, request.sample_input)
        if isinstance(sample, ProbeRefusal):
            return sample
        ref = target.credentials.of(request.identity)
        deadline = asyncio.get_running_loop().time() + seconds
        secret = None
        if ref is not None:
            secret = await self._found(ref, request.tenant_id, user_id, deadline)
            if secret is None:
                return ProbeRefusal.CREDENTIAL_MISSING
        return await self._called(_Call(request, target, adapter, secret, sample), deadline)

    async def _found(
        self, ref: CredentialRef, tenant_id: str, user_id: str | None, deadline: float
    ) -> Secret | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._credentials.find(ref, tenant_id, user_id)
        except TimeoutError:
            log.warning("credential_not_found_in_time", tenant_id=tenant_id, store=ref.store)
            return None

    async def _called(self, call: "_Call", deadline: float) -> ProbeOutcome | ProbeRefusal:
        request, clock, at = call.request, asyncio.get_running_loop().time, self._now()
        started = clock()
        left = deadline - started - _LAST_WORDS_SECONDS
        if left < _MIN_CALL_SECONDS:
            return ProbeRefusal.LIMIT_REACHED  # finding the credential has taken the time
        try:
            async with asyncio.timeout_at(deadline):
                raw = await call.adapter.call(call.target, call.secret, call.sample, request, left)
        except TimeoutError as late:
            raw = failed(late)
        if isinstance(raw, ProbeRefusal):
            return raw
        spent = clock() - started
        error = as_error(request, call.target, raw, call.secret)
        PROBES.labels(call.target.kind, request.identity, _end(raw)).inc()
        PROBE_SECONDS.labels(call.target.kind).observe(spent)
        rules = self._rules(request.tenant_id, request.project_id)
        return ProbeOutcome(
            identity=request.identity,
            had_credentials=call.secret is not None or raw.used_credentials,
            success=raw.ok,
            duration_ms=round(spent * 1000),
            status_code=error.error.http_status,
            error_signature=None if raw.ok else signature_of(error, rules),
            raw_response=shown(error),
            at=at,  # its beginning: what anybody has seen since is newer
            own_sample=call.sample is not call.target.sample_input,
            takes_credentials=call.target.credentials.any or raw.used_credentials,
            unanswered=_is_unanswered(call.target, raw),
        )


class _Call(NamedTuple):
    """Everything about a probe that nothing refuses."""

    request: ProbeRequest
    target: Target
    adapter: TargetAdapter
    secret: Secret | None
    sample: Mapping[str, Any]


def _is_unanswered(target: Target, raw: RawOutcome) -> bool:
    """Whether no whole answer came, and none that sent the caller elsewhere or away before.

    A program that is started and says nothing may want a credential; it is no server that is away.
    """
    if isinstance(target.call, McpCall) and target.call.command:
        return False
    return not raw.ok and raw.status in (None, *_GOOD) and is_no_answer(_names(raw))


def _names(raw: RawOutcome) -> tuple[str, ...]:
    return tuple(filter(None, (raw.exception_type, *raw.exception_chain)))


def _end(raw: RawOutcome) -> ProbeEnd:
    if raw.ok:
        return ProbeEnd.WORKED
    names = class_names(_names(raw))
    return ProbeEnd.TIMED_OUT if _TIMEOUT in names else ProbeEnd.FAILED

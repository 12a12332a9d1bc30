"""Keeps the probes of one run: which may still be made, which were, and what they showed.

Evidence is taken down here, from what the prober says, whoever asked for the probe; nothing that a model says gets in.
A probe counts once it was sent. What was refused says nothing about the tool and costs none.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import structlog

from agrajag.core.jobs import derived_id
from agrajag.diagnosis.probe import ProbeOutcome, Prober, ProbeRefusal, ProbeRequest
from agrajag.metrics import PROBE_REFUSALS
from agrajag.model.enums import ProbeIdentity
from agrajag.model.jobs import DiagnosisJob, Evidence

log = structlog.get_logger(__name__)

_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class ProbeBounds:
    """How many probes a run may make, how long each may take, and until when (in the loop's time) any may."""

    most: int
    seconds: float
    deadline: float


class ProbeBook:
    """The probes of one run."""

    def __init__(self, job: DiagnosisJob, process_id: str, prober: Prober, bounds: ProbeBounds) -> None:
        self._job = job
        self._process_id = process_id
        self._prober = prober
        self._bounds = bounds
        self._asked: set[tuple[ProbeIdentity, bytes]] = set()
        self._own_samples_count = True
        self._under_way = 0
        self.outcomes: list[ProbeOutcome] = []
        self.refusals: dict[ProbeIdentity, ProbeRefusal] = {}

    @property
    def is_full(self) -> bool:
        """Whether no further probe may be made, for want of probes or of time."""
        return len(self.outcomes) + self._under_way >= self._bounds.most or self._seconds() <= 0

    async def probe(
        self,
        call_id: str,
        identity: ProbeIdentity,
        sample: Mapping[str, Any] | None = None,
        *,
        again: bool = False,
    ) -> ProbeOutcome | ProbeRefusal:
        """One probe, or why it was not made. `again` lets one be repeated that was made before.

        A prober that fails us is a refusal as well: what was found out until then, a model's answer too, would
        otherwise be thrown away and paid for again.
        """
        if self.is_full:
            return _refused(ProbeRefusal.LIMIT_REACHED)
        if not self._own_samples_count:
            sample = None
        key = (identity, b"" if sample is None else orjson.dumps(sample, option=orjson.OPT_SORT_KEYS))
        if key in self._asked and not again:
            return _refused(ProbeRefusal.IDENTICAL)
        self._asked.add(key)
        self._under_way += 1
        try:
            found = await self._in_time(self._request(call_id, identity, sample))
        finally:
            self._under_way -= 1
        if not isinstance(found, ProbeRefusal):
            self.outcomes.append(found)
            if sample is not None and not found.own_sample:
                self._own_samples_count = False  # the operator's was used; so it will be the next time
                self._asked.add((identity, b""))
        elif sample is None or found is not ProbeRefusal.SAMPLE_REFUSED:
            self.refusals[identity] = found  # a bad sample of a model's says nothing about the operator's
        return found

    @property
    def with_operators_sample(self) -> list[ProbeOutcome]:
        """The outcomes of those that were made with the operator's sample."""
        return [outcome for outcome in self.outcomes if not outcome.own_sample]

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What all probes showed, in their order."""
        return tuple(map(_evidence, self.outcomes))

    async def _in_time(self, request: ProbeRequest) -> ProbeOutcome | ProbeRefusal:
        seconds = self._seconds()
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                return await self._prober.probe(request, seconds)
        except TimeoutError:
            log.error("prober_stuck", probe_id=request.probe_id, seconds=seconds)
            return _refused(ProbeRefusal.PROBER_STUCK)

    def _seconds(self) -> float:
        return min(self._bounds.seconds, self._bounds.deadline - asyncio.get_running_loop().time())

    def _request(
        self, call_id: str, identity: ProbeIdentity, sample: Mapping[str, Any] | None
    ) -> ProbeRequest:
        job = self._job
        return ProbeRequest(
            probe_id=derived_id("probe", self._process_id, call_id),
            tenant_id=job.tenant_id,
            project_id=job.project_id,
            tool_name=job.tool_name,
            identity=identity,
            user_id=job.originating_user_id if identity is ProbeIdentity.USER else None,
            sample_input=sample,
        )


def _refused(reason: ProbeRefusal) -> ProbeRefusal:
    PROBE_REFUSALS.labels(reason).inc()
    return reason


def _evidence(outcome: ProbeOutcome) -> Evidence:
    return Evidence(
        identity=outcome.identity,
        had_credentials=outcome.had_credentials,
        takes_credentials=outcome.takes_credentials,
        success=outcome.success,
        status_code=outcome.status_code,
        unanswered=outcome.unanswered,
        error_signature=outcome.error_signature,
        duration_ms=outcome.duration_ms,
        at=outcome.at,
    )

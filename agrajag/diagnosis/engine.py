"""AgrajagEngine: what is wrong with a tool, for whom, and for how long (spec agrajag §5).

A model looks, by probes, and answers; where there is none, or it does not answer, the rules do, with the same probes
and under the same bounds. Either way the answer comes with the evidence, and what becomes of it is decided by that.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import structlog

from agrajag.diagnosis.model_run import ModelBounds, ask, model_budgets
from agrajag.diagnosis.probe import Prober
from agrajag.diagnosis.probe_book import ProbeBook, ProbeBounds
from agrajag.diagnosis.probe_tools import PROBE_AS_SYSTEM, PROBE_AS_USER, probe_tools
from agrajag.diagnosis.proof import TO_BE_PROVEN, is_carried, uncarried
from agrajag.diagnosis.rule_run import answer_by_rules, probe_further
from agrajag.diagnosis.snapshot import Snapshot, taken
from agrajag.documents.recipes import Recipe
from agrajag.harness import Model, NoModel, RunContext, StopReason, Tool
from agrajag.harness.usage import LARGEST
from agrajag.metrics import DIAGNOSES, DIAGNOSES_WITHOUT_MODEL, DIAGNOSIS_FALLBACKS, VERDICTS_UNCARRIED
from agrajag.model.enums import Diagnostician, ServiceFailure, Trigger
from agrajag.model.jobs import SERVICE_TYPE, Diagnosis, DiagnosisJob, DiagnosisResult, Evidence, ServiceJob
from agrajag.model.keys import tool_key
from agrajag.model.processes import RunUsage
from agrajag.model.wire_model import MAX_NOTE
from agrajag.service.engine import Role, ServiceRun
from agrajag.service.health_reading import HealthReading
from agrajag.service.params import max_iterations, max_probes
from agrajag.service.tools import ToolRegistry, ToolSpec
from agrajag.wire.topics import Topic

log = structlog.get_logger(__name__)

ROLES = frozenset({Role.TOOL_PROBER, Role.TOOL_HEALTH_WRITER, Role.TOOL_HEALTH_READER})
MODEL_TOOLS = frozenset({PROBE_AS_USER, PROBE_AS_SYSTEM, "tool_health_read"})
"""All that a model of this engine is ever shown, whatever a recipe lists (spec agrajag §5.2a)."""
PROBE_GRACE_SECONDS = 2.0
_SECONDS_TO_ANSWER = 1.0


Unasked: TypeAlias = NoModel | StopReason | Literal[ServiceFailure.OVER_BUDGET]
"""Why no model has answered."""


class ModelChoice(Protocol):
    """Says which model answers for a tenant and project."""

    def choose(self, recipe: Recipe, tenant_id: str, project_id: str | None) -> Model | NoModel:
        """The model, or why there is none. Sends nothing."""


@dataclass(frozen=True, slots=True)
class EngineBounds:
    """`probe_seconds`: how long one probe may take. `rules_seconds`: what of a run's time is kept for the rules, should
    the model need all of the rest."""

    probe_seconds: float = 10.0
    rules_seconds: float = 15.0
    model: ModelBounds = field(default_factory=ModelBounds)


class Answer(NamedTuple):
    """What a run has found out, and who did."""

    diagnosis: Diagnosis
    by: Diagnostician
    is_fallback: bool = False


class AgrajagEngine:
    """The engine. `tools` are those of the registry beside the probes, of which the reader of health is one."""

    def __init__(
        self,
        models: ModelChoice,
        prober: Prober,
        health: HealthReading,
        tools: Sequence[ToolSpec],
        bounds: EngineBounds | None = None,
    ) -> None:
        self._models = models
        self._prober = prober
        self._health = health
        self._tools = tuple(tools)
        self._bounds = bounds or EngineBounds()
        self._has_told: set[NoModel] = set()

    name = SERVICE_TYPE
    roles = ROLES
    input_model: type[ServiceJob] = DiagnosisJob
    output_model = DiagnosisResult
    output_topic = Topic.DIAGNOSIS_RESULTS
    closes_itself = False

    def output_key(self, output: DiagnosisResult) -> str:
        """`tenant|tool`: all answers about a tool are applied in one place."""
        return tool_key(output.tenant_id, output.tool_name)

    def output_id(self, output: DiagnosisResult) -> str:
        """The process: each attempt answers once."""
        return output.process_id

    async def run(self, job: DiagnosisJob, run: ServiceRun) -> DiagnosisResult:
        """The answer to a job. What is only told for the record is answered by nothing (spec agrajag §9).

        Raises TransientError or PermanentError where a probe of the rules cannot be put on record.
        """
        if job.trigger is Trigger.SYSTEM_EVENT:
            run.used(_usage(job, run))
            return self.failed(job, run, ServiceFailure.NOT_POSSIBLE)
        diagnosing = _Diagnosing(job, run, taken(job, self._health, run.clock()), self._book(job, run))
        try:
            answer = await self._answered(diagnosing)
        finally:
            run.used(diagnosing.usage())
        DIAGNOSES.labels(answer.by, answer.diagnosis.classification).inc()
        return _result(
            job,
            run,
            diagnosis=answer.diagnosis,
            answered_by=answer.by,
            is_fallback=answer.is_fallback,
            evidence=diagnosing.book.evidence,
        )

    def failed(self, job: DiagnosisJob, run: ServiceRun, why: ServiceFailure) -> DiagnosisResult:
        """The honest answer to a job that ended without one."""
        return _result(job, run, failure=why)

    def _book(self, job: DiagnosisJob, run: ServiceRun) -> ProbeBook:
        until = run.deadline - _SECONDS_TO_ANSWER
        bounds = ProbeBounds(max_probes(run.recipe.params), self._bounds.probe_seconds, until)
        return ProbeBook(job, run.process_id, self._prober, bounds)

    async def _answered(self, diagnosing: "_Diagnosing") -> Answer:
        by_model = await self._by_model(diagnosing)
        diagnosing.made_by_model = len(diagnosing.book.outcomes)
        if isinstance(by_model, Answer):
            return await self._proven(by_model, diagnosing)
        DIAGNOSES_WITHOUT_MODEL.labels(by_model).inc()
        found = await answer_by_rules(diagnosing.snapshot, diagnosing.book, diagnosing.run)
        if not isinstance(by_model, NoModel):
            note = f"{found.human_note} No model has answered: {by_model}."
            found = found.with_changes(human_note=note[:MAX_NOTE])
        return Answer(found, Diagnostician.RULES)

    async def _proven(self, answer: Answer, diagnosing: "_Diagnosing") -> Answer:
        """The model's answer as far as probes carry it; those that it has left out are made."""
        classification = answer.diagnosis.classification
        if classification not in TO_BE_PROVEN:
            return answer
        await probe_further(diagnosing.snapshot, diagnosing.book, diagnosing.run)
        if is_carried(classification, diagnosing.book.outcomes, diagnosing.job):
            return answer
        VERDICTS_UNCARRIED.labels(classification).inc()
        return answer._replace(diagnosis=uncarried(answer.diagnosis))

    async def _by_model(self, diagnosing: "_Diagnosing") -> Answer | Unasked:
        """The model's answer, or in one word why it has none."""
        run, job = diagnosing.run, diagnosing.job
        if run.over_budget is not None:
            return ServiceFailure.OVER_BUDGET
        model = self._models.choose(run.recipe, job.tenant_id, job.project_id)
        if isinstance(model, NoModel):
            self._tell(model)
            return model
        deadline = run.deadline - self._bounds.rules_seconds
        if deadline <= asyncio.get_running_loop().time():
            return StopReason.DEADLINE_EXCEEDED
        budgets = model_budgets(
            self._bounds.model, max_iterations(run.recipe.params), max_probes(run.recipe.params)
        )
        context = RunContext(run.process_id, run.session_id, budgets, deadline)
        diagnosing.asked = (model, context)
        said = await ask(
            model,
            context,
            diagnosing.snapshot,
            self._shown_tools(diagnosing, context),
            run,
            self._bounds.model.reply_tokens,
        )
        if said.diagnosis is None:
            return said.stop
        if said.is_fallback:
            DIAGNOSIS_FALLBACKS.inc()
        return Answer(said.diagnosis, Diagnostician.MODEL, said.is_fallback)

    def _shown_tools(self, diagnosing: "_Diagnosing", context: RunContext) -> list[Tool]:
        """The tools that the model of this run sees: by the recipe and the roles, and never one that writes."""

        def when_full() -> None:
            context.require_stop(StopReason.TOOL_CALLS_EXHAUSTED)

        seconds = self._bounds.probe_seconds + PROBE_GRACE_SECONDS
        probes = probe_tools(diagnosing.job, diagnosing.book, when_full, seconds)
        run = diagnosing.run
        toolbox = ToolRegistry([*probes, *self._tools]).toolbox(self.roles, run.recipe)
        return [tool for tool in toolbox.harness_tools(diagnosing.job, run) if tool.name in MODEL_TOOLS]

    def _tell(self, why: NoModel) -> None:
        """Say once that there is no model: this is no error, but somebody may wonder."""
        if why not in self._has_told:
            self._has_told.add(why)
            log.info("diagnosis_without_model", reason=why, answered_by=Diagnostician.RULES)


@dataclass(slots=True)
class _Diagnosing:
    """One run under way: what it knows, what it has probed, and which model it has asked."""

    job: DiagnosisJob
    run: ServiceRun
    snapshot: Snapshot
    book: ProbeBook
    asked: tuple[Model, RunContext] | None = None
    made_by_model: int = 0
    """How many probes there were when it had ended."""

    def usage(self) -> RunUsage:
        """What the run has used so far."""
        if self.asked is None:
            return _usage(self.job, self.run, tool_calls=len(self.book.outcomes))
        model, context = self.asked
        made_by_rules = len(self.book.outcomes) - self.made_by_model
        return _usage(
            self.job,
            self.run,
            model=model.access.name,
            model_calls=context.spent.model_calls,
            tokens=min(context.spent.tokens, LARGEST),
            tool_calls=context.spent.tool_calls + made_by_rules,
            cost_micro_usd=_micro_usd(context.cost_usd),
            usage_complete=context.usage.complete,
        )


def _usage(job: DiagnosisJob, run: ServiceRun, **used: Any) -> RunUsage:
    return RunUsage(
        process_id=run.process_id,
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        project_id=job.project_id,
        service_name=SERVICE_TYPE,
        at=run.clock(),
        **used,
    )


def _micro_usd(cost_usd: Decimal | None) -> int | None:
    if cost_usd is None:
        return None
    return min(int((cost_usd * 1_000_000).to_integral_value(ROUND_UP)), LARGEST)


def _result(
    job: DiagnosisJob,
    run: ServiceRun,
    *,
    diagnosis: Diagnosis | None = None,
    answered_by: Diagnostician | None = None,
    is_fallback: bool = False,
    evidence: tuple[Evidence, ...] = (),
    failure: ServiceFailure | None = None,
) -> DiagnosisResult:
    return DiagnosisResult(
        job_id=job.job_id,
        process_id=run.process_id,
        session_id=run.session_id,
        tenant_id=job.tenant_id,
        project_id=job.project_id,
        scope=job.scope,
        scope_id=job.scope_id,
        tool_name=job.tool_name,
        error_signature=job.error_signature,
        originating_user_id=job.originating_user_id,
        trigger=job.trigger,
        by=f"agrajag-engine/{run.process_id}",
        answered_by=answered_by,
        diagnosis=diagnosis,
        is_fallback=is_fallback,
        failure=failure,
        locale=job.locale,
        signals=job.error_count,
        distinct_users=job.distinct_users,
        evidence=evidence,
        started_at=run.started_at,
        finished_at=run.clock(),
        otel=job.otel,
    )

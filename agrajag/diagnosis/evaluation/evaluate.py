"""Runs all scenarios with all engines, many side by side: seconds, and as long as the slowest tool takes to hang."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from agrajag.diagnosis.evaluation.decent import decent
from agrajag.diagnosis.evaluation.hostile import HOSTILE
from agrajag.diagnosis.evaluation.model_server import Policy, model_server
from agrajag.diagnosis.evaluation.report import worst_of
from agrajag.diagnosis.evaluation.running import EvaluationBounds, Ran, ScenarioRunner
from agrajag.diagnosis.evaluation.scenario import Scenario
from agrajag.documents.recipes import Recipe
from agrajag.harness import Model, ModelAccess, NoModel, Prices, connect

SIDE_BY_SIDE = 6
_KEY = "scripted-key"


class EngineName(StrEnum):
    """What answers. The value is its name in the report."""

    RULE_BASED = "ruleBased"
    SCRIPTED_MODEL = "scriptedModel"
    HOSTILE_MODEL = "hostileModel"
    REAL_MODEL = "realModel"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run. `real` is the model to measure, None: there is none. `prices` are those of the scripted ones."""

    scenarios: Sequence[Scenario]
    engines: Sequence[EngineName]
    recipe: Recipe
    real: ModelAccess | None = None
    prices: Prices | None = None
    bounds: EvaluationBounds = field(default_factory=EvaluationBounds)


@dataclass(frozen=True, slots=True)
class _One:
    """The choice of whoever has one model, or none."""

    model: Model | NoModel

    def choose(self, recipe: Recipe, tenant_id: str, project_id: str | None) -> Model | NoModel:
        """Always the same."""
        return self.model


async def evaluate(plan: Plan) -> Mapping[EngineName, Sequence[Ran]]:
    """What came of each scenario with each engine. Raises nothing for what they do."""
    room = asyncio.Semaphore(SIDE_BY_SIDE)
    found: dict[EngineName, Sequence[Ran]] = {}
    for engine in plan.engines:
        async with _models(engine, plan) as models:
            runners = [ScenarioRunner(_One(model), plan.recipe, plan.bounds) for model in models]
            found[engine] = await asyncio.gather(
                *(_run(scenario, runners, room) for scenario in plan.scenarios)
            )
    return found


async def _run(scenario: Scenario, runners: Iterable[ScenarioRunner], room: asyncio.Semaphore) -> Ran:
    async def one(runner: ScenarioRunner) -> Ran:
        async with room:
            return await runner.run(scenario)

    return worst_of(await asyncio.gather(*map(one, runners)))


@asynccontextmanager
async def _models(engine: EngineName, plan: Plan) -> AsyncIterator[Sequence[Model | NoModel]]:
    """What an engine asks; of several each scenario meets every one."""
    async with AsyncExitStack() as open_models:
        if engine is EngineName.RULE_BASED:
            yield [NoModel.NO_KEY]
        elif engine is EngineName.REAL_MODEL:
            yield [await _connected(open_models, plan.real)]
        else:
            policies = [decent] if engine is EngineName.SCRIPTED_MODEL else list(HOSTILE.values())
            yield [await _scripted(open_models, policy, plan.prices) for policy in policies]


async def _scripted(open_models: AsyncExitStack, policy: Policy, prices: Prices | None) -> Model | NoModel:
    server = await open_models.enter_async_context(model_server(policy))
    return await _connected(open_models, ModelAccess("scripted", server.url, _KEY, prices))


async def _connected(open_models: AsyncExitStack, access: ModelAccess | None) -> Model | NoModel:
    model = connect(access) if access is not None else NoModel.NO_KEY
    return await open_models.enter_async_context(model) if isinstance(model, Model) else model

"""The evaluation: which scenarios and engines are run, and with which model."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from agrajag.bootstrap.diagnosis import declared_models
from agrajag.bootstrap.extras import extra
from agrajag.errors import ConfigError
from agrajag.settings import Settings

if TYPE_CHECKING:
    from agrajag.diagnosis.evaluation.report import EngineReport
    from agrajag.diagnosis.evaluation.scenario import Scenario


async def run_evaluation(
    settings: Settings, engines: Collection[str], only: Collection[str]
) -> "Mapping[str, EngineReport]":
    """What came of the scenarios with each engine; of all that there are where none is named.

    The real model is that of the settings, where they have a key. Raises ConfigError for an engine or a scenario that
    does not exist, and for the real model without a key.
    """
    with extra("diagnosis"):
        from agrajag.diagnosis.evaluation.evaluate import EngineName, Plan, evaluate
        from agrajag.diagnosis.evaluation.reading import bundled_scenarios
        from agrajag.diagnosis.evaluation.report import reported
    from agrajag.documents.recipe_book import bundled_recipe
    from agrajag.model.jobs import SERVICE_TYPE

    recipe = bundled_recipe(SERVICE_TYPE)
    if recipe is None:
        raise ConfigError(f"recipe {SERVICE_TYPE}: is not bundled")
    real = declared_models(settings).by_name[settings.model.name]
    has_key = bool((real.api_key or "").strip())
    usual = [name for name in EngineName if has_key or name is not EngineName.REAL_MODEL]
    chosen = [EngineName(_known(name, list(EngineName), "engine")) for name in engines] or usual
    if EngineName.REAL_MODEL in chosen and not has_key:
        raise ConfigError("engine realModel: AGRAJAG_MODEL_API_KEY is not set")
    scenarios = _chosen(bundled_scenarios(), only)
    plan = Plan(scenarios, list(dict.fromkeys(chosen)), recipe, real=real, prices=real.prices)
    return {engine.value: reported(rans) for engine, rans in (await evaluate(plan)).items()}


def _chosen(scenarios: "Sequence[Scenario]", only: Collection[str]) -> "Sequence[Scenario]":
    if not only:
        return scenarios
    by_id = {scenario.id: scenario for scenario in scenarios}
    return [by_id[_known(name, by_id, "scenario")] for name in dict.fromkeys(only)]


def _known(name: str, names: Collection[str], kind: str) -> str:
    if name in names:
        return name
    near = ", ".join(difflib.get_close_matches(name, names, n=3) or sorted(names)[:5])
    raise ConfigError(f"{kind} {name!r}: there is none; there are {near}")

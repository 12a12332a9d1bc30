"""Runs of the engine with probes that answer by a script, and with a scripted model or none."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agrajag.diagnosis.engine import AgrajagEngine, EngineBounds
from agrajag.diagnosis.probe import ProbeOutcome, Prober, ProbeRefusal, ProbeRequest
from agrajag.documents.recipe_book import bundled_recipe
from agrajag.documents.recipes import Recipe
from agrajag.harness import Model, NoModel, Prices
from agrajag.model.enums import ProbeIdentity, Scope
from agrajag.model.health import ToolHealth
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.model.processes import RunUsage
from agrajag.service.engine import ServiceRun
from agrajag.service.health_tools import read_tool
from agrajag.service.tools import ToolSpec
from tests.builders import NOW, a_job
from tests.diagnosis.cases import SYSTEM, USER, works
from tests.harness.runs import Recorded, connected
from tests.harness.scripted_model import ScriptedModel

Answer = ProbeOutcome | ProbeRefusal | Exception | None
"""What a probe brings; None: nothing, until it is cut."""


@dataclass
class ScriptedProbes:
    """Answers as each identity with the given values in turn; the last one stays."""

    answers: Mapping[ProbeIdentity, Sequence[Answer]] = field(
        default_factory=lambda: {USER: [works(USER)], SYSTEM: [works(SYSTEM)]}
    )
    takes_samples: bool = True
    """Whether the operator lets a model's own input count."""
    requests: list[ProbeRequest] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    async def probe(self, request: ProbeRequest, seconds: float) -> ProbeOutcome | ProbeRefusal:
        earlier = sum(1 for known in self.requests if known.identity is request.identity)
        self.requests.append(request)
        self.seconds.append(seconds)
        answers = self.answers[request.identity]
        answer = answers[min(earlier, len(answers) - 1)]
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        if isinstance(answer, ProbeRefusal):
            return answer
        return replace(answer, own_sample=self.takes_samples and request.sample_input is not None)

    @property
    def identities(self) -> list[ProbeIdentity]:
        return [request.identity for request in self.requests]


@dataclass
class OneDocument:
    """The health documents of a moment in which there is one, or none."""

    health: ToolHealth | None = None
    asked: list[Mapping[str, str | None]] = field(default_factory=list)

    def nearest(self, tenant_id: str, tool_name: str, **caller: str | None) -> ToolHealth | None:
        self.asked.append({"tenant_id": tenant_id, "tool_name": tool_name, **caller})
        return self.health

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        return self.health


@dataclass(frozen=True)
class TheModel:
    """Chooses this model for everybody."""

    model: Model | NoModel

    def choose(self, recipe: Recipe, tenant_id: str, project_id: str | None) -> Model | NoModel:
        return self.model


@dataclass
class Ran:
    """What a run came to, and what it left behind."""

    result: DiagnosisResult
    used: list[RunUsage]
    audit: Recorded
    probes: ScriptedProbes

    @property
    def classification(self) -> Any:
        assert self.result.diagnosis is not None
        return self.result.diagnosis.classification


def a_recipe(**params: Any) -> Recipe:
    """The bundled recipe with other params."""
    recipe = bundled_recipe("agrajag")
    assert recipe is not None
    return replace(recipe, params={**recipe.params, **params})


def a_run(seconds: float = 60.0, **changes: Any) -> ServiceRun:
    """An attempt that has so much time; call it in a running loop."""
    given: dict[str, Any] = {
        "process_id": "proc-1",
        "session_id": "sess-1",
        "attempt": 1,
        "recipe": a_recipe(),
        "started_at": NOW,
        "deadline": asyncio.get_running_loop().time() + seconds,
        "identity": "alice",
        "over_budget": None,
        "audit": Recorded(),
        "used": [].append,
        "clock": lambda: NOW,
    }
    return ServiceRun(**(given | changes))


def an_engine(
    probes: Prober,
    model: Model | NoModel = NoModel.NO_KEY,
    health: ToolHealth | None = None,
    bounds: EngineBounds | None = None,
    tools: Sequence[ToolSpec] = (),
) -> AgrajagEngine:
    """The engine over these parts; it can read health besides."""
    reading = OneDocument(health)
    return AgrajagEngine(TheModel(model), probes, reading, [read_tool(reading), *tools], bounds)


async def diagnosed(
    probes: ScriptedProbes | None = None,
    server: ScriptedModel | None = None,
    *,
    job: DiagnosisJob | None = None,
    health: ToolHealth | None = None,
    bounds: EngineBounds | None = None,
    tools: Sequence[ToolSpec] = (),
    prices: Prices | None = None,
    **run: Any,
) -> Ran:
    """One job answered, by the model of this server or, without one, by the rules."""
    probes = probes or ScriptedProbes()
    used: list[RunUsage] = []
    audit = Recorded()
    async with contextlib.AsyncExitStack() as open_models:
        model: Model | NoModel = NoModel.NO_KEY
        if server is not None:
            model = await open_models.enter_async_context(connected(server.url, prices=prices))
        engine = an_engine(probes, model, health, bounds, tools)
        attempts: dict[str, Any] = {"audit": audit, "used": used.append}
        attempt = a_run(**(attempts | run))
        result = await engine.run(job or a_job(), attempt)
    return Ran(result, used, audit, probes)

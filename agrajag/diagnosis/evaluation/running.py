"""Runs one scenario with one engine: its tool as a server, the real probes, the real engine, the real guards.

Nothing is skipped in silence: what goes wrong around a scenario, and not in it, is told with it.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import structlog

from agrajag.clock import utc_now
from agrajag.core.apply import Applied, apply
from agrajag.core.drafts import Drafts
from agrajag.core.inbox import is_open
from agrajag.core.jobs import derived_id
from agrajag.core.targets import TargetKind
from agrajag.core.verdicts import Arrival
from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.credentials import CredentialStore, FileVault
from agrajag.diagnosis.engine import AgrajagEngine, EngineBounds, ModelChoice
from agrajag.diagnosis.evaluation.case import POLICY, Case, case_of, filled, script_of
from agrajag.diagnosis.evaluation.documents import CaseDocuments
from agrajag.diagnosis.evaluation.judging import Aftermath, Judgement, judged
from agrajag.diagnosis.evaluation.mcp_tool import McpTool
from agrajag.diagnosis.evaluation.scenario import TENANT, USER, Scenario, ToolPart
from agrajag.diagnosis.evaluation.tool import ClosedPort, Credentials, HttpTool, RunningTool
from agrajag.diagnosis.http_target import HttpAdapter
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.network import Network
from agrajag.diagnosis.probing import Probes
from agrajag.diagnosis.targets import Targets
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.recipes import Recipe
from agrajag.documents.rule_files import bundled_rules
from agrajag.documents.target_book import TargetBook
from agrajag.errors import ConfigError
from agrajag.harness import Outcome, ToolCall
from agrajag.model.jobs import DiagnosisResult
from agrajag.model.processes import RunUsage
from agrajag.service.engine import ServiceRun
from agrajag.service.health_tools import read_tool

log = structlog.get_logger(__name__)

_ORIGIN = "evaluation-0"
_CREDENTIAL_NAME = "tool"


@dataclass(frozen=True, slots=True)
class EvaluationBounds:
    """How long things may take, in seconds.

    Where a tool is meant to hang, a probe takes all of `hang_seconds`. The others have `probe_seconds`, far more than
    they need: a machine that is busy must not make a tool look slow.
    """

    hang_seconds: float = 1.5
    probe_seconds: float = 20.0
    run_seconds: float = 120.0

    def probe(self, scenario: Scenario) -> float:
        """How long one probe of a scenario may take."""
        hangs = scenario.server is not None and scenario.server.hangs
        return self.hang_seconds if hangs else self.probe_seconds


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of one scenario with one engine. Without a judgement it was skipped, and `why` says for what reason."""

    scenario: Scenario
    judgement: Judgement | None
    verdict: str = ""
    note: str = ""
    why: str = ""
    probes: int = 0
    rounds: int = 0
    tokens: int = 0
    cost_micro_usd: int = 0


@dataclass(slots=True)
class _Books:
    """What a run uses. Its tool calls are recorded nowhere."""

    usages: list[RunUsage] = field(default_factory=list)

    async def started(self, call: ToolCall) -> None:
        """Nothing is kept of it."""

    async def ended(self, call: ToolCall, outcome: Outcome) -> None:
        """Nothing is kept of it."""


class ScenarioRunner:
    """Runs scenarios with the models of `models`, by `recipe`."""

    def __init__(self, models: ModelChoice, recipe: Recipe, bounds: EvaluationBounds) -> None:
        self._models = models
        self._recipe = recipe
        self._bounds = bounds
        self._network = Network(AddressRules(private_addresses=True))  # the tools are on loopback

    async def run(self, scenario: Scenario) -> Ran:
        """One run. What goes wrong around it makes it a skipped one."""
        try:
            async with asyncio.timeout(self._bounds.run_seconds + self._bounds.probe_seconds):
                return await self._run(scenario)
        except Exception as error:  # whatever it is: a scenario that was not run must be told as such
            log.warning("scenario_skipped", scenario_id=scenario.id, error=repr(error))
            return Ran(scenario, None, why=f"{type(error).__name__}: {error}")

    async def _run(self, scenario: Scenario) -> Ran:
        case = case_of(scenario, utc_now())
        books = _Books()
        with tempfile.TemporaryDirectory(prefix="agrajag-eval-") as directory:
            async with _served(case) as (tool, credentials):
                _write_credentials(scenario, credentials, Path(directory))
                engine = self._engine(case, tool, Path(directory))
                result = await engine.run(case.job, self._service_run(case, books))
        applied, aftermath = _applied(case, result)
        used = books.usages[-1] if books.usages else None
        return Ran(
            scenario,
            judged(case, aftermath),
            verdict=applied.verdict or "",
            note=" ".join(filter(None, (applied.human_note, applied.reason))),
            probes=len(result.evidence),
            rounds=used.model_calls if used else 0,
            tokens=used.tokens if used else 0,
            cost_micro_usd=(used.cost_micro_usd or 0) if used else 0,
        )

    def _engine(self, case: Case, tool: RunningTool | None, directory: Path) -> AgrajagEngine:
        declared = _declared(case, tool)
        probes = Probes(
            Targets(lambda: declared),
            lambda _tenant, _project: bundled_rules(),
            CredentialStore(directory=directory / "shared", vault=FileVault(directory / "vault")),
            {
                TargetKind.HTTP: HttpAdapter(self._network),
                TargetKind.MCP: McpAdapter(self._network),
            },
            utc_now,
        )
        bounds = EngineBounds(
            probe_seconds=self._bounds.probe(case.scenario), rules_seconds=self._bounds.run_seconds / 2
        )
        documents = CaseDocuments(case)
        return AgrajagEngine(self._models, probes, documents, [read_tool(documents)], bounds)

    def _service_run(self, case: Case, books: _Books) -> ServiceRun:
        job = case.job
        return ServiceRun(
            process_id=derived_id("proc", job.job_id, "1"),
            session_id=derived_id("sess", job.tenant_id, job.project_id, job.service_type),
            attempt=1,
            recipe=self._recipe,
            started_at=utc_now(),
            deadline=asyncio.get_running_loop().time() + self._bounds.run_seconds,
            identity=job.originating_user_id,
            over_budget=None,
            audit=books,
            used=books.usages.append,
            clock=utc_now,
        )


@asynccontextmanager
async def _served(case: Case) -> AsyncIterator[tuple[RunningTool | None, Credentials]]:
    """The scenario's tool, if it has a server, and by what it knows its callers."""
    scenario = case.scenario
    credentials = Credentials(
        user=derived_id("token", scenario.id, "user"), system=derived_id("token", scenario.id, "system")
    )
    script = script_of(scenario, case.at)
    if script is None:
        yield None, credentials
        return
    async with _server(script, scenario.job.tool, credentials) as tool:
        yield tool, credentials


def _server(
    script: ToolPart, tool_name: str, credentials: Credentials
) -> AbstractAsyncContextManager[RunningTool]:
    if not script.listens:
        return ClosedPort()
    if script.kind == "mcp":
        return McpTool(script, tool_name, credentials).serve()
    return HttpTool(script, credentials).serve()


def _write_credentials(scenario: Scenario, credentials: Credentials, directory: Path) -> None:
    there = scenario.credentials
    paths: Sequence[tuple[bool, Path, str]] = (
        (there.user, directory / "vault" / TENANT / (scenario.job.user or USER), credentials.user),
        (there.system, directory / "shared" / TENANT, credentials.system),
    )
    for exists, folder, secret in paths:
        folder.mkdir(parents=True)
        if exists:
            (folder / _CREDENTIAL_NAME).write_text(secret)
            (folder / _CREDENTIAL_NAME).chmod(0o600)


def _declared(case: Case, tool: RunningTool | None) -> TargetBook:
    """How the tool is declared, if it is. Raises ConfigError where the declaration is none."""
    if case.scenario.target is None:
        return TargetBook(Cascade({}))
    address = tool.address if tool is not None else ""
    names = {"address": address, "url": f"http://{address}", "tool": case.job.tool_name}
    declared = {"tools": {case.job.tool_name: filled(case.scenario.target, case.at, **names)}}
    book = TargetBook(Cascade({DocumentName(TENANT, None, TOOLS_PATH): orjson.dumps(declared).decode()}))
    if book.problems:
        raise ConfigError(*map(str, book.problems))
    return book


def _applied(case: Case, result: DiagnosisResult) -> tuple[Applied, Aftermath]:
    """What the guards let through, on the table as Layer 1 had left it."""
    now = utc_now()
    drafts = Drafts(case.entries.get)
    arrival = Arrival(result, result.process_id, _ORIGIN, 0, now, int(now.timestamp() * 1000))
    applied = apply(arrival, drafts, bundled_rules(), POLICY, now)
    if not isinstance(applied, Applied):
        raise TypeError("the result was applied before")
    entries = {draft.key: draft.frozen() for draft in list(drafts.touched())}
    inbox = tuple(item for entry in entries.values() for item in entry.inbox if is_open(item))
    return applied, Aftermath(applied.verdict, entries, inbox)

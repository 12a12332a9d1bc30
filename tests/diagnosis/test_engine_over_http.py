"""The engine with real probes by HTTP: what a tool really does becomes evidence, and no credential becomes anything."""

import asyncio
import json
from pathlib import Path
from typing import Any

from agrajag.documents.cascade import Cascade
from agrajag.model.enums import Classification, Scope
from agrajag.model.jobs import DiagnosisResult
from tests.builders import a_job
from tests.diagnosis.cases import SYSTEM, USER
from tests.diagnosis.engine_runs import a_run, an_engine
from tests.diagnosis.probe_cases import a_cascade, probes, tools_text
from tests.diagnosis.tool_servers import Asked, Behaviour, ToolServer, answers
from tests.harness.replies import calls, text, use
from tests.harness.runs import connected
from tests.harness.scripted_model import ScriptedModel

ALICES = "alices-t0ken-0123456789abcdef"
SHARED = "shared-t0ken-0123456789abcdef"


def credentials(directory: Path) -> Path:
    """A folder with Alice's credential and the tenant's."""
    for path, secret in (("vault/acme/alice/search", ALICES), ("files/acme/search", SHARED)):
        file = directory / path
        file.parent.mkdir(parents=True)
        file.write_text(secret)
        file.chmod(0o600)
    return directory


def search(server: ToolServer, **fields: Any) -> Cascade:
    declared: dict[str, Any] = {
        "safety": "SAFE_PROBE",
        "sampleInput": {"q": "ping"},
        "http": {"url": server.url("/search")},
        "credentials": {"user": {"vault": "search"}, "system": {"file": "search"}},
    }
    return a_cascade(tools_text(search=declared | fields))


def for_alice(hers: Behaviour, others: Behaviour) -> Behaviour:
    """Answers Alice in one way, and everybody else in the other."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        is_alice = asked.headers.get("authorization") == f"Bearer {ALICES}"
        await (hers if is_alice else others)(asked, writer)

    return behave


def assert_no_secret(*texts: str) -> None:
    for told in texts:
        assert ALICES not in told
        assert SHARED not in told


async def by_rules(server: ToolServer, directory: Path, **job: Any) -> DiagnosisResult:
    engine = an_engine(probes(search(server), directory=credentials(directory)))
    return await engine.run(a_job(**job), a_run())


async def test_an_expired_token_is_its_users_own(tmp_path: Path) -> None:
    expired = answers(401, json.dumps({"error": "token_expired", "given": ALICES}).encode())
    async with ToolServer(for_alice(expired, answers(200, b"[]"))) as server:
        result = await by_rules(server, tmp_path, error_signature="http-401", locale="de")
    assert result.diagnosis is not None
    assert result.diagnosis.classification is Classification.USER_SPECIFIC_TECHNICAL
    assert result.diagnosis.scope is Scope.USER
    assert "abgelaufen" in (result.diagnosis.user_action_hint or "")
    assert [(one.identity, one.had_credentials, one.status_code) for one in result.evidence] == [
        (USER, True, 401),
        (SYSTEM, True, 200),
    ]
    assert_no_secret(result.to_json().decode())


async def test_a_dead_backend_is_broken_for_all_and_asked_twice_only(tmp_path: Path) -> None:
    async with ToolServer(answers(503, b"no upstream")) as server:
        result = await by_rules(server, tmp_path)
    assert result.diagnosis is not None
    assert result.diagnosis.classification is Classification.TECHNICALLY_BROKEN
    assert len(server.asked) == 2


async def test_a_model_never_gets_to_see_the_credential_that_a_tool_repeats(tmp_path: Path) -> None:
    hers = answers(500, f"crashed on {ALICES}".encode())
    others = answers(500, f"crashed on {SHARED}".encode())
    script = [
        calls(use("u", "tool_probe_as_user", toolName="search")),
        calls(use("s", "tool_probe_as_system", toolName="search")),
        text('{"classification": "TECHNICALLY_BROKEN", "humanNote": "It crashes."}'),
    ]
    async with (
        ToolServer(for_alice(hers, others)) as server,
        ScriptedModel(script) as model_server,
        connected(model_server.url) as model,
    ):
        engine = an_engine(probes(search(server), directory=credentials(tmp_path)), model)
        result = await engine.run(a_job(), a_run())
    assert result.diagnosis is not None
    assert result.diagnosis.classification is Classification.TECHNICALLY_BROKEN
    told = json.dumps([request.body for request in model_server.requests])
    assert told.count("crashed on [redacted]") == 3  # the last request repeats what was seen before
    assert_no_secret(told, result.to_json().decode())


async def test_a_models_own_input_counts_where_its_schema_allows_it_and_proves_nothing(
    tmp_path: Path,
) -> None:
    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await answers(200 if "ping" in asked.path else 500, b"{}")(asked, writer)

    schema = {"type": "object", "properties": {"q": {"type": "string", "maxLength": 20}}}
    script = [
        calls(use("s", "tool_probe_as_system", toolName="search", sampleInput={"q": "crash me"})),
        text('{"classification": "TECHNICALLY_BROKEN", "humanNote": "It crashes."}'),
    ]
    async with (
        ToolServer(behave) as server,
        ScriptedModel(script) as model_server,
        connected(model_server.url) as model,
    ):
        declared = search(server, modelInput=schema)
        engine = an_engine(probes(declared, directory=credentials(tmp_path)), model)
        result = await engine.run(a_job(), a_run())
    assert [one.success for one in result.evidence] == [False, True, True]
    assert result.diagnosis is not None
    assert result.diagnosis.classification is Classification.UNCLEAR

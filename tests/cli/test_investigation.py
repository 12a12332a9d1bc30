"""`python -m agrajag.investigation`: a question in, a result as JSON out, and an exit code that says which kind."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agrajag.bootstrap import run_investigation
from agrajag.embedded import EmbeddedStore
from agrajag.errors import ConfigError, InputError
from agrajag.investigation.records import InvocationRecord
from agrajag.settings import load_settings
from agrajag.store import Store
from tests.harness.replies import Hang, Reply, calls, text, use
from tests.harness.scripted_model import KEY, ScriptedModel

QUESTION = "order-service 为什么返回 503？"
DRAFT = {
    "conclusion": {"summary": "连接池耗尽。", "root_cause": None},
    "analysis": [
        {"type": "OBSERVATION", "statement": "连接池耗尽。", "tool_call_ids": ["c-1"], "scope": None}
    ],
    "action_plan": [],
    "recommendations": [],
    "limitations": {"missing_info": [], "checked_scope": []},
}


def variables(server: ScriptedModel, **others: object) -> dict[str, str]:
    named = {f"AGRAJAG_INVESTIGATION_{name.upper()}": str(value) for name, value in others.items()}
    return {"AGRAJAG_MODEL_BASE_URL": server.url, "AGRAJAG_MODEL_API_KEY": KEY, **named}


def lookup(call_id: str) -> Any:
    return use(call_id, "lookup_knowledge", input={"query": "503"})


@pytest.fixture
def runbooks(tmp_path: Path) -> Path:
    (tmp_path / "order-service.md").write_text("# order-service\n\n连接池耗尽时返回 503。\n", "utf-8")
    return tmp_path


class Ended(NamedTuple):
    exit_code: int
    shown: dict[str, Any]
    told: str


@asynccontextmanager
async def started(
    server: ScriptedModel, arguments: Sequence[str], **others: object
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agrajag.investigation", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables(server, **others)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def end_of(process: asyncio.subprocess.Process, given: bytes = b"") -> Ended:
    out, told = await process.communicate(given)
    assert process.returncode is not None
    return Ended(process.returncode, json.loads(out or b"{}"), told.decode())


async def test_a_draft_is_shown_with_what_was_checked_and_ends_with_0(runbooks: Path) -> None:
    script: list[Reply] = [calls(lookup("c-1")), text(json.dumps(DRAFT))]
    async with (
        ScriptedModel(script) as server,
        started(server, [QUESTION, "--session", "s-1", "--run", "r-1"], runbooks_dir=runbooks) as process,
    ):
        ended = await end_of(process)
    assert ended.exit_code == 0, ended.told
    assert ended.shown["stop_reason"] == "COMPLETED"
    assert ended.shown["draft"]["conclusion"]["summary"] == "连接池耗尽。"
    [record] = ended.shown["records"]
    assert (record["session_id"], record["run_id"], record["state"]) == ("s-1", "r-1", "READY")
    assert json.loads(server.requests[0].body["messages"][0]["content"])["query"] == QUESTION


async def test_the_first_signal_is_a_controlled_stop() -> None:
    async with ScriptedModel([Hang()]) as server, started(server, [QUESTION]) as process:
        async with asyncio.timeout(60):
            await server.reached.wait()
        process.send_signal(signal.SIGINT)
        ended = await end_of(process)
    assert (ended.exit_code, ended.shown["stop_reason"]) == (4, "CANCELLED"), ended.told


async def test_a_question_that_cannot_be_used_ends_with_2_and_asks_nobody() -> None:
    async with ScriptedModel([]) as server, started(server, []) as process:
        ended = await end_of(process, b'{"query": "SECRET", "history": []}')
    assert (ended.exit_code, ended.shown) == (2, {})
    assert "a field is missing, unknown or of a wrong type" in ended.told
    assert "SECRET" not in ended.told
    assert server.requests == []


def asked(query: str = QUESTION) -> bytes:
    return json.dumps({"query": query, "previous_turn": None}).encode()


async def test_an_answer_that_is_no_draft_is_told_by_its_code_and_by_what_was_checked(runbooks: Path) -> None:
    async with ScriptedModel([calls(lookup("c-1")), text("Es ist der Pool.")]) as server:
        settings = load_settings(variables(server, runbooks_dir=runbooks))
        ended = await run_investigation(settings, asked(), "s-1", "r-1")
    assert ended.exit_code == 1
    assert ended.shown["code"] == "NOT_ONE_OBJECT"
    assert [check["tool_call_id"] for check in ended.shown["snapshot"]["checks"]] == ["c-1"]
    assert "Pool" not in str(ended)


async def test_a_source_that_is_not_set_up_says_so_to_the_model() -> None:
    window = {"since": "2026-11-03T14:00:00Z", "until": "2026-11-03T15:00:00Z"}
    script: list[Reply] = [
        calls(lookup("c-1")),
        calls(use("c-2", "query_logs", input=window)),
        calls(use("c-3", "query_mysql", input={"sql": "SELECT 1"})),
        text("{}"),
    ]
    async with ScriptedModel(script) as server:
        ended = await run_investigation(load_settings(variables(server)), asked(), "s-1", "r-1")
        told = [request.results[0] for request in server.requests[1:]]
    assert {result["code"] for result in told} == {"SOURCE_NOT_SET_UP"}
    assert ended.shown["snapshot"] is None
    assert [record["state"] for record in ended.shown["records"]] == ["FAILED"] * 3


async def test_the_tables_that_may_be_read_are_told_to_the_model(tmp_path: Path) -> None:
    tables = tmp_path / "tables.yaml"
    tables.write_text("orders: [id, status]\n")
    async with ScriptedModel([text("{}")]) as server:
        reader = {"mysql_host": "127.0.0.1", "mysql_user": "reader"}
        mysql = {**reader, "mysql_database": "shop", "mysql_tables_file": tables}
        await run_investigation(load_settings(variables(server, **mysql)), asked(), "s-1", "r-1")
        [told] = [tool for tool in server.requests[0].body["tools"] if tool["name"] == "query_mysql"]
    assert "orders（id、status）" in told["description"]


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"runbooks_dir": "/nowhere"}, "AGRAJAG_INVESTIGATION_RUNBOOKS_DIR: /nowhere is no folder"),
        ({"tool_attempts": 20}, "investigation model_calls: 10 < tool_attempts + 2 = 22"),
        ({"mysql_host": "db"}, "AGRAJAG_INVESTIGATION_MYSQL_TABLES_FILE: must be set where a MySQL host is"),
    ],
)
async def test_what_is_set_up_wrongly_stops_it_before_anybody_is_asked(
    setting: dict[str, object], problem: str
) -> None:
    async with ScriptedModel([]) as server:
        with pytest.raises(ConfigError, match=problem.replace("+", r"\+")):
            await run_investigation(load_settings(variables(server, **setting)), asked(), "s-1", "r-1")
    assert server.requests == []


async def test_a_file_of_authorities_without_one_stops_it_before_anybody_is_asked(tmp_path: Path) -> None:
    tables, authorities = tmp_path / "tables.yaml", tmp_path / "ca.pem"
    tables.write_text("orders: [id]\n")
    authorities.write_text("no certificate\n")
    reader = {"mysql_host": "127.0.0.1", "mysql_user": "reader", "mysql_database": "shop"}
    async with ScriptedModel([]) as server:
        wrong = variables(server, **reader, mysql_tables_file=tables, mysql_ca_file=authorities)
        with pytest.raises(ConfigError, match="AGRAJAG_INVESTIGATION_MYSQL_CA_FILE"):
            await run_investigation(load_settings(wrong), asked(), "s-1", "r-1")
    assert server.requests == []


async def test_without_a_key_there_is_no_model_to_ask() -> None:
    with pytest.raises(ConfigError, match="AGRAJAG_MODEL_API_KEY is not set"):
        await run_investigation(load_settings({}), asked(), "s-1", "r-1")


async def test_a_blank_question_is_refused() -> None:
    async with ScriptedModel([]) as server:
        with pytest.raises(InputError, match="blank"):
            await run_investigation(load_settings(variables(server)), asked("  \n"), "s-1", "r-1")
    assert server.requests == []


async def test_with_the_store_as_ledger_every_call_is_on_record_there(
    runbooks: Path, store: EmbeddedStore, database_name: str
) -> None:
    script: list[Reply] = [calls(lookup("c-1")), text(json.dumps(DRAFT))]
    async with ScriptedModel(script) as server:
        settings = load_settings(
            {
                **variables(server, runbooks_dir=runbooks, ledger="mongo"),
                "AGRAJAG_MONGO_URI": store.uri,
                "AGRAJAG_MONGO_DATABASE": database_name,
            }
        )
        ended = await run_investigation(settings, asked(), "s-1", "r-1")
    assert ended.exit_code == 0
    async with await Store.open(store.uri, database_name) as opened:
        [record] = await opened.invocations.of_run("r-1", InvocationRecord)
    assert (record.tool_call_id, record.state) == ("c-1", "READY")

"""The investigation: which sources its tools ask, where its calls are on record, and which model it runs on."""

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from agrajag.bootstrap.diagnosis import declared_models
from agrajag.bootstrap.extras import extra
from agrajag.errors import ConfigError
from agrajag.setting_investigation import InvestigationSettings
from agrajag.settings import Settings

if TYPE_CHECKING:
    from agrajag.harness import Model, RunContext
    from agrajag.investigation.gate import Sources
    from agrajag.investigation.investigator import Investigator
    from agrajag.investigation.ledger import InvocationLedger
    from agrajag.investigation.logs import LogFields, LokiAccess
    from agrajag.investigation.mysql import MysqlAccess, SqlTables
    from agrajag.investigation.question import Question
    from agrajag.investigation.result import DiagnosisExecutionResult

_DRAFT, _FAILED, _STOPPED = 0, 1, 4
_MYSQL_TABLES = "AGRAJAG_INVESTIGATION_MYSQL_TABLES_FILE"
_MYSQL_AUTHORITIES = "AGRAJAG_INVESTIGATION_MYSQL_CA_FILE"


class Investigated(NamedTuple):
    """How an investigation ended: 0 with a draft, 4 by a controlled stop, 1 with a failure; and what is shown of it."""

    exit_code: int
    shown: dict[str, Any]


async def run_investigation(settings: Settings, asked: bytes, session_id: str, run_id: str) -> Investigated:
    """One investigation; cancelling it is a controlled stop. `asked` is a question as JSON.

    Raises InputError for a question that cannot be used, ConfigError for settings that cannot be.
    """
    with extra("investigation"):
        from agrajag.investigation.failures import DiagnosisAgentError, DiagnosisAgentOutputError
        from agrajag.investigation.question import read_question

    question = read_question(asked)
    async with AsyncExitStack() as ends:
        investigator, ledger = await _investigator(settings, ends)
        context = investigator.run_context(session_id, run_id)
        shown: dict[str, Any]
        try:
            result = await _uncut(investigator, question, context)
        except DiagnosisAgentOutputError as error:
            snapshot = None if error.snapshot is None else error.snapshot.model_dump(mode="json")
            exit_code, shown = _FAILED, {"code": error.code, "snapshot": snapshot}
        except DiagnosisAgentError as error:
            exit_code, shown = _FAILED, {"code": error.code}
        else:
            exit_code = _STOPPED if result.draft is None else _DRAFT
            shown = result.model_dump(mode="json")
        records = [record.model_dump(mode="json") for record in await ledger.of_run(run_id)]
        return Investigated(
            exit_code, {**shown, "usage_complete": context.usage.complete, "records": records}
        )


async def _uncut(
    investigator: "Investigator", question: "Question", context: "RunContext"
) -> "DiagnosisExecutionResult":
    """The investigation; a cancel from outside becomes that of its context, so that it ends with a result."""
    running = asyncio.ensure_future(investigator.investigate(question.query, question.previous_turn, context))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        context.cancel()
        return await running


async def _investigator(settings: Settings, ends: AsyncExitStack) -> "tuple[Investigator, InvocationLedger]":
    from agrajag.investigation.investigator import Investigator
    from agrajag.investigation.limits import Limits
    from agrajag.investigation.tool_texts import TOOL_TEXTS, texts_with

    own = settings.investigation
    limits = Limits(**own.model_dump(include={field.name for field in fields(Limits)}))
    model = await ends.enter_async_context(_model(settings))
    tables = _tables(own)
    sources = await _sources(own, tables, ends)
    ledger = await _ledger(settings, ends)
    texts = TOOL_TEXTS if tables is None else texts_with(tables.columns)
    return (
        Investigator(
            model, sources, ledger, limits, tool_texts=texts, structured_output=own.structured_output
        ),
        ledger,
    )


def _model(settings: Settings) -> "Model":
    from agrajag.harness import NoModel, connect

    model = connect(declared_models(settings).by_name[settings.model.name])
    if isinstance(model, NoModel):
        raise ConfigError("AGRAJAG_MODEL_API_KEY is not set: an investigation needs a model")
    return model


async def _sources(own: InvestigationSettings, tables: "SqlTables | None", ends: AsyncExitStack) -> "Sources":
    """What is set up; for each of the others, something that says that it is not."""
    from agrajag.investigation.gate import Sources
    from agrajag.investigation.logs import JsonlLogs, LokiLogs
    from agrajag.investigation.mysql import MysqlSource
    from agrajag.investigation.no_source import NoSource
    from agrajag.investigation.runbooks import Runbooks

    missing = NoSource()
    names = _names_of_fields(own)
    sources = Sources(knowledge=missing, logs=missing, mysql=missing)
    if own.runbooks_dir is not None:
        runbooks = Runbooks(_folder("RUNBOOKS_DIR", own.runbooks_dir))
        ends.callback(runbooks.close)
        sources = replace(sources, knowledge=runbooks)
    if own.logs_dir is not None:
        sources = replace(sources, logs=JsonlLogs(_folder("LOGS_DIR", own.logs_dir), names))
    elif own.loki_url is not None:
        sources = replace(sources, logs=LokiLogs(_loki(own, own.loki_url), names))
    if tables is not None and own.mysql_host is not None:
        mysql = MysqlSource(_mysql(own, own.mysql_host), tables)
        ends.push_async_callback(mysql.close)
        sources = replace(sources, mysql=mysql)
    return sources


def _names_of_fields(own: InvestigationSettings) -> "LogFields":
    from agrajag.investigation.logs import LogFields

    usual = LogFields()

    def chosen(name: str, names: Sequence[str]) -> Sequence[str]:
        return (name,) if name else names

    return LogFields(
        time=chosen(own.logs_time_field, usual.time),
        level=chosen(own.logs_level_field, usual.level),
        service=chosen(own.logs_service_field, usual.service),
        message=chosen(own.logs_message_field, usual.message),
    )


def _loki(own: InvestigationSettings, url: str) -> "LokiAccess":
    from agrajag.investigation.logs import LokiAccess

    return LokiAccess(
        url,
        token=None if own.loki_token is None else own.loki_token.get_secret_value(),
        user=own.loki_user,
        tenant=own.loki_tenant,
        service_label=own.loki_service_label,
    )


def _tables(own: InvestigationSettings) -> "SqlTables | None":
    """What of the database may be read; None where none is set up. Raises ConfigError."""
    from agrajag.documents.yaml_text import NotYaml, read_yaml
    from agrajag.investigation.mysql import SqlTables

    if own.mysql_host is None:
        return None
    file = own.mysql_tables_file
    if file is None:
        raise ConfigError(f"{_MYSQL_TABLES}: must be set where a MySQL host is")
    try:
        read = read_yaml(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, NotYaml) as error:
        raise ConfigError(f"{_MYSQL_TABLES}: {file} cannot be read: {error}") from error
    try:
        columns = TypeAdapter(dict[str, tuple[str, ...]]).validate_python(read, strict=False)
    except ValidationError:
        raise ConfigError(f"{_MYSQL_TABLES}: {file} is no mapping of tables to lists of columns") from None
    return SqlTables(own.mysql_database, columns)


def _mysql(own: InvestigationSettings, host: str) -> "MysqlAccess":
    from agrajag.investigation.mysql import MysqlAccess

    password = "" if own.mysql_password is None else own.mysql_password.get_secret_value()
    tls = None if own.mysql_ca_file is None else _trusting(own.mysql_ca_file)
    return MysqlAccess(host, own.mysql_port, own.mysql_user, password, tls)


def _trusting(authorities: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(authorities))
    except OSError as error:
        raise ConfigError(f"{_MYSQL_AUTHORITIES}: {authorities} cannot be used: {error}") from error


async def _ledger(settings: Settings, ends: AsyncExitStack) -> "InvocationLedger":
    from agrajag.investigation.ledger import MemoryLedger, StoreLedger

    if settings.investigation.ledger == "memory":
        return MemoryLedger()
    from agrajag.store import Store

    mongo = settings.mongo
    store = await ends.enter_async_context(await Store.open(mongo.uri.get_secret_value(), mongo.database))
    return StoreLedger(store.invocations)


def _folder(variable: str, path: Path) -> Path:
    if not path.is_dir():
        raise ConfigError(f"AGRAJAG_INVESTIGATION_{variable}: {path} is no folder")
    return path

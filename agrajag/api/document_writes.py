"""The routes that put and remove documents of the cascade: rules, settings, tools and recipes of a tenant or project.

A document with a fault is refused whole, with every fault, and what stood before stays in force. What is the same is
not written again, so that every request may be repeated.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import structlog
from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.bodies import body_docs
from agrajag.api.parts import Parts, PartsGiven
from agrajag.api.permissions import Act
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import (
    FieldProblem,
    Missing,
    ProblemType,
    Refused,
    needing,
    problem_responses,
)
from agrajag.api.scopes import Asked
from agrajag.api.segments import NAMES, SEGMENT, TenantSegment
from agrajag.core.rules import Problem as Fault
from agrajag.documents.cascade import DocumentName
from agrajag.documents.directory import ROOT_FOLDER
from agrajag.documents.pushing import Action, Faults, Planned, faults_of, outputs_of
from agrajag.documents.records import DocumentTable
from agrajag.documents.topic import read_documents
from agrajag.errors import TransientError
from agrajag.model.answers import MAX_CONTENT, DocumentPath
from agrajag.model.wire_model import Id, WireModel
from agrajag.wire.topics import Topic

router = APIRouter(prefix=f"/brain/{{tenant:{SEGMENT}}}/documents", tags=["documents"])
log = structlog.get_logger(__name__)

_PROBLEMS = problem_responses(ProblemType.REFUSED, ProblemType.UNAVAILABLE)
_MAX_FAULTS = 50
_SECONDS = 15.0
YAML = "application/yaml"

PathSegments = Annotated[
    DocumentPath, Path(alias="path", description="Such as `_vance/agrajag/error-patterns.yaml`.")
]


class DocumentAsked(Asked):
    """Whose document."""

    project_id: Id | SkipJsonSchema[None] = Field(
        None, description="Of this project; by default, of the whole tenant."
    )


class DocumentWritten(WireModel):
    """What was done about a document."""

    path: DocumentPath
    project_id: Id | None = None
    action: Action
    warnings: tuple[str, ...] = ()
    """What is in force and probably should not be."""


@router.put(
    f"/{{path:{NAMES}}}",
    response_model=DocumentWritten,
    response_model_exclude_none=True,
    responses=_PROBLEMS,
    openapi_extra=body_docs({"type": "string", "maxLength": MAX_CONTENT}, YAML),
)
async def put_document(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    path: PathSegments,
    asked: Annotated[DocumentAsked, Query()],
    request: Request,
) -> DocumentWritten:
    """Puts a document in place: its text is the body. Running roles follow within seconds."""
    must_be_allowed(principal, Act.WRITE_DOCUMENTS)
    name = _name(tenant, asked.project_id, path)
    content = _text(await request.body())
    faults = await asyncio.to_thread(faults_of, {name: content})
    if faults.problems:
        raise _refused(faults)
    action = await _written(parts, name, content, principal.user)
    warnings = tuple(str(warning) for warning in faults.warnings[:_MAX_FAULTS])
    return DocumentWritten(path=path, project_id=asked.project_id, action=action, warnings=warnings)


@router.delete(
    f"/{{path:{NAMES}}}",
    response_model=DocumentWritten,
    response_model_exclude_none=True,
    responses=_PROBLEMS,
)
async def remove_document(
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    path: PathSegments,
    asked: Annotated[DocumentAsked, Query()],
) -> DocumentWritten:
    """Removes a document, so that a wider one speaks again; where there is none, nothing is done."""
    must_be_allowed(principal, Act.WRITE_DOCUMENTS)
    action = await _written(parts, _name(tenant, asked.project_id, path), None, principal.user)
    return DocumentWritten(path=path, project_id=asked.project_id, action=action)


async def _written(parts: Parts, name: DocumentName, content: str | None, by: str) -> Action:
    """Make the topic hold this document, or none of this name; returns once Kafka has it."""
    with needing(Missing.KAFKA), _in_time():
        async with asyncio.timeout(_SECONDS), parts.documents_written:
            table = await read_documents(parts.connection, parts.topics)
            action = _action(table, name, content)
            if action is Action.KEEP:
                return action
            topic = parts.topics.name(Topic.DOCUMENTS)
            outputs = outputs_of(topic, [Planned(action, name, content)], table, parts.now(), by)
            await parts.sender.send(outputs)
    log.info("document_written", document=str(name), action=action, by=by)
    return action


@contextmanager
def _in_time() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise TransientError("kafka: the documents could not be read in time") from error


def _action(table: DocumentTable, name: DocumentName, content: str | None) -> Action:
    known = table.documents.get(name)
    if content is None:
        return Action.KEEP if known is None else Action.REMOVE
    if known is None:
        return Action.ADD
    return Action.KEEP if known.content == content else Action.CHANGE


def _name(tenant: str, project_id: str | None, path: str) -> DocumentName:
    if not path.startswith(f"{ROOT_FOLDER}/"):
        problem = FieldProblem(field="path", reason=f"begins with {ROOT_FOLDER}/")
        raise Refused(ProblemType.REFUSED, f"a document's path {problem.reason}", errors=[problem])
    return DocumentName(tenant, project_id, path)


def _text(body: bytes) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Refused(ProblemType.REFUSED, "the document is no UTF-8") from None
    if len(text) > MAX_CONTENT:
        raise Refused(ProblemType.TOO_LARGE, f"a document has at most {MAX_CONTENT:,} characters")
    return text


def _refused(faults: Faults) -> Refused:
    told = [_told(fault) for fault in faults.problems[:_MAX_FAULTS]]
    count = len(faults.problems)
    return Refused(ProblemType.REFUSED, f"the document has {count:,} faults; nothing is written", errors=told)


def _told(fault: Fault) -> FieldProblem:
    rule = f"rule {fault.rule_id!r}: " if fault.rule_id else ""
    return FieldProblem(field=f"{rule}{fault.field}", reason=fault.reason)

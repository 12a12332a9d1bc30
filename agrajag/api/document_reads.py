"""The routes that tell which documents a tenant has of its own, and what stands in them."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer, record_answer
from agrajag.api.document_writes import DocumentAsked, PathSegments
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import not_found, problem_responses
from agrajag.api.segments import NAMES, SEGMENT, TenantSegment
from agrajag.documents.cascade import DocumentName
from agrajag.model.answers import DocumentPath
from agrajag.model.wire_model import Count, Id, WireModel

router = APIRouter(prefix=f"/brain/{{tenant:{SEGMENT}}}/documents", tags=["documents"])

_RESPONSES = problem_responses() | NOT_MODIFIED


class DocumentEntry(WireModel):
    """One document of a list."""

    path: DocumentPath
    project_id: Id | None = None
    """Missing for one of the whole tenant."""
    characters: Count


class DocumentReading(WireModel):
    """One document with its text."""

    path: DocumentPath
    project_id: Id | None = None
    content: str


class DocumentList(WireModel):
    """A tenant's documents, by path."""

    items: tuple[DocumentEntry, ...]
    next_after: DocumentPath | None


class DocumentsAsked(PageAsked, DocumentAsked):
    """Which documents."""


@router.get("", response_model=DocumentList, responses=_RESPONSES)
async def list_documents(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[DocumentsAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists the documents of a project, or of the whole tenant."""
    must_be_allowed(principal, Act.READ_DOCUMENTS)
    entries = sorted(
        (name.path, content)
        for name, content in parts.documents.rulebook.cascade.documents.items()
        if (name.tenant_id, name.project_id) == (tenant, asked.project_id) and name.path > asked.after
    )
    items = [
        DocumentEntry(path=path, project_id=asked.project_id, characters=len(content))
        for path, content in entries[: asked.limit]
    ]
    return list_answer(request, items, items[-1].path if len(entries) > asked.limit else None)


@router.get(f"/{{path:{NAMES}}}", response_model=DocumentReading, responses=_RESPONSES)
async def read_document(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    path: PathSegments,
    asked: Annotated[DocumentAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Tells what stands in a document."""
    must_be_allowed(principal, Act.READ_DOCUMENTS)
    name = DocumentName(tenant, asked.project_id, path)
    content = parts.documents.rulebook.cascade.documents.get(name)
    if content is None:
        raise not_found("document")
    return record_answer(request, DocumentReading(path=path, project_id=asked.project_id, content=content))

"""The routes that tell what is in force of rules and settings, and what of the documents is not."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.answers import NOT_MODIFIED, IfNoneMatch, PageAsked, list_answer
from agrajag.api.parts import PartsGiven
from agrajag.api.permissions import Act
from agrajag.api.principal import TenantPrincipal, must_be_allowed
from agrajag.api.problems import ProblemType, Refused, problem_responses
from agrajag.api.scopes import Asked
from agrajag.api.segments import SEGMENT, TenantSegment
from agrajag.core.listing import Standing, entry_of, listing
from agrajag.core.redact import redacted_line
from agrajag.core.rules import Problem as DocumentProblem
from agrajag.metrics import DocumentFault
from agrajag.model.enums import Classification
from agrajag.model.wire_model import Id, WireModel

router = APIRouter(prefix="/brain", tags=["documents"])

_TENANT = f"/{{tenant:{SEGMENT}}}"
_RESPONSES = problem_responses() | NOT_MODIFIED
_MAX_TEXT = 500


class RuleReading(WireModel):
    """One rule at its place."""

    place: int
    """From 0; the rules are asked in this order, and the first that matches decides."""
    id: str
    signature: str
    classification: Classification
    source: str
    """The file that it comes from."""
    replaces: tuple[str, ...] = ()
    """The files whose rule of this id it stands for, widest first."""
    pack: str | None = None
    on_trial: bool = False
    """It never decides; what would change if it did is counted."""
    entry: dict[str, Any]
    """The rule as an entry of a rule file."""


class RuleList(WireModel):
    """The rules in the order in which they are asked, those on trial at the end."""

    items: tuple[RuleReading, ...]
    next_after: str | None


class DocumentFaultReading(WireModel):
    """Something in a document that is not in force, or that is and probably should not be."""

    kind: DocumentFault
    document: str
    rule_id: str | None = None
    field: str
    reason: str


class FaultList(WireModel):
    """What is wrong with a tenant's documents."""

    items: tuple[DocumentFaultReading, ...]
    next_after: str | None


class OfProject(Asked):
    """For whom."""

    project_id: Id | SkipJsonSchema[None] = Field(None, description="The project; by default, none.")


class RulesAsked(PageAsked, OfProject):
    """Which rules."""


@router.get(f"{_TENANT}/rules", response_model=RuleList, responses=_RESPONSES)
async def list_rules(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    asked: Annotated[RulesAsked, Query()],
    known: IfNoneMatch = None,
) -> Response:
    """Lists the rules by which errors of a project are judged."""
    must_be_allowed(principal, Act.READ_RULES)
    found = parts.documents.rulebook.in_force(tenant, asked.project_id)
    there = listing(found.files, found.rules)
    both = [*((one, False) for one in there.in_force), *((one, True) for one in there.on_trial)]
    first = _first_after(asked.after, len(both))
    shown = both[first : first + asked.limit]
    rules = [_rule(first + number, *one) for number, one in enumerate(shown)]
    more = first + len(rules) < len(both)
    return list_answer(request, rules, str(first + len(rules) - 1) if more else None)


@router.get(f"{_TENANT}/problems", response_model=FaultList, responses=_RESPONSES)
async def list_problems(
    request: Request,
    principal: TenantPrincipal,
    parts: PartsGiven,
    tenant: TenantSegment,
    known: IfNoneMatch = None,
) -> Response:
    """Lists what is wrong with the tenant's documents."""
    must_be_allowed(principal, Act.READ_DOCUMENTS)
    book = parts.documents.rulebook
    of_tenant = {str(name) for name in book.cascade.documents if name.tenant_id == tenant}
    faults = [
        *(_fault(DocumentFault.REJECTED, one) for one in book.problems if one.source in of_tenant),
        *(_fault(DocumentFault.WARNING, one) for one in book.warnings if one.source in of_tenant),
    ]
    return list_answer(request, faults, None)


def _first_after(after: str, count: int) -> int:
    """The place behind the one that was given out as `after`."""
    if not after:
        return 0
    if not (after.isascii() and after.isdecimal() and len(after) < 10):
        raise Refused(ProblemType.INVALID, "query.after: is no place in this list")
    return min(int(after) + 1, count)


def _rule(place: int, standing: Standing, on_trial: bool) -> RuleReading:
    rule = standing.rule
    return RuleReading(
        place=place,
        id=rule.id,
        signature=rule.signature,
        classification=rule.classification,
        source=standing.source,
        replaces=standing.replaces,
        pack=rule.pack,
        on_trial=on_trial,
        entry=entry_of(rule),
    )


def _fault(kind: DocumentFault, problem: DocumentProblem) -> DocumentFaultReading:
    return DocumentFaultReading(
        kind=kind,
        document=problem.source,
        rule_id=problem.rule_id,
        field=redacted_line(problem.field, _MAX_TEXT),
        reason=redacted_line(problem.reason, _MAX_TEXT),
    )

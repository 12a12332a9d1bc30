"""Reads what a probe brought: which signature Layer 1 gives it, and what of it may be shown.

The response is as hostile as any error text, and may repeat the very credential it was asked with. That is taken out in
every form it was or may have been sent in, before anything else happens to the text.
"""

from agrajag.core.check import UNMATCHED_SIGNATURE
from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.redact import detail_of, redacted, redacted_line
from agrajag.core.targets import Target, TargetKind
from agrajag.diagnosis.adapter import MAX_FAILURE_MESSAGE, RawOutcome, Secret
from agrajag.diagnosis.echoes import Echoes
from agrajag.diagnosis.probe import MAX_RAW_RESPONSE, ProbeRequest
from agrajag.model.enums import Transport
from agrajag.model.events import (
    MAX_EXCEPTION_CHAIN,
    MAX_HEADER_NAME,
    MAX_HEADER_VALUE,
    MAX_HEADERS,
    ErrorReport,
    ToolCallError,
)
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE

_TELLING_HEADERS = ("content-type", "location", "retry-after", "www-authenticate")
_MAX_HEADER = 200
_MAX_ERROR_CODE = 120
_TRANSPORTS = {
    TargetKind.HTTP: Transport.HTTP,
    TargetKind.MCP: Transport.MCP,
    TargetKind.KAFKA: Transport.OTHER,
}


def as_error(request: ProbeRequest, target: Target, raw: RawOutcome, secret: Secret | None) -> ToolCallError:
    """What came of a probe in the form that rules judge, without the credential; marked as a probe's."""
    echoes = Echoes(secret)
    return ToolCallError(
        tenant_id=request.tenant_id,
        project_id=request.project_id,
        tool_name=request.tool_name,
        transport=_TRANSPORTS[target.kind],
        probe=True,
        error=ErrorReport(
            exception_type=_class_name(raw.exception_type),
            exception_chain=tuple(filter(None, map(_class_name, raw.exception_chain[:MAX_EXCEPTION_CHAIN]))),
            message=None if raw.message is None else _message(raw.message, echoes),
            http_status=raw.status if raw.status is not None and 100 <= raw.status <= 599 else None,
            headers=_headers(raw, echoes),
            body=echoes.text_of(raw.body, cut_after=raw.truncated)[:MAX_BODY],
            error_code=None if raw.error_code is None else _code(raw.error_code, echoes),
            truncated=raw.truncated,
        ),
    )


def _message(text: str, echoes: Echoes) -> str:
    return echoes.removed(text, cut_after=len(text) >= MAX_FAILURE_MESSAGE)[:MAX_MESSAGE]


def _headers(raw: RawOutcome, echoes: Echoes) -> dict[str, str]:
    found = {}
    for name, value in list(raw.headers.items())[:MAX_HEADERS]:
        told = echoes.removed(value, cut_after=len(value) >= MAX_HEADER_VALUE)
        found[name[:MAX_HEADER_NAME]] = told[:MAX_HEADER_VALUE]
    return found


def _code(text: str, echoes: Echoes) -> str:
    return redacted(echoes.removed(text))[:_MAX_ERROR_CODE]


def _class_name(name: str | None) -> str | None:
    return name[:256] if name else None


def signature_of(error: ToolCallError, rules: RuleSet) -> str:
    """The signature that Layer 1 would give this error."""
    rule = rules.first_match(Features(error))
    return UNMATCHED_SIGNATURE if rule is None else rule.signature


def shown(error: ToolCallError) -> str:
    """The redacted start of a response, with those of its headers that tell something."""
    report = error.error
    given = {name.lower(): value for name, value in report.headers.items()}
    lines = [
        redacted_line(f"{name}: {given[name]}", _MAX_HEADER) for name in _TELLING_HEADERS if name in given
    ]
    head = "\n".join(lines)
    room = MAX_RAW_RESPONSE - (len(head) + 1 if head else 0)
    return "\n".join(filter(None, (head, detail_of(error, room))))

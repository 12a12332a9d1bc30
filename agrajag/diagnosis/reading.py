"""Reads what a probe brought: which signature Layer 1 gives it, and what of it may be shown.

The response is as hostile as any error text, and may repeat the very credential it was asked with. That is taken out in
every form it was or may have been sent in, before anything else happens to the text.
"""

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from agrajag.core.check import UNMATCHED_SIGNATURE
from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.redact import detail_of, redacted_line
from agrajag.core.secret_shapes import MARKER
from agrajag.core.targets import Target, TargetKind
from agrajag.diagnosis.adapter import RawOutcome, Secret
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
_TRANSPORTS = {
    TargetKind.HTTP: Transport.HTTP,
    TargetKind.MCP: Transport.MCP,
    TargetKind.KAFKA: Transport.OTHER,
}


def as_error(request: ProbeRequest, target: Target, raw: RawOutcome, secret: Secret | None) -> ToolCallError:
    """What came of a probe in the form that rules judge, without the credential; marked as a probe's."""
    forms = _forms(secret)
    return ToolCallError(
        tenant_id=request.tenant_id,
        project_id=request.project_id,
        tool_name=request.tool_name,
        transport=_TRANSPORTS[target.kind],
        probe=True,
        error=ErrorReport(
            exception_type=_class_name(raw.exception_type),
            exception_chain=tuple(filter(None, map(_class_name, raw.exception_chain[:MAX_EXCEPTION_CHAIN]))),
            message=None if raw.message is None else _without(forms, raw.message)[:MAX_MESSAGE],
            http_status=raw.status if raw.status is not None and 100 <= raw.status <= 599 else None,
            headers=_headers(raw, forms),
            body=_without(forms, _text(raw))[:MAX_BODY],
            error_code=None if raw.error_code is None else _without(forms, raw.error_code)[:120],
            truncated=raw.truncated,
        ),
    )


def _headers(raw: RawOutcome, forms: list[str]) -> dict[str, str]:
    given = list(raw.headers.items())[:MAX_HEADERS]
    return {name[:MAX_HEADER_NAME]: _without(forms, value)[:MAX_HEADER_VALUE] for name, value in given}


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


def _text(raw: RawOutcome) -> str:
    """The body as text; what is none is not shown, as nothing could be found in it."""
    if b"\0" in raw.body:
        return f"[{len(raw.body)} bytes that are no text]"
    return raw.body.decode("utf-8", "replace")


def _forms(secret: Secret | None) -> list[str]:
    """Every spelling in which a credential may come back, longest first."""
    if secret is None:
        return []
    text = secret.reveal()
    _, _, password = text.partition(":")
    found: set[str] = set()
    for one in filter(None, (text, password)):
        found |= {one, quote(one, safe=""), quote(one), quote_plus(one)}
        found |= {json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]}
        coded = base64.b64encode(one.encode()).decode()
        found |= {coded, coded.rstrip("="), base64.urlsafe_b64encode(one.encode()).decode().rstrip("=")}
    return sorted(found, key=len, reverse=True)


def _without(forms: Iterable[str], text: str) -> str:
    for form in forms:
        text = text.replace(form, MARKER)
    return text

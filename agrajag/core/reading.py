"""Makes of health documents what is shown of them at one moment."""

from collections.abc import Iterable
from datetime import datetime

from agrajag.core.annotate import annotation
from agrajag.core.lookup import Caller, believed_status, speaks_for, unconfirmed_since
from agrajag.core.plain_words import cooling, plain_words, plain_words_for
from agrajag.core.policy import Policy
from agrajag.model.enums import Status
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.model.reading import CascadeReading, HealthReading


def reading(document: ToolHealth, now: datetime, policy: Policy) -> HealthReading:
    """The document as of `now`, under the policy of its tenant and project."""
    return HealthReading(
        key=_key(document),
        status=believed_status(document, now, policy),
        words=plain_words(document, now, policy),
        annotation=annotation([document], now, policy),
        unconfirmed_since=unconfirmed_since(document, now, policy),
        calling=cooling(document, now),
        health=document,
    )


def cascade_reading(
    documents: Iterable[ToolHealth], caller: Caller, now: datetime, policy: Policy
) -> CascadeReading:
    """How the tool is for `caller`, given the documents that apply, narrowest first, under the caller's policy."""
    found = tuple(documents)
    speaking = speaks_for(found, now, policy)
    return CascadeReading(
        status=Status.OK if speaking is None else speaking.status_at(now),
        words=plain_words_for(found, caller, now, policy),
        annotation=annotation(found, now, policy),
        speaking=None if speaking is None else _key(speaking),
        documents=tuple(reading(document, now, policy) for document in found),
    )


def _key(document: ToolHealth) -> str:
    return health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)

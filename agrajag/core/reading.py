"""Makes of a health document what is shown of it at one moment."""

from datetime import datetime

from agrajag.core.annotate import annotation
from agrajag.core.lookup import believed_status, unconfirmed_since
from agrajag.core.plain_words import cooling, plain_words
from agrajag.core.policy import Policy
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key
from agrajag.model.reading import HealthReading


def reading(document: ToolHealth, now: datetime, policy: Policy) -> HealthReading:
    """The document as of `now`, under the policy of its tenant and project."""
    return HealthReading(
        key=health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name),
        status=believed_status(document, now, policy),
        words=plain_words(document, now, policy),
        annotation=annotation([document], now, policy),
        unconfirmed_since=unconfirmed_since(document, now, policy),
        calling=cooling(document, now),
        health=document,
    )

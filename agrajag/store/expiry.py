"""Decides when a document of an audit goes: 30 days after what it tells of, by a TTL index on a date of its own.

That works alike on MongoDB and on the embedded store; until the index has run, the document is still there.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo import ASCENDING, IndexModel

KEPT_FOR = timedelta(days=30)
EXPIRY_INDEX = IndexModel([("expiresAt", ASCENDING)], expireAfterSeconds=0)

_LAST = datetime.max.replace(tzinfo=UTC) - KEPT_FOR


def expiring(document: Mapping[str, Any], moment: datetime) -> dict[str, Any]:
    """The document with the date after which it may go; `moment` is what it tells of, in UTC."""
    return {**document, "expiresAt": min(moment, _LAST) + KEPT_FOR}

"""Realistic errors for runs: several tenants, tools and users, every bundled rule, in a fixed pseudo-random order."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from agrajag.model.events import ErrorReport, ToolCallError

_REPORTS: tuple[dict[str, Any], ...] = (
    {"http_status": 401, "body": '{"error": {"code": "token_expired"}}'},
    {"http_status": 401},
    {"http_status": 403, "message": "Forbidden"},
    {"http_status": 404},
    {"http_status": 429, "headers": {"Retry-After": "7"}},
    {"http_status": 502, "body": "<html>Bad Gateway</html>"},
    {"exception_type": "httpx.ReadTimeout", "message": "timed out"},
    {"exception_type": "builtins.OSError", "exception_chain": ("ConnectionRefusedError",)},
    {"body": "__schema_violation__: `rows` is missing"},
    {"exception_type": "ToolException", "message": "Manual not found: 'calendar'"},
    {"exception_type": "ToolException", "message": "it broke"},
    {"message": "something else"},
)


def errors(count: int, seed: int = 7, since: datetime | None = None) -> list[ToolCallError]:
    """`count` events with ids `e0`…; they happened one millisecond apart, the last of them just before now."""
    chance = random.Random(seed)
    start = since or datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=10, milliseconds=count)
    return [
        ToolCallError(
            event_id=f"e{number}",
            occurred_at=start + timedelta(milliseconds=number),
            tenant_id=chance.choice(["acme", "globex", "initech"]),
            project_id=chance.choice(["essays", "novels", None]),
            tool_name=chance.choice([f"tool-{n}" for n in range(30)] + ["client_files"]),
            user_id=chance.choice([f"user-{n}" for n in range(12)] + [None]),
            session_id=chance.choice(["s1", "s2", None]),
            reply_to=f"caller-{number}",
            error=ErrorReport(**chance.choice(_REPORTS)),
        )
        for number in range(count)
    ]

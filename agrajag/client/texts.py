"""How much of a failure's texts is kept: as much as is read, soon enough redacted that nobody waits for it."""

from agrajag.core.redact import LOOKAHEAD

MAX_MESSAGE = 2_000
MAX_BODY = 8_192
"""So many characters of message and body are reported."""


def beginning(text: str | None, limit: int) -> tuple[str | None, bool]:
    """As much of `text` as `limit` characters of it need to be redacted, and whether it is longer than these."""
    if text is None or len(text) <= limit:
        return text, False
    return text[: limit + LOOKAHEAD], True

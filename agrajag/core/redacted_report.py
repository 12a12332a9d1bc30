"""Takes the secrets out of what a failed call left behind, before it leaves the process that was told of it."""

from agrajag.core.redact import redacted
from agrajag.model.events import MAX_HEADER_VALUE, ErrorReport
from agrajag.model.wire_model import MAX_BODY, MAX_MESSAGE


def redacted_report(error: ErrorReport) -> ErrorReport:
    """The same report without secrets in its message, its body and its headers, which are known by their names too.

    To do it twice is to do it once.
    """
    headers = {name: _redacted_header(name, value) for name, value in error.headers.items()}
    return error.with_changes(
        message=_redacted_text(error.message, MAX_MESSAGE),
        body=_redacted_text(error.body, MAX_BODY),
        headers=headers,
    )


def _redacted_text(text: str | None, limit: int) -> str | None:
    return None if text is None else redacted(text)[:limit]


def _redacted_header(name: str, value: str) -> str:
    before = f"{name}: "
    line = redacted(before + value)
    # A name that is itself taken for a secret leaves nothing of the line that could be told apart.
    return (line.removeprefix(before) if line.startswith(before) else redacted(value))[:MAX_HEADER_VALUE]

"""Makes the report of a failure from its facts: no credential of a header stays, and no secret in a text."""

from agrajag.client.failures import Facts
from agrajag.client.texts import MAX_BODY, MAX_MESSAGE
from agrajag.core.redact import redacted, redacted_line, redacted_start
from agrajag.model.events import MAX_EXCEPTION_CHAIN, MAX_HEADER_NAME, MAX_HEADERS, ErrorReport

_MAX_CLASS_NAME = 256
_MAX_CODE = 120
_MAX_VALUE = 1_024
_RATES = ("ratelimit", "rate-limit")
_CREDENTIALS = (
    *("authorization", "cookie", "token", "secret", "password", "passwd", "api-key", "apikey", "access-key"),
    *("session", "signature", "credential", "csrf", "xsrf", "x-auth"),
)


def reported(facts: Facts) -> ErrorReport:
    """What may be told of the failure. It costs time with the length of its texts, at most a few milliseconds."""
    return ErrorReport(
        exception_type=None if facts.exception_type is None else _class_name(facts.exception_type),
        exception_chain=tuple(map(_class_name, facts.exception_chain[:MAX_EXCEPTION_CHAIN])),
        message=None if facts.message is None else redacted_start(facts.message, MAX_MESSAGE),
        http_status=facts.http_status,
        headers=_headers(facts.headers),
        body=None if facts.body is None else redacted_start(facts.body, MAX_BODY),
        error_code=None if facts.error_code is None else redacted_line(facts.error_code, _MAX_CODE),
        truncated=facts.truncated,
    )


def carries_credentials(header: str) -> bool:
    """Whether a header of this name is a credential or made from one. What is left of a rate limit is none, though it
    may be counted in tokens."""
    name = header.lower()
    return any(word in name for word in _CREDENTIALS) and not any(word in name for word in _RATES)


def _headers(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in headers:
        if not name or len(name) > MAX_HEADER_NAME or carries_credentials(name):
            continue
        # With its name, since some secrets are known by that alone.
        line = redacted(f"{name}: {value[:_MAX_VALUE]}")
        kept[redacted_line(name, MAX_HEADER_NAME)] = redacted_start(line[len(name) + 2 :], _MAX_VALUE)
        if len(kept) == MAX_HEADERS:
            break
    return kept


def _class_name(name: str) -> str:
    """There is nothing secret in one, but it may be made of anything."""
    return redacted_line(name, _MAX_CLASS_NAME) or "-"

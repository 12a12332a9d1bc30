"""Decides what kind of failure a signature and a status are a sign of: the server's, the caller's, or neither's.

A signature comes from the rules of Layer 1, which know a tenant's tools; so its words count before the status. The text
of a reported error never counts: it may say anything. That of a probe's response counts where its status leaves open
whose fault it is, and then only between those that are not the server's.
"""

import re
from enum import StrEnum

from agrajag.core.recheck import USER_REQUEST
from agrajag.diagnosis.probe import ProbeOutcome
from agrajag.model.jobs import DiagnosisJob


class Sign(StrEnum):
    """What a failure looks like."""

    CREDENTIAL = "credential"
    PERMISSION = "permission"
    RATE_LIMIT = "rate limit"
    INPUT = "input"
    MISSING = "missing"
    SCHEMA = "schema"
    GONE = "gone"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server error"
    ELSEWHERE = "elsewhere"
    """It sends the caller elsewhere, where people may have to sign in."""
    TOOL_ERROR = "tool error"
    """The tool has answered that it failed, or something failed that nobody knows."""


TECHNICAL = frozenset({Sign.SCHEMA, Sign.GONE, Sign.TIMEOUT, Sign.UNREACHABLE, Sign.SERVER_ERROR})
"""What a failing server looks like, whatever was asked of it."""

AMBIGUOUS = frozenset({Sign.MISSING, Sign.TOOL_ERROR})
"""What a failing server looks like as well as a good one that was asked wrongly: the report has to say the same."""

NOT_FOR_ALL = frozenset({Sign.SERVER_ERROR, Sign.SCHEMA, Sign.MISSING, Sign.TOOL_ERROR})
"""What the data of one user can bring about."""

_WORDS = (
    (
        Sign.CREDENTIAL,
        "401 unauthorized unauthenticated auth authentication token expired credential credentials",
    ),
    (Sign.PERMISSION, "403 forbidden permission"),
    (Sign.RATE_LIMIT, "429 rate ratelimit quota throttled"),
    (Sign.MISSING, "404"),
    (Sign.GONE, "410"),
    (Sign.INPUT, "400 405 409 413 414 415 422 32602 input invalid validation validationerror notfound"),
    (Sign.SCHEMA, "schema"),
    (Sign.TIMEOUT, "timeout timedout 408"),
    (
        Sign.UNREACHABLE,
        "connect connection refused unreachable reset dns network tls ssl handshake certificate",
    ),
    (Sign.SERVER_ERROR, "5xx 500 501 502 503 504 507 508 520 521 522 523 524 unavailable overloaded"),
)
_ELSEWHERE = range(300, 400)
_LEFT_OPEN = frozenset({Sign.INPUT, Sign.PERMISSION, Sign.TOOL_ERROR})
_NO_CREDENTIAL = (
    r"expired|revoked|invalid_(?:grant|token)|unauthenticated|authentication failed|sign.?(?:in|on)\b|log.?in again"
    r"|link your account|api.?key|no account\b"
)
_BY_TEXT = (
    (Sign.RATE_LIMIT, r"rate.?limit|too many requests|throttl|quota"),
    (Sign.CREDENTIAL, _NO_CREDENTIAL),
    (Sign.PERMISSION, r"forbidden|permission|not allowed|access denied|\bscope|missing_scope|insufficient"),
)
_TEXTS = tuple((sign, re.compile(pattern, re.IGNORECASE)) for sign, pattern in _BY_TEXT)
_BY_WORD = {word: sign for sign, words in _WORDS for word in words.split()}
_RANK = {sign: rank for rank, (sign, _) in enumerate(_WORDS)}
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REPORTED_STATUS = re.compile(r"status: (\d{3})(?:\n|\Z)", re.ASCII)
_REPORTED_NAMES = re.compile(r"(?:status: \d{3}\n)?(?:code: ([^\n]*)\n?)?(?:exception: ([^\n<]*))?", re.ASCII)


def sign_of(outcome: ProbeOutcome) -> Sign | None:
    """What a probe that failed is a sign of; None for one that did not fail."""
    if outcome.success:
        return None
    if outcome.status_code in _ELSEWHERE:
        return Sign.ELSEWHERE
    sign = _by_words(outcome.error_signature or "") or _by_status(outcome.status_code) or Sign.TOOL_ERROR
    return (_by_text(outcome.raw_response) or sign) if sign in _LEFT_OPEN else sign


def reported_sign(job: DiagnosisJob) -> Sign | None:
    """What the reported error is a sign of; None where nobody reported one."""
    if job.error_signature == USER_REQUEST:
        return None
    detail = job.error_detail or ""
    status = _REPORTED_STATUS.match(detail)
    names = _REPORTED_NAMES.match(detail)
    return (
        _by_words(job.error_signature)
        or _by_status(int(status[1]) if status else None)
        or _by_words(" ".join(filter(None, names.groups())) if names else "")
        or Sign.TOOL_ERROR
    )


def _by_words(text: str) -> Sign | None:
    words = _SEPARATORS.split(_HUMPS.sub(" ", text).lower().replace("not-found", "notfound"))
    found = {_BY_WORD[word] for word in words if word in _BY_WORD}
    return min(found, key=_RANK.__getitem__, default=None)


def _by_text(text: str) -> Sign | None:
    return next((sign for sign, pattern in _TEXTS if pattern.search(text)), None)


def _by_status(status: int | None) -> Sign | None:
    if status is None:
        return None
    if status in (406, 411, 412, 416, 417, 428, 431):
        return Sign.INPUT
    return _BY_WORD.get(str(status)) or (Sign.SERVER_ERROR if status >= 500 else None)

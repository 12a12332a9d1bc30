"""What a rule can look at in one error, drawn once.

Structured fields come first. A status is read from text only where no field holds one, and only by patterns that no
ordinary sentence matches: a number alone ("took 300 ms") is never a status.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from agrajag.core.exceptions import class_names
from agrajag.model.events import ToolCallError

# `HTTP/1.1 503`, `HTTP error: 503`, `"status": 503`, `status code 503`, `503 Service Unavailable`. Gaps are bounded,
# for two unbounded ones in a row cost the square of a long gap.
_STATUS_IN_TEXT = re.compile(
    r"\bHTTP(?:/\d(?:\.\d)?)?[ :]{1,3}(?:(?:error|status|response|code)[ :]{1,3}){0,3}([1-5]\d\d)(?![\w%]|-\w|[.,:]\d)"
    r"|(?<!exit )(?<!exited with )(?<!exits with )\bstatus(?:[ _-]?code['\"]?[ ]{0,3}[:=]?|['\"]?[ ]{0,3}[:=])[ ]{0,3}"
    r"([1-5]\d\d)(?![\w%]|-\w|[.,:]\d)"
    r"|(?<![\w.,:-])([45]\d\d)[ ]\(?(?-i:Client Error|Server Error|Bad Request|Unauthorized|Payment Required|Forbidden"
    r"|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server Error"
    r"|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out)",
    re.IGNORECASE | re.ASCII,
)
_STATUS_DIGITS = re.compile(r"[1-5][0-9][0-9]")
_AUTH_MARKERS = ("expired_token", "token_expired", "invalid_token", "invalid_grant")
_known_names = lru_cache(maxsize=4096)(class_names)


class Features:
    """Views of one error, each drawn when a rule first needs it; equal events give equal features."""

    __slots__ = ("_error_codes", "_exception_names", "_text", "error", "event", "http_status")

    def __init__(self, event: ToolCallError) -> None:
        self.event = event
        self.error = error = event.error
        self.http_status: int | None = error.http_status
        """The reported status, else the first one that the message or body states beyond doubt."""
        if self.http_status is None:
            self.http_status = _status_in(error.message) or _status_in(error.body)
        self._exception_names: frozenset[str] | None = None
        self._text: str | None = None
        self._error_codes: frozenset[str] | None = None

    @property
    def exception_names(self) -> frozenset[str]:
        """Names of the exception and its causes, as rules may call them."""
        if self._exception_names is None:
            error = self.error
            outermost = () if error.exception_type is None else (error.exception_type,)
            self._exception_names = _known_names(outermost + error.exception_chain)
        return self._exception_names

    @property
    def text(self) -> str:
        """Message and body in lower case: what `bodyContains` searches."""
        if self._text is None:
            self._text = f"{self.error.message or ''}\n{self.error.body or ''}".lower()
        return self._text

    @property
    def error_codes(self) -> frozenset[str]:
        """The reported error code and the `error.code` of a JSON body."""
        if self._error_codes is None:
            found = set(_codes_in(_json_object(self.error.body)))
            if self.error.error_code:
                found.add(self.error.error_code)
            self._error_codes = frozenset(found)
        return self._error_codes

    @property
    def has_auth_marker(self) -> bool:
        """Whether the response says, other than by its status, that it is about a credential."""
        if self.header("www-authenticate") is not None:
            return True
        text = self.text
        return any(marker in text for marker in _AUTH_MARKERS)

    def header(self, name: str) -> str | None:
        """The value of a response header, whatever its case."""
        wanted = name.lower()
        for header, value in self.error.headers.items():
            if header.lower() == wanted:
                return value
        return None


def _status_in(text: str | None) -> int | None:
    if not text or _STATUS_DIGITS.search(text) is None:
        return None
    found = _STATUS_IN_TEXT.search(text)
    return int(found[found.lastindex or 0]) if found else None


def _json_object(body: str | None) -> Any:
    body = (body or "").lstrip()
    if not body.startswith("{"):
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _codes_in(body: Any) -> Iterator[str]:
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) or (isinstance(code, int) and not isinstance(code, bool)):
        yield str(code)

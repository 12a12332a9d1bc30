"""What a rule can look at in one error, drawn once.

Structured fields come first. A status is read from text only where no field holds one, and only by patterns that no
ordinary sentence matches: a number alone ("took 300 ms") is never a status.
"""

import json
import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from agrajag.core.exceptions import class_names
from agrajag.model.events import ToolCallError

_STATUS_IN_TEXT = re.compile(
    r"\bHTTP(?:/\d(?:\.\d)?)?[ :]+(?:(?:error|status|code)[ :]+)*([1-5]\d\d)\b"
    r"|\bstatus(?:[ _-]?code)?['\"]?[ ]*[:=]?[ ]*([1-5]\d\d)\b",
    re.IGNORECASE,
)
_known_names = lru_cache(maxsize=4096)(class_names)


class Features:
    """Lazily drawn views of one error; equal events give equal features."""

    def __init__(self, event: ToolCallError) -> None:
        self.event = event
        self.error = event.error

    @cached_property
    def http_status(self) -> int | None:
        """The reported status, else the first one that the message or body states beyond doubt."""
        if self.error.http_status is not None:
            return self.error.http_status
        for text in (self.error.message, self.error.body):
            if text and (found := _STATUS_IN_TEXT.search(text)):
                return int(found[1] or found[2])
        return None

    @cached_property
    def exception_names(self) -> frozenset[str]:
        """Names of the exception and its causes, as rules may call them."""
        error = self.error
        if error.exception_type is None:
            return _known_names(error.exception_chain)
        return _known_names((error.exception_type, *error.exception_chain))

    @cached_property
    def text(self) -> str:
        """Message and body in lower case: what `bodyContains` searches."""
        return f"{self.error.message or ''}\n{self.error.body or ''}".lower()

    @cached_property
    def error_codes(self) -> frozenset[str]:
        """The reported error code and the `error.code` of a JSON body."""
        found = set(_codes_in(self._json_body))
        if self.error.error_code:
            found.add(self.error.error_code)
        return frozenset(found)

    def header(self, name: str) -> str | None:
        """The value of a response header, whatever its case."""
        wanted = name.lower()
        for header, value in self.error.headers.items():
            if header.lower() == wanted:
                return value
        return None

    @cached_property
    def _json_body(self) -> Any:
        body = (self.error.body or "").lstrip()
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

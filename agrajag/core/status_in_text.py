"""Reads an HTTP status from text, in the forms in which clients and servers print one and by which no ordinary
sentence is meant: a number alone ("took 300 ms") is never a status, nor is one that somebody is quoted with.

Gaps are bounded, for two unbounded ones in a row cost the square of a long gap.
"""

import re

import re2

from agrajag.core.body_patterns import case_insensitive
from agrajag.core.quoted import without_quotations

_REASONS = (
    "Client Error|Server Error|Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed"
    "|Proxy Authentication Required|Request Timeout|Conflict|Gone|Unprocessable|Too Many Requests"
    "|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out"
)
_END = r"(?![\w%]|-\w|[.,:]\d)"
_NO_EXIT = r"(?<!exit )(?<!exited with )(?<!exits with )"
_FORMS = (
    # HTTP/1.1 503, HTTP error: 503, (HTTP 503), HTTP status code 503
    rf"\bHTTP(?:/\d(?:\.\d)?)?[ :]{{1,3}}(?:(?:error|status|response|code)[ :]{{1,3}}){{0,3}}([1-5]\d\d){_END}",
    # "status": 503, status code 503
    rf"{_NO_EXIT}\b(?:http_?)?status[ _-]?code['\"]?[ ]{{0,3}}[:=]?[ ]{{0,3}}([1-9]\d\d){_END}",
    rf"{_NO_EXIT}\b(?:http_?)?status['\"]?[ ]{{0,3}}[:=][ ]{{0,3}}([1-5]\d\d){_END}",
    # returned status 503, failed with status 503
    rf"\b(?:received|returned|request failed with|responded with|answered with) status ([1-5]\d\d){_END}",
    # 503 Service Unavailable, (401 Unauthorized)
    rf"(?<![\w.,:/-])([45]\d\d)[ ]\(?(?-i:{_REASONS})",
    # unauthorized (401)
    rf"\b(?:{_REASONS}) \(([45]\d\d)\)",
    # Client error '429 ' for url, as httpx prints a reason that is missing
    r"\b(?:Client|Server) error '([45]\d\d) ' for url",
    # GitHub API error: 401, API error (403 accessNotConfigured), googleapi: Error 403:
    rf"\bAPI error:? ([45]\d\d){_END}",
    r"\bAPI error \(([45]\d\d)[ )]",
    r"\bgoogleapi: error ([45]\d\d):",
    # Error code: 429 - {
    r"\berror code: ([45]\d\d) - [{\['\"]",
    # POST https://api.example.com/x: 403 Resource not accessible
    r"\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) https?://[^\s]{1,500}: ([45]\d\d)[ ]",
    # 403: insufficient_scope, as the very first words
    r"\A([45]\d\d): (?!\d)",
)
_ONE = "|".join(_FORMS)
_STATUS = re.compile(_ONE, re.IGNORECASE | re.ASCII)
_THREE_DIGITS = re.compile(r"(?<![0-9])[1-9][0-9]{2}(?![0-9])")
_LOOKS_AROUND = re.compile(r"\(\?<?![^()]*\)")
# The same without looking around, which RE2 cannot, finds at least as much: most texts cost no more than its one pass.
_PERHAPS = re2.compile(_LOOKS_AROUND.sub("", _ONE), case_insensitive())


def status_in(text: str | None) -> int | None:
    """The first status that `text` states beyond doubt, if it states one."""
    if not text or _THREE_DIGITS.search(text) is None or (perhaps := _PERHAPS.search(text)) is None:
        return None
    found = _STATUS.search(without_quotations(text), perhaps.start())
    return int(found[found.lastindex or 0]) if found else None

"""Reads what a server answered from the response of any HTTP client: httpx, requests, aiohttp, botocore, urllib.

They are known by their attributes. A body that was not read yet is left unread: to read it would wait for a network.
"""

from codecs import lookup
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from agrajag.client.texts import MAX_BODY, beginning
from agrajag.core.redact import LOOKAHEAD
from agrajag.model.events import MAX_HEADERS

_STATUSES = range(100, 1_000)
_LONGEST_CHARACTER = 4  # bytes, in UTF-8
_MOST_BYTES = _LONGEST_CHARACTER * (MAX_BODY + LOOKAHEAD)
# Others are read as UTF-8: some codecs take the square of a text's length, and some are none of text.
_ENCODINGS = frozenset(
    {
        "ascii",
        "big5",
        "cp1251",
        "cp1252",
        "euc_jp",
        "euc_kr",
        "gb18030",
        "gb2312",
        "gbk",
        "iso8859-1",
        "koi8-r",
    }
    | {"shift_jis", "utf-16", "utf-8"}
)


class HttpAnswer(NamedTuple):
    """What a server answered, as far as the response tells."""

    http_status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    error_code: str | None = None
    truncated: bool = False


def status_of(value: object) -> int | None:
    """The status of a response, None for anything else."""
    if getattr(value, "headers", None) is None:
        return None
    return _status(value)


def answer_in(value: object) -> HttpAnswer | None:
    """What this response, or exception with a status, says; None for anything else."""
    status = _status(value)
    if status is None:
        return _of_botocore(value) if isinstance(value, Mapping) else None
    headers = _headers(getattr(value, "headers", None))
    text, is_cut = _body(value, headers)
    return HttpAnswer(status, headers, text, None, is_cut)


def _status(value: object) -> int | None:
    for name in ("status_code", "status", "code"):
        found = getattr(value, name, None)
        if isinstance(found, int) and not isinstance(found, bool) and found in _STATUSES:
            return int(found)
    return None


def _headers(headers: Any) -> tuple[tuple[str, str], ...]:
    items = getattr(headers, "items", None)
    if not callable(items):
        return ()
    return tuple((str(name), str(value)) for name, value in islice(items(), 2 * MAX_HEADERS))


def _body(response: object, headers: tuple[tuple[str, str], ...]) -> tuple[str | None, bool]:
    content = _content(response)
    if isinstance(content, str):
        return beginning(content, MAX_BODY)
    if not isinstance(content, bytes | bytearray):
        return None, False
    content_type = next((value for name, value in headers if name.lower() == "content-type"), "")
    text, is_cut = beginning(content[:_MOST_BYTES].decode(_encoding(content_type), "replace"), MAX_BODY)
    return text, is_cut or len(content) > _MOST_BYTES


def _content(response: object) -> object:
    if getattr(response, "_content_consumed", True) is False:  # requests, of a body that is streamed
        return None
    try:
        content = getattr(response, "content", None)
    except Exception:  # httpx, of the same
        return None
    # aiohttp's `content` is a stream; what was read of it stands here.
    return content if isinstance(content, bytes | bytearray | str) else getattr(response, "_body", None)


@lru_cache(256)
def _encoding(content_type: str) -> str:
    """The encoding that a content type names, where it is one that we read."""
    named = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    try:
        known = lookup(named).name
    except (LookupError, ValueError):
        return "utf-8"
    return known if known in _ENCODINGS else "utf-8"


def _of_botocore(response: Mapping[str, Any]) -> HttpAnswer | None:
    told, error = response.get("ResponseMetadata"), response.get("Error")
    if not isinstance(told, Mapping) or not isinstance(error, Mapping):
        return None
    status = told.get("HTTPStatusCode")
    code = error.get("Code")
    return HttpAnswer(
        status if isinstance(status, int) and status in _STATUSES else None,
        _headers(told.get("HTTPHeaders")),
        error_code=str(code) if code else None,
    )

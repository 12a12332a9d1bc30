"""Checks what a rule's `match` says: the specification's selectors, ours, and how they combine.

An unknown selector or a value that is wrong rejects the rule; neither is ever left out, for that would widen it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from agrajag.core.body_patterns import MAX_PATTERN, BadPattern, BodyPattern
from agrajag.core.checked_values import (
    Rejected,
    code,
    flag,
    name,
    one_or_more,
    text,
    texts,
    whole_number,
    word,
)
from agrajag.core.conditions import (
    BodyMatches,
    Condition,
    CredentialIs,
    ErrorCodes,
    Family,
    GrpcStatus,
    HeaderIs,
    NoSuccess,
    RpcCode,
    SqlState,
    StatusIs,
    TargetIs,
    ToolName,
    TransportIs,
)
from agrajag.core.json_paths import MAX_STEPS, Path, parse_path
from agrajag.core.protocol_codes import GRPC_STATUSES, grpc_name
from agrajag.core.selectors import AllOf, AnyOf, NotThese, Selectors
from agrajag.core.shown import field_name, shown
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport

MAX_DEPTH = 5
MAX_BRANCHES = 50
MAX_PATTERNS = 20
MAX_STARS = 4
_MAX_RPC_CODE = 2**31 - 1

_Word = TypeVar("_Word", bound=StrEnum)


def parse_match(given: object, *, of_pack: bool = False) -> Selectors:
    """The selectors of a rule. Raises Rejected.

    A rule `of_pack` never looks at a response with a status of success, unless it says `successBody: true`: what a pack
    knows by its words alone may stand in anything that a tool brings.
    """
    selectors = _selectors(given, "match", MAX_DEPTH, _Room())
    looks_at_success = of_pack is False
    if isinstance(given, Mapping) and "successBody" in given:
        looks_at_success = flag(given["successBody"], "match.successBody")
        if selectors == Selectors() and looks_at_success:
            raise Rejected("match.successBody", "stands alone: say too what the body has to show")
    return selectors if looks_at_success else _with(selectors, NoSuccess())


class _Room:
    """How many sets of selectors one rule may still hold."""

    def __init__(self) -> None:
        self.left = MAX_BRANCHES

    def take(self, where: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise Rejected(where, f"a rule combines at most {MAX_BRANCHES} sets of selectors")


def _selectors(given: object, where: str, depth: int, room: _Room) -> Selectors:
    if not isinstance(given, Mapping):
        raise Rejected(where, "must be a mapping; {} matches everything")
    selectors = Selectors()
    for selector, value in given.items():
        at = f"{where}.{field_name(selector)}"
        if selector in _COMBINED:
            selectors = _with(selectors, _combined(selector, value, at, depth - 1, room))
        elif isinstance(selector, str) and selector in _READERS:
            selectors = _READERS[selector](selectors, value, at)
        elif selector != "successBody" or where != "match":
            raise Rejected(at, f"unknown selector; known are {', '.join(SELECTORS)}")
    return selectors


def _combined(selector: str, value: object, where: str, depth: int, room: _Room) -> Condition:
    if depth < 0:
        raise Rejected(where, f"is nested more than {MAX_DEPTH} deep")
    if selector == "not":
        return NotThese(_branch(value, where, depth, room))
    if not isinstance(value, list) or not value:
        raise Rejected(where, "must be a list of at least one mapping of selectors")
    branches = tuple(_branch(entry, f"{where}[{n}]", depth, room) for n, entry in enumerate(value))
    return AnyOf(branches) if selector == "any" else AllOf(branches)


def _branch(given: object, where: str, depth: int, room: _Room) -> Selectors:
    room.take(where)
    selectors = _selectors(given, where, depth, room)
    if selectors == Selectors():
        raise Rejected(where, "must say something: {} fits everything")
    return selectors


def _with(selectors: Selectors, *conditions: Condition) -> Selectors:
    return replace(selectors, conditions=(*selectors.conditions, *conditions))


def _http_status(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, list):
        status = _status(value, where)
        return _statuses(selectors, (status, status), where)
    return _with(selectors, StatusIs(one_or_more(value, where, _status)))


def _http_status_range(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, list) or len(value) != 2:
        raise Rejected(where, "must be a list of two statuses, such as [500, 599]")
    low, high = _status(value[0], where), _status(value[1], where)
    if low > high:
        raise Rejected(where, f"{low} is above {high}")
    return _statuses(selectors, (low, high), where)


def _statuses(selectors: Selectors, statuses: tuple[int, int], where: str) -> Selectors:
    known = selectors.http_statuses
    if known is None:
        return replace(selectors, http_statuses=statuses)
    both = (max(known[0], statuses[0]), min(known[1], statuses[1]))
    if both[0] > both[1]:
        raise Rejected(where, "httpStatus and httpStatusRange exclude each other: the rule can never match")
    return replace(selectors, http_statuses=both)


def _status(value: object, where: str) -> int:
    return whole_number(value, where, "HTTP status", 100, 999)


def _exception_type(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, exception_types=tuple(map(_class_name, texts(value, where))))


def _class_name(written: str) -> str:
    """`*.ReadTimeout` is the class whatever its package; `*.exceptions.ReadTimeout` stays the end of a longer name."""
    end = written.removeprefix("*.")
    return end if end and "." not in end else written


def _body_contains(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, body_contains=tuple(one.lower() for one in texts(value, where)))


def _error_code(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, error_code=code(value, where))


def _error_codes(value: object, where: str) -> Condition:
    if not isinstance(value, Mapping):
        return ErrorCodes(one_or_more(value, where, code))
    if unknown := [key for key in value if key not in ("in", "at")]:
        raise Rejected(f"{where}.{field_name(unknown[0])}", "unknown field; known are in, at")
    if "in" not in value:
        raise Rejected(f"{where}.in", "is required")
    values = one_or_more(value["in"], f"{where}.in", code)
    paths = one_or_more(value["at"], f"{where}.at", _path) if "at" in value else ()
    return ErrorCodes(values, paths)


def _path(value: object, where: str) -> Path:
    path = parse_path(name(value, where))
    if path is None:
        reason = f"of at most {MAX_STEPS} steps, such as error.errors[].reason or [0].errorCode"
        raise Rejected(where, f"{shown(value)} is no path {reason}")
    return path


def _rpc_code(value: object, where: str) -> Condition:
    return RpcCode(
        one_or_more(
            value,
            where,
            lambda one, at: whole_number(one, at, "JSON-RPC code", -_MAX_RPC_CODE, _MAX_RPC_CODE),
        )
    )


def _grpc_status(value: object, where: str) -> Condition:
    return GrpcStatus(one_or_more(value, where, _grpc_name))


def _grpc_name(value: object, where: str) -> str:
    found = grpc_name(code(value, where))
    if found is None:
        raise Rejected(where, f"{shown(value)} is none of {', '.join(GRPC_STATUSES)}, nor the number of one")
    return found


def _sql_state(value: object, where: str) -> Condition:
    return SqlState(one_or_more(value, where, _sql_state_name))


def _sql_state_name(value: object, where: str) -> str:
    written = code(value, where).upper()
    end = written[2:]
    if not (
        written.isascii() and written[:2].isalnum() and (end == "*" or (end.isalnum() and len(end) == 3))
    ):
        raise Rejected(where, f"{shown(value)} is no SQLSTATE such as 40P01, nor a class of them such as 08*")
    return written


def _body_matches(value: object, where: str) -> Condition:
    patterns = one_or_more(value, where, pattern)
    if len(patterns) > MAX_PATTERNS:
        raise Rejected(where, f"has {len(patterns)} patterns; at most {MAX_PATTERNS} are allowed")
    return BodyMatches(patterns)


def pattern(value: object, where: str) -> BodyPattern:
    """A pattern on the text of an error. Raises Rejected."""
    try:
        return BodyPattern(text(value, where, MAX_PATTERN))
    except BadPattern as bad:
        raise Rejected(where, f"{shown(value)} {bad}") from None


def _headers(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, Mapping) or not value:
        raise Rejected(where, "must be a mapping of header names, such as {retry-after: present}")
    headers = [_header(key, wanted, where) for key, wanted in value.items()]
    if len({header.name for header in headers}) < len(headers):
        raise Rejected(where, "names a header twice")
    return _with(selectors, *headers)


def _header(key: object, wanted: object, where: str) -> HeaderIs:
    header = name(key, where).strip().lower()
    at = f"{where}.{field_name(key)}"
    if isinstance(wanted, Mapping):
        if list(wanted) != ["contains"]:
            raise Rejected(at, "must be present, absent, a text, or {contains: a text}")
        return HeaderIs(header, contains=text(wanted["contains"], at).lower())
    if wanted in ("present", "absent"):
        return HeaderIs(header, is_absent=wanted == "absent")
    return HeaderIs(header, text=code(wanted, at).strip().lower())


def _glob(value: object, where: str) -> str:
    written = name(value, where).lower()
    if written.count("*") > MAX_STARS:
        raise Rejected(where, f"{shown(value)} has more than {MAX_STARS} stars")
    if not written.strip("*?"):
        raise Rejected(where, f"{shown(value)} fits every name")
    return written


def _one_of(
    build: Callable[[tuple[_Word, ...]], Condition], words: Iterable[_Word]
) -> Callable[[object, str], Condition]:
    allowed = list(words)
    return lambda value, where: build(one_or_more(value, where, lambda one, at: word(one, at, allowed)))


_CONDITIONS: dict[str, Callable[[object, str], Condition]] = {
    "errorCodes": _error_codes,
    "rpcCode": _rpc_code,
    "grpcStatus": _grpc_status,
    "sqlState": _sql_state,
    "bodyMatches": _body_matches,
    "toolName": lambda value, where: ToolName(one_or_more(value, where, _glob)),
    "family": lambda value, where: Family(one_or_more(value, where, _glob)),
    "transport": _one_of(TransportIs, Transport),
    "credentialKind": _one_of(CredentialIs, CredentialKind),
    "targetKind": _one_of(TargetIs, CallTargetKind),
}


def _adding(read: Callable[[object, str], Condition]) -> Callable[[Selectors, object, str], Selectors]:
    return lambda selectors, value, where: _with(selectors, read(value, where))


_READERS: dict[str, Callable[[Selectors, object, str], Selectors]] = {
    "httpStatus": _http_status,
    "httpStatusRange": _http_status_range,
    "exceptionType": _exception_type,
    "bodyContains": _body_contains,
    "errorCode": _error_code,
    "headers": _headers,
    **{selector: _adding(read) for selector, read in _CONDITIONS.items()},
}
_COMBINED = ("any", "all", "not")
SELECTORS = (*_READERS, "successBody", *_COMBINED)
"""The names of all selectors."""

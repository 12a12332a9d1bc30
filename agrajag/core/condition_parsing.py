"""Checks the selectors of rules beyond the specification's, one by one: a value of a rule file in, a condition out."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from agrajag.core.body_patterns import MAX_PATTERN, BadPattern, BodyPattern
from agrajag.core.call_conditions import CredentialIs, Family, TargetIs, ToolName, TransportIs
from agrajag.core.checked_values import Rejected, code, name, one_or_more, text, whole_number, word
from agrajag.core.code_conditions import ErrorCodes, GrpcStatus, RpcCode, SqlState
from agrajag.core.condition import Condition
from agrajag.core.json_paths import MAX_STEPS, Path, parse_path
from agrajag.core.protocol_codes import GRPC_STATUSES, grpc_name
from agrajag.core.response_conditions import BodyMatches, HeaderIs
from agrajag.core.shown import field_name, shown
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport

MAX_PATTERNS = 20
MAX_STARS = 4
_MAX_RPC_CODE = 2**31 - 1

_Word = TypeVar("_Word", bound=StrEnum)


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


def header_conditions(value: object, where: str) -> list[HeaderIs]:
    """One condition for each header that is named. Raises Rejected."""
    if not isinstance(value, Mapping) or not value:
        raise Rejected(where, "must be a mapping of header names, such as {retry-after: present}")
    headers = [_header(key, wanted, where) for key, wanted in value.items()]
    if len({header.name for header in headers}) < len(headers):
        raise Rejected(where, "names a header twice")
    return headers


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


CONDITIONS: Mapping[str, Callable[[object, str], Condition]] = {
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
"""By the name of the selector, what reads its value. Each raises Rejected."""

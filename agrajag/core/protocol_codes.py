"""Reads the codes by which protocols name failures: JSON-RPC errors, gRPC statuses, SQLSTATEs.

Each is read where its protocol puts it, and from text only in the forms that its libraries print. A bare number or a
bare word is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agrajag.core.json_paths import value_text

GRPC_STATUSES = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
    "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""By their numbers."""
_GRPC_BY_WORD = {name.replace("_", ""): name for name in GRPC_STATUSES} | {"CANCELED": "CANCELLED"}
_NONE: frozenset[str] = frozenset()
_GRPC_TEXT = re.compile(
    r"statuscode\.([a-z_]{2,20})\b|statuscode=\"([a-z]{2,20})\"|\brpc error: code = ([a-z]{2,20})\b"
    r"|\bstatusruntimeexception: ([a-z_]{2,20})\b|\bgrpc-status['\"]?[:=] ?['\"]?(\d{1,2})\b",
    re.ASCII,
)
_GRPC_FIRST = re.compile(r"(?:error: )?(\d{1,2}) ([a-z_]{2,20}): ", re.ASCII)
_RPC_TEXT = re.compile(
    r"\b(?:mcp|json-?rpc) error:? ?\(?(?:code[:=]? ?)?(-?\d{1,6})\b(?!\.\d)|\"code\" ?: ?(-32\d{3})\b(?!\.\d)",
    re.ASCII,
)
_RPC_RESERVED = range(32_000, 32_769)
_SQL_TEXT = re.compile(r"\bsql[ _]?state\b['\"]?[ ]?[:=(\[]{0,2}[ ]?['\"]?([0-9a-z]{5})\b", re.ASCII)
_SQL_STATE = re.compile(r"[0-9A-Z]{5}", re.ASCII)
_WORDS = ("rpc", "mcp error", "-32", "statuscode", "statusruntime", "sql")
_SQL_NAMES = ("sqlState", "sqlstate", "SQLState", "SQLSTATE", "sql_state")


def names_protocols(text: str) -> bool:
    """Whether text in lower case may state any of these codes; False is certain."""
    for word in _WORDS:  # a generator would cost more than all of it
        if word in text:
            return True
    is_first = _GRPC_FIRST.match
    return is_first(text) is not None or is_first(text, text.find("\n") + 1) is not None


def grpc_name(value: str) -> str | None:
    """The name of a gRPC status that is given as its name, in any spelling, or as its number."""
    if value.isascii() and value.isdigit():
        return GRPC_STATUSES[int(value)] if len(value) <= 2 and int(value) < len(GRPC_STATUSES) else None
    return _GRPC_BY_WORD.get(value.replace("_", "").upper())


def grpc_statuses(
    header: str | None, own_code: str | None, names: Iterable[str], text: str, bodies: Iterable[Any]
) -> frozenset[str]:
    """The names of the gRPC statuses that an error states.

    `text` in lower case. The reporter's own code counts where an exception says that it is about RPCs.
    """
    found = {header.strip()} if header else set()
    if own_code and any("rpc" in name.lower() for name in names):
        found.add(own_code)
    for body in bodies:
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, dict) and isinstance(error.get("status"), str) and error["status"].isupper():
            found.add(error["status"])
    for begin in (0, text.find("\n") + 1):  # of the message, and of the body
        first = _GRPC_FIRST.match(text, begin)
        if first is not None and grpc_name(first[1]) == grpc_name(first[2]):
            found.add(first[2])
    if "statuscode" in text or "rpc" in text or "statusruntime" in text:
        found.update(one[one.lastindex or 0] for one in _GRPC_TEXT.finditer(text))
    return frozenset(name for name in map(grpc_name, found) if name is not None) if found else _NONE


def rpc_codes(own_code: str | None, text: str, bodies: Iterable[Any]) -> frozenset[int]:
    """The codes of JSON-RPC errors that an error states.

    `text` in lower case. The reporter's own code counts where it is in the range that JSON-RPC reserves, whatever its
    sign, for some servers lose it.
    """
    found = set()
    if own_code is not None and re.fullmatch(r"-?\d{5}", own_code, re.ASCII):
        code = int(own_code)
        if abs(code) in _RPC_RESERVED:
            found.add(code)
    for body in bodies:
        error = body.get("error") if isinstance(body, dict) and "jsonrpc" in body else None
        stated = error.get("code") if isinstance(error, dict) else None
        if isinstance(stated, int) and not isinstance(stated, bool) and stated.bit_length() <= 32:
            found.add(stated)
    if "rpc error" in text or "mcp error" in text or "-32" in text:
        found.update(int(one[1] or one[2]) for one in _RPC_TEXT.finditer(text))
    return frozenset(found)


def sql_states(own_code: str | None, *, over_http: bool, text: str, bodies: Iterable[Any]) -> frozenset[str]:
    """The SQLSTATEs that an error states, each also as its class with a star: `08006` and `08*`.

    `text` in lower case. The reporter's own code counts where it has the form and did not come over HTTP: drivers
    report an SQLSTATE so, and vendors other codes of five digits.
    """
    stated = {own_code} if own_code and not over_http else set()
    for body in bodies:
        stated.update(_sql_fields(body))
        stated.update(_sql_fields(body.get("error")) if isinstance(body, dict) else ())
    if "sql" in text:
        stated.update(one[1].upper() for one in _SQL_TEXT.finditer(text))
    states = {state for state in stated if _SQL_STATE.fullmatch(state)}
    return frozenset(states | {f"{state[:2]}*" for state in states})


def _sql_fields(data: Any) -> Iterator[str]:
    if isinstance(data, Mapping):
        found = (value_text(data.get(name)) for name in _SQL_NAMES)
        yield from (value for value in found if value is not None)

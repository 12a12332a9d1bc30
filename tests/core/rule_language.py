"""Any rule of the whole language and any event, and what it means for the one to match the other, read aloud."""

import fnmatch
import re
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from agrajag.core.body_patterns import BodyPattern
from agrajag.core.call_conditions import CredentialIs, Family, TargetIs, ToolName, TransportIs
from agrajag.core.code_conditions import ErrorCodes, GrpcStatus, RpcCode, SqlState
from agrajag.core.condition import Condition
from agrajag.core.features import Features
from agrajag.core.json_paths import parse_path
from agrajag.core.response_conditions import BodyMatches, HeaderIs, NoSuccess, StatusIs
from agrajag.core.selectors import AllOf, AnyOf, NotThese, Selectors
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport
from tests.builders import an_error

WORDS = ["ab", "b", "abc", "not found", "e", "zz", "a\nb", "ı"]
_STATUSES = st.sampled_from([200, 401, 403, 429, 500, 503, 599])
_CLASSES = ["ToolException", "java.net.ConnectException", "x.Other", "Other"]
_ENDS = ["*.net.ConnectException", "*.x.Other"]
_CODES = ["42", "quota", "E1", "-32602", "08006", "UNAVAILABLE"]
_PATTERNS = ["a[0-9]?b", "not (found|there)", "abc|zz[a-z]", "^e", "e$", r"try again in (\d+)s", "(?i)QUOTA"]
_PATHS = ["error", "error.code", "code", "[].errorCode", "[0].errorCode", "errors[].extensions.code"]
_HEADERS = {"retry-after": "30", "Content-Type": "text/HTML", "grpc-status": "14", "x-remaining": "0"}
_NAMES = ["slack", "slack*", "git?ub", "search", "*a*c*"]


def _some(values: list[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(tuple)


def _paths(written: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(parse_path(path) for path in written)


_CONDITIONS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(StatusIs, _some([200, 401, 403, 429, 503])),
    st.builds(ErrorCodes, _some(_CODES), st.just(()) | _some(_PATHS).map(_paths)),
    st.builds(RpcCode, _some([-32602, -32000, 42])),
    st.builds(GrpcStatus, _some(["UNAVAILABLE", "NOT_FOUND"])),
    st.builds(SqlState, _some(["08006", "08*", "40P01"])),
    st.builds(BodyMatches, _some([BodyPattern(text) for text in _PATTERNS])),
    st.builds(HeaderIs, st.sampled_from(["retry-after", "content-type", "x-other"]), st.booleans()),
    st.builds(HeaderIs, st.sampled_from(["retry-after", "x-remaining"]), text=st.sampled_from(["30", "0"])),
    st.builds(HeaderIs, st.just("content-type"), contains=st.sampled_from(["html", "json"])),
    st.builds(ToolName, _some(_NAMES)),
    st.builds(Family, _some(_NAMES)),
    st.builds(TransportIs, _some(list(Transport))),
    st.builds(CredentialIs, _some(list(CredentialKind))),
    st.builds(TargetIs, _some(list(CallTargetKind))),
)


def _selectors(conditions: st.SearchStrategy[Condition], least: int = 0) -> st.SearchStrategy[Selectors]:
    """Selectors as a rule file can say them: each once."""
    return st.builds(
        Selectors,
        http_statuses=st.none() | st.tuples(_STATUSES, _STATUSES).map(lambda two: (min(two), max(two))),
        exception_types=st.just(()) | _some([*_CLASSES, *_ENDS]),
        body_contains=st.just(()) | _some(WORDS),
        error_code=st.none() | st.sampled_from(_CODES),
        conditions=st.lists(conditions, min_size=least, max_size=2, unique_by=_selector).map(tuple),
    )


def _selector(condition: Condition) -> str:
    return condition.selector


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    sets = _selectors(inner, least=1) | st.builds(Selectors, body_contains=_some(WORDS))
    branches = st.lists(sets, min_size=1, max_size=3).map(tuple)
    return st.builds(AnyOf, branches) | st.builds(AllOf, branches) | st.builds(NotThese, sets)


CONDITIONS = st.recursive(_CONDITIONS, _combined, max_leaves=6)
SELECTORS = st.builds(
    lambda selectors, own, unquoted: replace(
        selectors,
        conditions=selectors.conditions + own,
        unquoted=unquoted and bool(selectors.body_contains),
    ),
    _selectors(CONDITIONS),
    st.just(()) | st.just((NoSuccess(),)),
    st.booleans(),
)
_BODIES = [
    '{"error": {"code": 42}}', '{"error": "quota"}', '[{"errorCode": "E1"}]', 'MCP error: {"code": "quota"}',
    '{"jsonrpc": "2.0", "error": {"code": -32602}}', '{"errors": [{"extensions": {"code": "E1"}}]}',
    "MCP error -32000: gone", "14 UNAVAILABLE: no", "rpc error: code = NotFound desc = x", "(SQLSTATE 40P01)",
    "ABC", "Not Found", "", "İ", "ſ", "HTTP 401", "try again in 5s", "zzz", "not there",
    "no page 'quota abc' not there", '{"message": "no \\"not found\\" here"}',
]  # fmt: skip
EVENTS = st.builds(
    an_error,
    http_status=st.none() | _STATUSES,
    exception_type=st.none() | st.sampled_from([*_CLASSES, "ConnectionRefusedError"]),
    exception_chain=st.lists(st.sampled_from(_CLASSES), max_size=2).map(tuple),
    message=st.none() | st.lists(st.sampled_from([*WORDS, "HTTP 503", " "]), max_size=3).map("".join),
    body=st.none() | st.sampled_from(_BODIES),
    error_code=st.none() | st.sampled_from(_CODES),
    headers=st.lists(st.sampled_from(list(_HEADERS)), max_size=3).map(
        lambda names: {name: _HEADERS[name] for name in names}
    ),
    tool_name=st.sampled_from(["search", "SLACK_post"]),
    tool_family=st.none() | st.sampled_from(["Slack", "github"]),
    transport=st.none() | st.sampled_from(list(Transport)),
    credential_kind=st.none() | st.sampled_from(list(CredentialKind)),
    target_kind=st.none() | st.sampled_from(list(CallTargetKind)),
)


def fits(wanted: Selectors, features: Features) -> bool:
    """Every given selector fits."""
    if wanted.unquoted:
        plain = replace(wanted, unquoted=False)
        return fits(plain, features) and fits(plain, features.unquoted)
    if wanted.http_statuses is not None:
        low, high = wanted.http_statuses
        if features.http_status is None or not low <= features.http_status <= high:
            return False
    names = features.exception_names
    if wanted.exception_types and not any(
        any(name.endswith(one[1:]) for name in names) if one[:2] == "*." else one in names
        for one in wanted.exception_types
    ):
        return False
    if wanted.body_contains and not any(part in features.text for part in wanted.body_contains):
        return False
    if wanted.error_code is not None and wanted.error_code not in features.error_codes:
        return False
    return all(_condition_fits(condition, features) for condition in wanted.conditions)


def _condition_fits(condition: Condition, features: Features) -> bool:
    match condition:
        case AnyOf(branches):
            return any(fits(branch, features) for branch in branches)
        case AllOf(branches):
            return all(fits(branch, features) for branch in branches)
        case NotThese(inner):
            return not fits(inner, features)
        case BodyMatches(patterns):
            text = features.text.replace("ſ", "?")
            return any(re.search(pattern.text, text, re.IGNORECASE | re.MULTILINE) for pattern in patterns)
        case ToolName(values):
            return any(fnmatch.fnmatchcase(features.event.tool_name.lower(), glob) for glob in values)
        case Family(values):
            family = (features.event.tool_family or "").lower()
            return bool(family) and any(fnmatch.fnmatchcase(family, glob) for glob in values)
        case _:
            return condition.holds(features)

"""The selectors that are ours: what each fits, and what is refused, with field and reason."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.match_parsing import MAX_BRANCHES, MAX_DEPTH
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Selectors
from agrajag.model.enums import CallTargetKind, CredentialKind, Transport
from agrajag.model.events import ToolCallError
from tests.builders import an_error, features_of
from tests.core.rule_language import EVENTS


def _layer(match: object, **options: Any) -> Layer:
    entry = {"id": "r", "match": match, "signature": "r", "classification": "UNCLEAR"}
    return parse_layer({"patterns": [entry]}, "rules.yaml", **options)


def _fits(match: object, features: Features, **options: Any) -> bool:
    layer = _layer(match, **options)
    assert layer.problems == ()
    return RuleSet(layer.rules).first_match(features) is not None


_NESTED = '{"error": {"errors": [{"reason": "quotaExceeded"}]}}'
_JSON_AFTER_TEXT = 'Error: 429\n{"error": {"code": "RATE_LIMITED"}}'
_FITTING: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"httpStatus": [401, 403]}, {"http_status": 403}, {"http_status": 402}),
    ({"httpStatus": 999}, {"message": "failed with status code 999"}, {"message": "999"}),
    ({"exceptionType": ["*.ReadTimeout"]}, {"exception_type": "x.y.ReadTimeout"}, {"exception_type": "x.Timeout"}),
    ({"exceptionType": ["*.y.Z"]}, {"exception_chain": ("x.y.Z",)}, {"exception_type": "x.Z"}),
    ({"exceptionType": ["javax.net.ssl.SSLHandshakeException"]}, {"exception_type": "CERT_HAS_EXPIRED"}, {}),
    ({"exceptionType": ["java.net.SocketException"]}, {"exception_type": "ECONNRESET"}, {"exception_type": "E"}),
    ({"errorCodes": ["a", 42]}, {"body": '{"code": 42}'}, {"body": '{"data": 42}'}),
    ({"errorCodes": 42}, {"error_code": "42"}, {"error_code": "421"}),
    ({"errorCodes": ["quotaExceeded"]}, {"body": _NESTED}, {"body": "quotaExceeded"}),
    ({"errorCodes": ["RATE_LIMITED"]}, {"body": _JSON_AFTER_TEXT}, {"body": _JSON_AFTER_TEXT + "x"}),
    ({"errorCodes": {"in": ["x"], "at": ["a.b"]}}, {"body": '{"a": {"b": "x"}}'}, {"body": '{"code": "x"}'}),
    ({"errorCodes": {"in": ["x"], "at": "a"}}, {"error_code": "x"}, {"error_code": "y", "body": '{"a": "z"}'}),
    ({"rpcCode": [-32602, -32600]}, {"message": "MCP error -32602: no"}, {"message": "MCP error -32603: no"}),
    ({"grpcStatus": [14, "not_found"]}, {"message": "StatusCode.NOT_FOUND"}, {"message": "StatusCode.OK"}),
    ({"sqlState": ["08*", "40P01"]}, {"message": "SQLSTATE 08006"}, {"message": "SQLSTATE 40P02"}),
    ({"bodyMatches": ["a+b", "c$"]}, {"body": "xxAAb"}, {"body": "cd"}),
    ({"headers": {"Retry-After": "present"}}, {"headers": {"retry-after": "1"}}, {}),
    ({"headers": {"a": "absent", "b": 0}}, {"headers": {"B": " 0 "}}, {"headers": {"A": "x", "B": "0"}}),
    ({"headers": {"a": {"contains": "HTML"}}}, {"headers": {"a": "text/html"}}, {"headers": {"a": "json"}}),
    ({"toolName": "Jira_*"}, {"tool_name": "jira_GET"}, {"tool_name": "get_jira_"}),
    ({"family": ["slack", "git?ub"]}, {"tool_family": "GitHub"}, {}),
    ({"transport": ["mcp", "process"]}, {"transport": Transport.MCP}, {"transport": Transport.HTTP}),
    ({"credentialKind": "shared"}, {"credential_kind": CredentialKind.SHARED}, {}),
    ({"credentialKind": "unknown"}, {}, {"credential_kind": CredentialKind.USER}),
    ({"targetKind": "fromCaller"}, {"target_kind": CallTargetKind.FROM_CALLER}, {}),
    ({"any": [{"httpStatus": 401}, {"bodyContains": ["x"]}]}, {"body": "x"}, {"body": "y"}),
    ({"all": [{"httpStatus": 401}, {"bodyContains": ["x"]}]}, {"body": "x", "http_status": 401}, {"body": "x"}),
    ({"httpStatus": 401, "not": {"bodyContains": ["x"]}}, {"http_status": 401}, {"http_status": 401, "body": "x"}),
    ({"bodyContains": ["x"], "successBody": True}, {"http_status": 200, "body": "x"}, {"http_status": 200}),
    ({"bodyContains": ["x"], "successBody": False}, {"body": "x"}, {"http_status": 200, "body": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("match", "fitting", "other"), _FITTING, ids=[str(match)[:60] for match, _, _ in _FITTING]
)
def test_a_selector_fits_what_it_says_and_nothing_else(
    match: dict[str, Any], fitting: dict[str, Any], other: dict[str, Any]
) -> None:
    assert _fits(match, features_of(**fitting))
    assert not _fits(match, features_of(**other))


def test_a_rule_of_a_pack_looks_at_a_response_of_success_only_where_it_says_so() -> None:
    page = features_of(http_status=200, body="rate limit exceeded")
    match = {"bodyContains": ["rate limit exceeded"]}
    assert _fits(match, page)
    assert not _fits(match, page, of_pack=True)
    assert _fits(match | {"successBody": True}, page, of_pack=True)
    assert _fits(match, features_of(body="rate limit exceeded"), of_pack=True)


@pytest.mark.parametrize(
    "words", [{"bodyContains": ["rate limit"]}, {"any": [{"bodyMatches": r"\brate limit\b"}]}]
)
def test_a_rule_of_a_pack_reads_what_is_quoted_only_where_it_says_so(words: dict[str, Any]) -> None:
    echo = features_of(body="no page 'rate limit' here")
    assert _fits(words, echo)
    assert not _fits(words | {"quotedText": False}, echo)
    assert not _fits(words, echo, of_pack=True)
    assert _fits(words | {"quotedText": True}, echo, of_pack=True)
    assert _fits(words, features_of(body="rate limit for 'page'"), of_pack=True)


_DEEP: dict[str, Any] = {"httpStatus": 401}
for _ in range(MAX_DEPTH + 1):
    _DEEP = {"not": _DEEP}
_CIRCLE: dict[str, Any] = {}
_CIRCLE["all"] = [_CIRCLE]


@pytest.mark.parametrize(
    ("match", "field", "reason"),
    [
        ({"httpStatus": []}, "match.httpStatus", "one value or a list"),
        ({"httpStatus": [401, "x"]}, "match.httpStatus", "is no HTTP status"),
        ({"errorCodes": []}, "match.errorCodes", "one value or a list"),
        ({"errorCodes": {"at": ["code"]}}, "match.errorCodes.in", "is required"),
        ({"errorCodes": {"in": ["a"], "of": ["b"]}}, "match.errorCodes.of", "unknown field"),
        ({"errorCodes": {"in": ["a"], "at": ["a..b"]}}, "match.errorCodes.at", "is no path"),
        ({"errorCodes": ["a\nb"]}, "match.errorCodes", "one line"),
        ({"errorCodes": [str(n) for n in range(501)]}, "match.errorCodes", "at most 500"),
        ({"rpcCode": "-32602"}, "match.rpcCode", "is no JSON-RPC code"),
        ({"grpcStatus": "BROKEN"}, "match.grpcStatus", "is none of OK"),
        ({"grpcStatus": 17}, "match.grpcStatus", "is none of OK"),
        ({"sqlState": "0800"}, "match.sqlState", "is no SQLSTATE"),
        ({"sqlState": "0*"}, "match.sqlState", "is no SQLSTATE"),
        ({"bodyMatches": ["("]}, "match.bodyMatches", "is no RE2 pattern"),
        ({"bodyMatches": ["x*"]}, "match.bodyMatches", "matches the empty text"),
        ({"bodyMatches": ["x" * 501]}, "match.bodyMatches", "501 characters"),
        ({"bodyMatches": [f"x{n}" for n in range(21)]}, "match.bodyMatches", "at most 20"),
        ({"headers": []}, "match.headers", "must be a mapping"),
        ({"headers": {"a": ["x"]}}, "match.headers.a", "is not a text"),
        ({"headers": {"a": {"contains": "x", "equals": "y"}}}, "match.headers.a", "must be present, absent"),
        ({"headers": {"A": "x", "a": "y"}}, "match.headers", "names a header twice"),
        ({"toolName": "*"}, "match.toolName", "fits every name"),
        ({"family": "a*b*c*d*e*"}, "match.family", "more than 4 stars"),
        ({"transport": "pigeon"}, "match.transport", "is none of http"),
        ({"any": []}, "match.any", "a list of at least one"),
        ({"any": {"httpStatus": 401}}, "match.any", "a list of at least one"),
        ({"any": [{}]}, "match.any[0]", "must say something"),
        ({"not": {}}, "match.not", "must say something"),
        ({"not": {"successBody": True}}, "match.not.successBody", "unknown selector"),
        ({"any": [{"colour": "red"}]}, "match.any[0].colour", "unknown selector"),
        ({"any": [{"httpStatus": 401}] * (MAX_BRANCHES + 1)}, f"match.any[{MAX_BRANCHES}]", "at most 50"),
        (_DEEP, "match" + ".not" * (MAX_DEPTH + 1), "nested more than 5 deep"),
        (_CIRCLE, "match" + ".all[0]" * MAX_DEPTH + ".all", "nested more than 5 deep"),
        ({"successBody": True}, "match.successBody", "stands alone"),
        ({"quotedText": False, "httpStatus": 401}, "match.quotedText", "says nothing without"),
        ({"quotedText": 1, "bodyContains": ["x"]}, "match.quotedText", "neither true nor false"),
        ({"any": [{"quotedText": False}]}, "match.any[0].quotedText", "unknown selector"),
        ({"successBody": "yes"}, "match.successBody", "neither true nor false"),
    ],
)  # fmt: skip
def test_a_selector_that_cannot_be_meant_rejects_the_rule(match: Any, field: str, reason: str) -> None:
    layer = _layer(match)
    assert layer.rules == ()
    assert layer.problems[0].field == field
    assert reason in layer.problems[0].reason


def _as_specified(match: Selectors, event: ToolCallError) -> bool:
    """The specification's five selectors, with nothing of ours but where a status and a class may be found."""
    features = Features(event)
    low, high = match.http_statuses or (0, 0)
    return (
        (
            match.http_statuses is None
            or (features.http_status is not None and low <= features.http_status <= high)
        )
        and (not match.exception_types or not features.exception_names.isdisjoint(match.exception_types))
        and (not match.body_contains or any(text in features.text for text in match.body_contains))
        and (match.error_code is None or match.error_code in features.error_codes)
    )


_SPECIFIED = st.fixed_dictionaries(
    {},
    optional={
        "httpStatus": st.sampled_from([401, 403, 429, 503]),
        "httpStatusRange": st.sampled_from([[400, 499], [400, 599]]),
        "exceptionType": st.lists(
            st.sampled_from(["ToolException", "java.net.ConnectException"]), min_size=1
        ),
        "bodyContains": st.lists(st.sampled_from(["ab", "Not Found", "quota"]), min_size=1),
        "errorCode": st.sampled_from(["42", 42, "quota"]),
    },
)


@given(st.lists(_SPECIFIED, min_size=1, max_size=8), EVENTS)
def test_a_file_in_the_specifications_language_always_decides_as_the_specification_says(
    matches: list[dict[str, Any]], event: ToolCallError
) -> None:
    entries = [
        {"id": f"r{number}", "match": match, "signature": "s", "classification": "UNCLEAR"}
        for number, match in enumerate(matches)
    ]
    layer = parse_layer({"patterns": entries}, "rules.yaml")
    assert all(rule.match.conditions == () for rule in layer.rules)
    expected = next((rule for rule in layer.rules if _as_specified(rule.match, event)), None)
    assert RuleSet(layer.rules).first_match(Features(event)) is expected


def test_what_the_report_says_of_the_call_is_read_from_its_record() -> None:
    event = an_error(tool_family="slack", target_kind=CallTargetKind.FROM_CALLER)
    read = ToolCallError.from_json(event.to_json())
    assert (read.tool_family, read.target_kind) == ("slack", CallTargetKind.FROM_CALLER)

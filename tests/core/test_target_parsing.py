"""Declarations of tools: every field, every mistake alone, and no address that can be read in two ways."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.origins import Origin
from agrajag.core.target_parsing import MAX_TOOLS, parse_targets
from agrajag.core.targets import (
    CredentialForm,
    CredentialRef,
    Credentials,
    Declared,
    HttpCall,
    KafkaCall,
    McpCall,
    SecretStore,
    SentAs,
    Target,
    TargetKind,
    Unprobed,
)

_HTTP: dict[str, Any] = {"url": "https://search.example.com/health"}
_SAFE: dict[str, Any] = {"safety": "SAFE_PROBE", "http": _HTTP}


def _declared(entry: object) -> Declared | None:
    layer = parse_targets({"tools": {"search": entry}}, "tools.yaml")
    assert layer.problems == ()
    return layer.declared("search")


def _target(**fields: object) -> Target:
    found = _declared({"safety": "SAFE_PROBE"} | fields)
    assert isinstance(found, Target)
    return found


def test_a_full_declaration_says_everything_about_a_probe() -> None:
    text = """
    tools:
      search:
        safety: SAFE_PROBE
        sampleInput: {q: ping, limit: 1}
        modelInput: {type: object, properties: {q: {type: string}}}
        allow: [https://other.example.com, "http://[::1]:8080/"]
        http:
          method: POST
          url: https://search.example.com:8443/query?x=1
          headers: {Accept: application/json}
          readOnlyCall: true
          okStatuses: [200, 404]
          redirects: true
        credentials:
          user: {vault: search}
          system: {env: SEARCH}
          sentAs: header:X-Api-Key
    """
    layer = parse_targets(yaml.safe_load(text), "tools.yaml")
    assert layer.problems == ()
    assert layer.declared("search") == Target(
        tool_name="search",
        source="tools.yaml",
        call=HttpCall(
            url="https://search.example.com:8443/query?x=1",
            method="POST",
            headers={"Accept": "application/json"},
            read_only_call=True,
            ok_statuses=frozenset({200, 404}),
            redirects=True,
        ),
        sample_input={"q": "ping", "limit": 1},
        model_input={"type": "object", "properties": {"q": {"type": "string"}}},
        origins=frozenset(
            {
                Origin("https", "search.example.com", 8443),
                Origin("https", "other.example.com", 443),
                Origin("http", "::1", 8080),
            }
        ),
        credentials=Credentials(
            user=CredentialRef(SecretStore.USER_VAULT, "search"),
            system=CredentialRef(SecretStore.ENVIRONMENT, "SEARCH"),
            sent_as=SentAs(CredentialForm.HEADER, "X-Api-Key"),
        ),
    )
    assert layer.declared("another") is None


def test_the_least_that_is_probed_is_a_get_without_credentials() -> None:
    target = _target(http=_HTTP)
    assert target.call == HttpCall("https://search.example.com/health")
    assert (dict(target.sample_input), target.model_input) == ({}, None)
    assert target.credentials == Credentials(None, None, SentAs(CredentialForm.BEARER))
    assert target.origins == {Origin("https", "search.example.com", 443)}


@pytest.mark.parametrize(
    ("form", "call", "kind", "origins"),
    [
        ({"mcp": {"url": "https://m.example.com/mcp", "tool": "find", "callTool": True}},
         McpCall("find", url="https://m.example.com/mcp", call_tool=True), TargetKind.MCP,
         {Origin("https", "m.example.com", 443)}),
        ({"mcp": {"command": ["/usr/bin/thing", "--stdio"], "tool": "find"}},
         McpCall("find", command=("/usr/bin/thing", "--stdio")), TargetKind.MCP, set()),
        ({"kafka": {"requestTopic": "tools.requests", "replyTopic": "tools.replies"}},
         KafkaCall("tools.requests", "tools.replies"), TargetKind.KAFKA, set()),
        ({"http": _HTTP}, HttpCall(_HTTP["url"]), TargetKind.HTTP, {Origin("https", "search.example.com", 443)}),
    ],
    ids=["MCP over HTTP", "MCP of a program", "Kafka", "HTTP"],
)  # fmt: skip
def test_a_tool_is_called_in_one_of_four_ways(form: Any, call: Any, kind: Any, origins: Any) -> None:
    target = _target(**form)
    assert (target.call, target.kind, target.origins) == (call, kind, origins)


@pytest.mark.parametrize("safety", [{}, {"safety": "MUTATING"}])
@pytest.mark.parametrize("form", [{}, {"http": _HTTP}])
def test_a_tool_that_nobody_vouches_for_is_never_probed(safety: Any, form: Any) -> None:
    assert _declared(safety | form) is Unprobed.NOT_SAFE


def test_a_program_is_given_its_credential_in_its_environment() -> None:
    target = _target(
        mcp={"command": ["/x"], "tool": "t"}, credentials={"user": {"vault": "x"}, "sentAs": "env:API_KEY"}
    )
    assert target.credentials.sent_as == SentAs(CredentialForm.ENVIRONMENT, "API_KEY")


def _http(**fields: object) -> dict[str, object]:
    return _SAFE | {"http": _HTTP | fields}


def _with(**fields: object) -> dict[str, object]:
    return _SAFE | fields


_MISTAKES: dict[str, tuple[object, str, str]] = {
    "nothing": (None, "", "valid dictionary"),
    "an unknown key": (_with(retries=3), "retries", "not permitted"),
    "an unknown safety": (_with(safety="safe_probe"), "safety", "SAFE_PROBE"),
    "safety as a flag": (_with(safety=True), "safety", "SAFE_PROBE"),
    "no call": ({"safety": "SAFE_PROBE"}, "", "exactly one of http, mcp and kafka"),
    "two calls": (_with(kafka={"requestTopic": "a", "replyTopic": "b"}), "", "exactly one of"),
    "a method that changes something": (_http(method="DELETE"), "http.method", "GET"),
    "a method in lower case": (_http(method="get"), "http.method", "GET"),
    "POST that nobody vouches for": (_http(method="POST"), "http", "readOnlyCall: true"),
    "a flag in words": (_http(readOnlyCall="yes"), "http.readOnlyCall", "boolean"),
    "an unknown key inside": (_http(timeout=3), "http.timeout", "not permitted"),
    "no address": (_with(http={"method": "GET"}), "http.url", "required"),
    "an address of another kind": (_http(url="file:///etc/passwd"), "http.url", "no http or https address"),
    "a user in the address": (_http(url="https://u:pw@example.com/"), "http.url", "without user"),
    "a credential in the address": (
        _http(url="https://example.com/?api_key=hunter2hunter2"), "http", "under credentials",
    ),
    "a credential among the headers": (
        _http(headers={"X-Api-Key": "hunter2hunter2"}), "http", "under credentials",
    ),
    "a header that is ours": (_http(headers={"Authorization": "x"}), "http", "not for a declaration"),
    "our flag": (_http(headers={"agrajag-probe": "x"}), "http", "not for a declaration"),
    "another host in a header": (_http(headers={"HOST": "internal"}), "http", "not for a declaration"),
    "a header with a line end": (_http(headers={"X": "a\r\nY: b"}), "http.headers.X", "pattern"),
    "a header name with a line end": (_http(headers={"X\n": "a"}), "http.headers.X", "pattern"),
    "a status that is none": (_http(okStatuses=[99]), "http.okStatuses.0", "100"),
    "no status at all": (_http(okStatuses=[]), "http.okStatuses", "at least 1"),
    "a sample that is no mapping": (_with(sampleInput=["x"]), "sampleInput", "no mapping"),
    "a sample that is no JSON": (_with(sampleInput={"x": object()}), "sampleInput", "no mapping"),
    "a sample with a number that is none": (_with(sampleInput={"x": float("nan")}), "sampleInput", "no mapping"),
    "a sample that is too large": (_with(sampleInput={"x": "y" * 2_048}), "sampleInput", "2,048 bytes"),
    "a sample that is no query": (_with(sampleInput={"x": {"y": 1}}), "", "no value of a query"),
    "a schema that is a flag": (_with(modelInput=True), "modelInput", "no JSON Schema"),
    "an allowed path": (_with(allow=["https://example.com/x"]), "", "allow lists origins"),
    "an allowed origin that no redirect leads to": (_with(allow=["https://example.com"]), "", "redirects: true"),
    "an allowed host without scheme": (_with(allow=["example.com"]), "allow.0", "no http or https address"),
    "MCP at two places": (
        {"safety": "SAFE_PROBE", "mcp": {"url": "https://e.com/", "command": ["/x"], "tool": "t"}},
        "mcp", "exactly one of url and command",
    ),
    "MCP nowhere": ({"safety": "SAFE_PROBE", "mcp": {"tool": "t"}}, "mcp", "exactly one of url and command"),
    "a program found by chance": (
        {"safety": "SAFE_PROBE", "mcp": {"command": ["thing"], "tool": "t"}}, "mcp", "whole path",
    ),
    "a topic that is none": (
        {"safety": "SAFE_PROBE", "kafka": {"requestTopic": "a b", "replyTopic": "c"}}, "kafka.requestTopic", "pattern",
    ),
    "one topic for both": (
        {"safety": "SAFE_PROBE", "kafka": {"requestTopic": "a", "replyTopic": "a"}}, "kafka", "two topics",
    ),
    "a user's credential without a name": (
        _with(credentials={"user": {}}), "credentials.user.vault", "required",
    ),
    "the system's credential in a vault": (
        _with(credentials={"system": {"vault": "x"}}), "credentials.system.vault", "not permitted",
    ),
    "a credential at two places": (
        _with(credentials={"system": {"file": "x", "env": "X"}}), "credentials.system", "exactly one of",
    ),
    "a variable of somebody else": (
        _with(credentials={"system": {"env": "path"}}), "credentials.system.env", "pattern",
    ),
    "a credential itself": (_with(credentials={"system": "hunter2"}), "credentials.system", "dictionary"),
    "a form that is none": (_with(credentials={"sentAs": "digest"}), "credentials.sentAs", "none of bearer"),
    "a header form without a name": (_with(credentials={"sentAs": "header:"}), "credentials.sentAs", "none of"),
    "a credential for a program in a header": (
        {"safety": "SAFE_PROBE", "mcp": {"command": ["/x"], "tool": "t"}, "credentials": {"system": {"file": "x"}}},
        "", "sentAs: env:<name>",
    ),
    "a credential in the environment of a server": (
        _with(credentials={"system": {"file": "x"}, "sentAs": "env:KEY"}), "", "sentAs: env:<name>",
    ),
    "a credential for a tool behind Kafka": (
        {
            "safety": "SAFE_PROBE", "kafka": {"requestTopic": "a", "replyTopic": "b"},
            "credentials": {"system": {"file": "x"}},
        },
        "", "its own service keeps",
    ),
    "a variable that loads code": (_with(credentials={"sentAs": "env:LD_PRELOAD"}), "credentials.sentAs", "none of"),
    "the search path as a variable": (_with(credentials={"sentAs": "env:Path"}), "credentials.sentAs", "none of"),
    "a variable of an interpreter": (_with(credentials={"sentAs": "env:PYTHONPATH"}), "credentials.sentAs", "none of"),
    "a name for bearer": (_with(credentials={"sentAs": "bearer:x"}), "credentials.sentAs", "none of"),
}  # fmt: skip


@pytest.mark.parametrize(("entry", "where", "told"), _MISTAKES.values(), ids=_MISTAKES.keys())
def test_a_mistake_breaks_its_tool_alone_and_is_told_with_file_tool_and_field(
    entry: object, where: str, told: str
) -> None:
    layer = parse_targets({"tools": {"search": entry, "other": _SAFE}}, "acme/tools.yaml")
    assert layer.declared("search") is Unprobed.BROKEN
    assert isinstance(layer.declared("other"), Target)
    (problem,) = layer.problems
    assert problem.source == "acme/tools.yaml"
    assert problem.field.strip("\n") == f"tools.search.{where}".rstrip(".") or where == "http.headers.X"
    assert told in problem.reason
    assert "hunter2" not in str(problem)
    assert len(str(problem)) < 600


def test_a_tool_with_many_mistakes_tells_some_of_them() -> None:
    layer = parse_targets({"tools": {"search": {f"x{n}": n for n in range(100)}}}, "s")
    assert (len(layer.problems), layer.declared("search")) == (5, Unprobed.BROKEN)


@pytest.mark.parametrize(
    "data",
    ["x", [], {}, {"tools": []}, {"tools": {}, "tool": {}}, {"tools": {str(n): {} for n in range(MAX_TOOLS + 1)}}],
    ids=["a text", "a list", "no tools", "a list of tools", "another field", "too many"],
)  # fmt: skip
def test_a_document_that_cannot_be_used_probes_no_tool(data: object) -> None:
    layer = parse_targets(data, "s")
    assert len(layer.problems) == 1
    assert layer.declared("whatever") is Unprobed.BROKEN


def test_an_empty_document_declares_nothing() -> None:
    assert parse_targets(None, "s").declared("search") is None


def test_names_that_are_no_text_are_problems_of_their_own() -> None:
    layer = parse_targets({"tools": {7: _SAFE, "": _SAFE, "ok": _SAFE}}, "s")
    assert [problem.field for problem in layer.problems] == ["tools.7", "tools.''"]
    assert set(layer.tools) == {"ok"}


_WORDS = [
    "safety",
    "http",
    "mcp",
    "kafka",
    "url",
    "method",
    "tool",
    "allow",
    "credentials",
    "system",
    "SAFE_PROBE",
]


_LEAF = st.sampled_from(
    [None, True, 7, "x", "GET", "SAFE_PROBE", "https://a.b/", [], ["https://a.b"], {}, _HTTP, 1.5]
)


@given(
    st.dictionaries(
        st.sampled_from(_WORDS),
        _LEAF | st.dictionaries(st.sampled_from(_WORDS), _LEAF, max_size=3),
        max_size=5,
    )
)
def test_whatever_a_declaration_holds_it_is_checked_without_raising(entry: dict[str, Any]) -> None:
    layer = parse_targets({"tools": {"search": entry}}, "s")
    assert (layer.declared("search") is Unprobed.BROKEN) == bool(layer.problems)


def test_aliases_that_explode_cost_no_more_than_their_text() -> None:
    text = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    )
    bomb = yaml.safe_load(text)["a29"]
    for field in ("sampleInput", "modelInput", "allow", "http"):
        layer = parse_targets({"tools": {"t": _SAFE | {field: {"x": bomb}}}}, "s")
        assert layer.declared("t") is Unprobed.BROKEN
        assert len(str(layer.problems[0])) < 600

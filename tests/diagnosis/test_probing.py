"""A probe from its request to its outcome: what refuses it, what it shows, and what of it nobody gets to see."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agrajag.core.match import RuleSet
from agrajag.core.targets import TargetKind
from agrajag.diagnosis.adapter import Secret
from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.probe import MAX_RAW_RESPONSE, ProbeOutcome, ProbeRefusal, ProbeRequest
from agrajag.diagnosis.probing import MIN_SECONDS
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.metrics import REGISTRY
from agrajag.model.enums import ProbeIdentity
from tests.builders import NOW, a_rule
from tests.diagnosis.probe_cases import (
    a_cascade,
    a_network,
    a_request,
    as_user,
    made,
    probes,
    search_at,
    tools_text,
)
from tests.diagnosis.tool_servers import ToolServer, answers, hangs, pours, trickles, wants_bearer

_TOKEN = "t0ken-of-nobody-in-particular"


# --- what a probe shows ---


async def test_a_tool_that_works_is_a_success_without_a_signature() -> None:
    async with ToolServer(answers(200, b'{"hits": 1}', Content_Type="application/json")) as server:
        found = await made(probes(search_at(server.url())))
        assert (found.success, found.status_code, found.error_signature) == (True, 200, None)
        assert (found.identity, found.had_credentials, found.at) == (ProbeIdentity.SYSTEM, False, NOW)
        assert 0 <= found.duration_ms < 5_000
        assert found.raw_response == 'content-type: application/json\nstatus: 200\nbody: {"hits": 1}'


@pytest.mark.parametrize(
    ("status", "body", "signature"),
    [
        (401, b"no", "http-401"), (401, b"expired_token", "http-401-expired"), (403, b"", "http-403"),
        (404, b"", "http-404"),
        (429, b"", "http-429"), (500, b"", "http-5xx"), (503, b"", "http-5xx"), (418, b"", "unclassified"),
    ],
)  # fmt: skip
async def test_a_failure_has_the_signature_that_layer_1_gives_it(
    status: int, body: bytes, signature: str
) -> None:
    async with ToolServer(answers(status, body)) as server:
        found = await made(probes(search_at(server.url())))
        assert (found.success, found.status_code, found.error_signature) == (False, status, signature)


async def test_the_rules_of_the_tenant_give_the_signature() -> None:
    own = RuleSet([a_rule(body_contains=("quota",), signature="own-quota")])
    async with ToolServer(answers(500, b"Quota exceeded")) as server:
        assert (await made(probes(search_at(server.url()), rules=own))).error_signature == "own-quota"
    async with ToolServer(answers(500, b"other")) as server:
        assert (await made(probes(search_at(server.url()), rules=own))).error_signature == "unmatched"


async def test_a_tool_that_cannot_be_reached_is_known_by_layer_1_as_such(tmp_path: Path) -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        return []

    refused = await made(probes(search_at("http://127.0.0.1:1/")))
    unknown = await made(probes(search_at("http://tool.example.com/"), network=a_network(nowhere)))
    assert [found.error_signature for found in (refused, unknown)] == ["connect-refused", "connect-refused"]
    assert [found.status_code for found in (refused, unknown)] == [None, None]
    async with ToolServer(answers(), tls=True) as server:
        untrusted = await made(probes(search_at(server.url())))
        assert (untrusted.success, untrusted.error_signature) == (False, "unclassified")
        assert "CERTIFICATE_VERIFY_FAILED" in untrusted.raw_response
    assert [found.unanswered for found in (refused, unknown, untrusted)] == [True] * 3


@pytest.mark.parametrize(
    ("behaviour", "status", "signature", "unanswered"),
    [
        (hangs(), None, "timeout", True),
        (trickles(), 200, "timeout", True),
        (trickles(404), 404, "http-404", False),
        (trickles(503), 503, "http-5xx", False),
    ],
    ids=["a hang", "a trickle", "a trickle of a refusal", "a trickle of an error"],
)
async def test_a_probe_ends_at_its_deadline(
    behaviour: Any, status: int | None, signature: str, unanswered: bool
) -> None:
    async with ToolServer(behaviour) as server:
        found = await made(probes(search_at(server.url())), seconds=MIN_SECONDS)
        assert (found.success, found.status_code, found.error_signature) == (False, status, signature)
        assert (found.duration_ms < 3_000, found.unanswered) == (True, unanswered)


async def test_of_a_long_response_the_beginning_is_shown() -> None:
    async with ToolServer(pours()) as server:
        found = await made(probes(search_at(server.url())))
        assert found.success
        assert len(found.raw_response) == MAX_RAW_RESPONSE
        assert found.raw_response.endswith("x…")


async def test_a_response_that_is_no_text_is_not_shown() -> None:
    async with ToolServer(answers(200, "password=hunter2".encode("utf-16"))) as server:
        found = await made(probes(search_at(server.url())))
        assert found.raw_response == "status: 200\nbody: [34 bytes that are no text]"


async def test_headers_that_tell_something_are_shown() -> None:
    behaviour = answers(429, b"slow down", Retry_After="30", X_Other="y", WWW_Authenticate="Bearer")
    async with ToolServer(behaviour) as server:
        found = await made(probes(search_at(server.url())))
        assert found.raw_response == (
            "retry-after: 30\nwww-authenticate: Bearer\nstatus: 429\nbody: slow down"
        )


# --- as whom ---


def _with_credentials(url: str, **credentials: Any) -> Cascade:
    return search_at(
        url, credentials={"user": {"vault": "search"}, "system": {"file": "search"}} | credentials
    )


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """Credentials of Alice and of the system."""
    for text, parts in (("of-alice", ("vault", "acme", "alice")), (_TOKEN, ("files", "acme"))):
        folder = tmp_path.joinpath(*parts)
        folder.mkdir(parents=True)
        (folder / "search").write_text(text)
    return tmp_path


async def test_each_identity_has_its_own_credential(secrets: Path) -> None:
    async with ToolServer(wants_bearer(_TOKEN, answers())) as server:
        prober = probes(_with_credentials(server.url()), directory=secrets)
        system, user = await made(prober), await made(prober, as_user())
        assert (system.success, system.had_credentials) == (True, True)
        assert (user.success, user.had_credentials, user.status_code) == (False, True, 401)
        assert [asked.headers["authorization"] for asked in server.asked] == [
            f"Bearer {_TOKEN}",
            "Bearer of-alice",
        ]


@pytest.mark.parametrize("declared", [{"user": {"vault": "search"}}, {"system": {"file": "other"}}, {}])
async def test_a_probe_says_whether_its_tool_is_declared_with_credentials(declared: Any) -> None:
    async with ToolServer(answers(404)) as server:
        request = as_user() if "system" in declared else a_request()
        found = await made(probes(search_at(server.url(), credentials=declared)), request)
        assert (found.had_credentials, found.takes_credentials) == (False, bool(declared))
        assert not found.unanswered


async def test_a_probe_for_which_no_credential_is_declared_says_that_it_had_none() -> None:
    async with ToolServer(wants_bearer(_TOKEN, answers())) as server:
        found = await made(probes(search_at(server.url())), as_user())
        assert (found.had_credentials, found.status_code) == (False, 401)


@pytest.mark.parametrize("request_", [as_user(user_id="bob"), a_request(tenant_id="acme", project_id=None)])
async def test_a_credential_that_is_declared_and_not_there_refuses_the_probe(
    request_: ProbeRequest, tmp_path: Path
) -> None:
    async with ToolServer(answers()) as server:
        prober = probes(_with_credentials(server.url()), directory=tmp_path)
        assert await prober.probe(request_, 5) is ProbeRefusal.CREDENTIAL_MISSING
        assert server.connections == 0


@pytest.mark.parametrize("user_id", [None, "_system"])
async def test_nobody_is_probed_as_where_there_is_no_user(user_id: str | None) -> None:
    async with ToolServer(answers()) as server:
        prober = probes(search_at(server.url()))
        assert await prober.probe(as_user(user_id=user_id), 5) is ProbeRefusal.NO_USER
        assert isinstance(await prober.probe(a_request(user_id=user_id), 5), ProbeOutcome)


async def test_the_systems_probe_never_uses_what_is_a_users(secrets: Path) -> None:
    async with ToolServer(answers()) as server:
        cascade = search_at(server.url(), credentials={"user": {"vault": "search"}})
        found = await made(probes(cascade, directory=secrets))
        assert not found.had_credentials
        assert "authorization" not in server.asked[0].headers


# --- what refuses it ---


def _at(project: str | None, text: str) -> tuple[DocumentName, str]:
    return DocumentName("acme", project, TOOLS_PATH), text


_UNSAFE = tools_text(search={"http": {"url": "http://127.0.0.1:1/"}})
_BROKEN = tools_text(search={"safety": "SAFE_PROBE", "http": {"url": "nowhere"}})


def _safe(url: str) -> str:
    return tools_text(search={"safety": "SAFE_PROBE", "http": {"url": url}}, other={"safety": "MUTATING"})


@pytest.mark.parametrize(
    ("narrow", "refusal"),
    [
        (_UNSAFE, ProbeRefusal.NOT_SAFE), (_BROKEN, ProbeRefusal.TARGET_BROKEN),
        ("tools: [", ProbeRefusal.TARGET_BROKEN),
        ("tools: {}", None), ("", None), (tools_text(another={}), None), (tools_text(another=7), None),
    ],
    ids=["not safe", "broken", "no YAML", "names none", "empty", "names another", "another is broken"],
)  # fmt: skip
async def test_the_narrowest_document_that_names_a_tool_speaks_for_it_and_is_never_replaced(
    narrow: str, refusal: ProbeRefusal | None
) -> None:
    async with ToolServer(answers()) as server:
        prober = probes(Cascade(dict([_at(None, _safe(server.url())), _at("essays", narrow)])))
        found = await prober.probe(a_request(), 5)
        assert (found if isinstance(found, ProbeRefusal) else None) == refusal
        assert isinstance(await prober.probe(a_request(project_id="another"), 5), ProbeOutcome)
        assert isinstance(await prober.probe(a_request(project_id=None), 5), ProbeOutcome)


async def test_a_tool_of_which_no_document_speaks_has_no_target() -> None:
    prober = probes(a_cascade(_safe("http://127.0.0.1:1/")))
    assert await prober.probe(a_request(tool_name="unheard-of"), 5) is ProbeRefusal.NO_TARGET
    assert await prober.probe(a_request(tenant_id="globex"), 5) is ProbeRefusal.NO_TARGET
    assert await prober.probe(a_request(tool_name="other"), 5) is ProbeRefusal.NOT_SAFE


async def test_a_kind_that_no_adapter_is_there_for_has_no_target() -> None:
    text = tools_text(search={"safety": "SAFE_PROBE", "kafka": {"requestTopic": "a", "replyTopic": "b"}})
    assert await probes(a_cascade(text)).probe(a_request(), 5) is ProbeRefusal.NO_TARGET


async def test_a_changed_declaration_counts_at_once() -> None:
    documents = [Cascade({})]
    prober = probes(lambda: documents[-1])
    assert await prober.probe(a_request(), 5) is ProbeRefusal.NO_TARGET
    async with ToolServer(answers()) as server:
        documents.append(search_at(server.url()))
        assert (await made(prober)).success


async def test_an_address_that_may_not_be_called_refuses_the_probe() -> None:
    async with ToolServer(answers()) as server:
        prober = probes(search_at(server.url()), network=a_network(rules=AddressRules()))
        assert await prober.probe(a_request(), 5) is ProbeRefusal.ADDRESS_REFUSED
        assert server.connections == 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, MIN_SECONDS / 2])
async def test_a_probe_without_time_is_notmade(seconds: float) -> None:
    async with ToolServer(answers()) as server:
        assert await probes(search_at(server.url())).probe(a_request(), seconds) is ProbeRefusal.LIMIT_REACHED
        assert server.connections == 0


class _SlowVault:
    """Finds a credential, in the end."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def find(self, tenant_id: str, user_id: str, name: str) -> Secret | None:
        await asyncio.sleep(self._seconds)
        return Secret("t0ken")


@pytest.mark.parametrize(
    ("seconds", "refusal"), [(30.0, ProbeRefusal.CREDENTIAL_MISSING), (0.4, ProbeRefusal.LIMIT_REACHED)]
)
async def test_a_vault_that_takes_the_time_of_a_probe_says_nothing_about_the_tool(
    seconds: float, refusal: ProbeRefusal
) -> None:
    async with ToolServer(answers()) as server:
        cascade = search_at(server.url(), credentials={"user": {"vault": "search"}})
        prober = probes(cascade, vault=_SlowVault(seconds))
        assert await prober.probe(as_user(), 0.6) is refusal
        assert server.connections == 0


# --- with what ---

_SCHEMA = {"type": "object", "properties": {"q": {"type": "string", "pattern": "^(a+)+$"}}, "required": ["q"]}


@pytest.mark.parametrize(
    ("schema", "own", "asked"),
    [
        (None, None, "q=ping"), (None, {"q": "rm"}, "q=ping"), (_SCHEMA, None, "q=ping"),
        (_SCHEMA, {"q": "aa"}, "q=aa"),
        (_SCHEMA, {"q": "rm"}, None), (_SCHEMA, {}, None), (_SCHEMA, {"q": 7}, None), ({}, {"q": "a" * 2_048}, None),
        ({}, {"q": object()}, None), ({}, {"q": {"x": 1}}, None), (_SCHEMA, {"q": "a" * 2_000 + "b"}, None),
    ],
)  # fmt: skip
async def test_a_models_own_sample_counts_only_where_a_schema_lets_it(
    schema: Any, own: Any, asked: str | None
) -> None:
    fields = {"sampleInput": {"q": "ping"}} | ({} if schema is None else {"modelInput": schema})
    async with ToolServer(answers()) as server:
        found = await probes(search_at(server.url("/find"), **fields)).probe(a_request(sample_input=own), 5)
        if asked is None:
            assert (found, server.connections) == (ProbeRefusal.SAMPLE_REFUSED, 0)
        else:
            assert isinstance(found, ProbeOutcome)
            assert server.asked[0].path == f"/find?{asked}"


@pytest.mark.parametrize(
    "schema", [{"type": "strin"}, {"$ref": "http://127.0.0.1:1/x"}, {"$ref": "file:///etc/passwd"}]
)
async def test_a_schema_that_cannot_be_used_makes_the_target_a_broken_one(schema: Any) -> None:
    prober = probes(search_at("http://127.0.0.1:1/", modelInput=schema))
    assert await prober.probe(a_request(sample_input={"q": "x"}), 5) is ProbeRefusal.TARGET_BROKEN


# --- what is counted ---


def _count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_every_probe_and_every_refusal_is_counted() -> None:
    names = [("worked", answers()), ("failed", answers(500)), ("timed_out", hangs())]
    for end, behaviour in names:
        labels = {"kind": "http", "identity": "user", "end": end}
        before = _count("agrajag_probes_total", **labels)
        spent = _count("agrajag_probe_seconds_count", kind="http")
        async with ToolServer(behaviour) as server:
            await made(probes(search_at(server.url())), as_user(), MIN_SECONDS)
        assert _count("agrajag_probes_total", **labels) == before + 1
        assert _count("agrajag_probe_seconds_count", kind="http") == spent + 1
    before = _count("agrajag_probe_refusals_total", reason="NO_TARGET")
    await probes(Cascade({})).probe(a_request(), 5)
    assert _count("agrajag_probe_refusals_total", reason="NO_TARGET") == before + 1
    assert _count("agrajag_probes_total", kind=TargetKind.KAFKA, identity="user", end="worked") == 0

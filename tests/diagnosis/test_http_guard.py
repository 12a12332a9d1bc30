"""Whom a probe by HTTP speaks to, and whom it gives a credential: declared origins and permitted addresses."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agrajag.core.targets import CredentialForm, Credentials, SentAs
from agrajag.diagnosis.adapter import PROBE_HEADER
from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.http_target import MAX_REDIRECTS
from agrajag.diagnosis.probe import ProbeRefusal
from tests.diagnosis.probe_cases import a_network, a_target, call_of, called
from tests.diagnosis.tool_servers import ToolServer, answers, redirects, wants_bearer


@pytest.mark.parametrize(
    ("rules", "addresses"),
    [
        (AddressRules(), ["127.0.0.1"]),
        (AddressRules(), ["8.8.8.8", "127.0.0.1"]),
        (AddressRules(private_addresses=True), ["169.254.169.254"]),
        (AddressRules(private_addresses=True), ["127.0.0.1", "::ffff:169.254.169.254"]),
        (AddressRules(private_addresses=True), ["fe80::1%lo"]),
    ],
)
async def test_a_name_that_leads_to_a_refused_address_is_refused_and_nothing_is_sent(
    rules: AddressRules, addresses: list[str]
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    async with ToolServer(answers()) as server:
        target = a_target(server.url(host="tool.example.com"))
        found = await call_of(target, network=a_network(resolve, rules))
        assert (found, server.connections) == (ProbeRefusal.ADDRESS_REFUSED, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1"])
async def test_a_private_address_in_the_declaration_is_refused_by_default(host: str) -> None:
    found = await call_of(a_target(f"http://{host}:9/"), network=a_network(rules=AddressRules()))
    assert found is ProbeRefusal.ADDRESS_REFUSED


async def test_the_metadata_service_is_refused_by_name_without_looking_it_up() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise AssertionError(host)

    found = await call_of(a_target("http://metadata.google.internal/"), network=a_network(resolve))
    assert found is ProbeRefusal.ADDRESS_REFUSED


async def test_a_host_is_looked_up_once_and_a_second_answer_leads_nowhere() -> None:
    answers_of_the_resolver = [["127.0.0.1"], ["169.254.169.254"]]

    async def rebinding(host: str, port: int) -> Sequence[str]:
        return answers_of_the_resolver.pop(0)

    async with ToolServer(answers()) as server:
        target = a_target(server.url(host="tool.example.com"))
        assert (await called(target, network=a_network(rebinding))).ok
        assert len(answers_of_the_resolver) == 1


async def test_a_name_that_changes_its_address_between_redirects_is_judged_again() -> None:
    answers_of_the_resolver = [["127.0.0.1"], ["169.254.169.254"]]

    async def rebinding(host: str, port: int) -> Sequence[str]:
        return answers_of_the_resolver.pop(0)

    async with ToolServer(redirects("/again")) as server:
        target = a_target(server.url(host="tool.example.com"))
        outcome = await called(target, network=a_network(rebinding))
        assert (outcome.ok, outcome.status) == (False, 302)
        assert str(outcome.exception_type).endswith("RedirectRefused")
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/", "http://[::ffff:169.254.169.254]/", "http://2852039166/",
        "http://0xa9fea9fe/", "http://0251.0376.0251.0376/", "http://169.254.43518/", "//169.254.169.254/",
        "http://metadata.google.internal/", "http://127.0.0.1:1/", "https://other.example.com/", "file:///etc/passwd",
        "gopher://127.0.0.1/", "http://①⑥⑨.254.169.254/", "http://a@127.0.0.1:1/", "http://[::1", "http://\x7f/",
        "\\\\h",
    ],
)  # fmt: skip
async def test_a_redirect_to_another_host_is_not_followed(location: str) -> None:
    async with ToolServer(redirects(location.encode().decode("latin-1"))) as server:
        outcome = await called(a_target(server.url()), secret="t0ken")
        assert not outcome.ok
        assert str(outcome.exception_type).rpartition(".")[2] in ("RedirectRefused", "RemoteProtocolError")
        assert {asked.headers["host"] for asked in server.asked} == {f"127.0.0.1:{server.port}"}


async def test_a_redirect_that_names_a_user_of_the_same_host_is_not_followed() -> None:
    async def behave(asked: Any, writer: asyncio.StreamWriter) -> None:
        await redirects(f"http://alice:pw@127.0.0.1:{server.port}/x")(asked, writer)

    server = ToolServer(behave)
    async with server:
        outcome = await called(a_target(server.url()))
        assert str(outcome.exception_type).endswith("RedirectRefused")
        assert len(server.asked) == 1
        assert "pw" not in str(outcome.message)


async def test_a_redirect_is_an_answer_like_any_other_where_none_is_declared_to_be_followed() -> None:
    async def wall(asked: Any, writer: asyncio.StreamWriter) -> None:
        page = answers(200, b"sign in") if asked.path == "/login" else redirects("/login")
        await page(asked, writer)

    async with ToolServer(wall) as server:
        outcome = await called(a_target(server.url("/health"), redirects=False))
        assert (outcome.ok, outcome.status, outcome.headers["location"]) == (False, 302, "/login")
        assert [asked.path for asked in server.asked] == ["/health"]


async def test_redirects_within_the_origin_are_followed_up_to_a_limit() -> None:
    async def once(asked: Any, writer: asyncio.StreamWriter) -> None:
        await (answers() if asked.path == "/new" else redirects("/new"))(asked, writer)

    async with ToolServer(once) as server:
        assert (await called(a_target(server.url("/old")), secret="t0ken")).ok
        assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer t0ken"] * 2
    async with ToolServer(redirects("/again")) as circling:
        outcome = await called(a_target(circling.url()))
        assert (outcome.ok, outcome.status) == (False, 302)
        assert str(outcome.exception_type).endswith("RedirectRefused")
        assert len(circling.asked) == MAX_REDIRECTS + 1


async def test_a_status_that_is_declared_a_success_is_not_followed() -> None:
    async with ToolServer(redirects("http://169.254.169.254/")) as server:
        assert (await called(a_target(server.url(), ok_statuses=frozenset({302})))).ok


@pytest.mark.parametrize(
    "sent_as", [SentAs(), SentAs(CredentialForm.HEADER, "X-Api-Key"), SentAs(CredentialForm.BASIC)]
)
async def test_a_credential_stays_with_its_origin_where_a_redirect_leads_to_an_allowed_one(
    sent_as: SentAs,
) -> None:
    async with ToolServer(answers(200, b"there")) as other, ToolServer(redirects(other.url("/x"))) as home:
        target = a_target(home.url(), other.url(), credentials=Credentials(sent_as=sent_as))
        outcome = await called(target, secret="user:t0ken")
        assert (outcome.ok, outcome.body) == (True, b"there")
        assert {"authorization", "x-api-key"} & home.asked[0].headers.keys()
        assert not {"authorization", "x-api-key"} & other.asked[0].headers.keys()
        assert other.asked[0].headers["host"] == f"127.0.0.1:{other.port}"
        assert other.asked[0].headers[PROBE_HEADER.lower()] == "probe-1"


@pytest.mark.parametrize(("status", "method"), [(303, "GET"), (302, "GET"), (307, "POST"), (308, "POST")])
async def test_a_body_goes_along_only_with_a_redirect_that_keeps_thecall_of(status: int, method: str) -> None:
    async def once(asked: Any, writer: asyncio.StreamWriter) -> None:
        await (answers() if asked.path == "/new" else redirects("/new", status))(asked, writer)

    async with ToolServer(once) as server:
        target = a_target(server.url("/old"), method="POST", read_only_call=True)
        assert (await called(target, sample={"q": 1})).ok
        last = server.asked[-1]
        assert (last.method, last.body) == (method, b'{"q":1}' if method == "POST" else b"")


# --- credentials ---


async def test_a_tool_that_wants_a_credential_tells_one_from_none() -> None:
    async with ToolServer(wants_bearer("t0ken", answers())) as server:
        target = a_target(server.url())
        assert (await called(target, secret="t0ken")).ok
        assert (await called(target)).status == 401
        assert (await called(target, secret="0ther")).status == 401


@pytest.mark.parametrize(
    ("sent_as", "secret", "header", "value"),
    [
        (SentAs(), "t0ken", "authorization", "Bearer t0ken"),
        (SentAs(CredentialForm.BASIC), "alice:pä:w", "authorization", "Basic YWxpY2U6cMOkOnc="),
        (SentAs(CredentialForm.HEADER, "X-Api-Key"), "k", "x-api-key", "k"),
    ],
)
async def test_a_credential_is_sent_in_the_declared_form(
    sent_as: SentAs, secret: str, header: str, value: str
) -> None:
    async with ToolServer(answers()) as server:
        await called(a_target(server.url(), credentials=Credentials(sent_as=sent_as)), secret=secret)
        assert server.asked[0].headers[header] == value


@pytest.mark.parametrize(
    ("form", "secret"),
    [
        (CredentialForm.BEARER, "a\r\nX-Evil: 1"), (CredentialForm.BEARER, "ключ"), (CredentialForm.BASIC, "no colon"),
        (CredentialForm.ENVIRONMENT, "x"),
    ],
)  # fmt: skip
async def test_a_credential_that_no_header_can_hold_is_as_good_as_none(
    form: CredentialForm, secret: str
) -> None:
    async with ToolServer(answers()) as server:
        target = a_target(server.url(), credentials=Credentials(sent_as=SentAs(form)))
        found = await call_of(target, secret=secret)
        assert (found, server.connections) == (ProbeRefusal.CREDENTIAL_MISSING, 0)

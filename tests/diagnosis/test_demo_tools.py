"""The demo's tools do what the demo says of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agrajag.core.targets import TargetKind
from agrajag.diagnosis.credentials import CredentialStore, FileVault
from agrajag.diagnosis.demo_tools import REVOKED_USERS, declarations, demo_tools, write_credentials
from agrajag.diagnosis.http_target import HttpAdapter
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.probing import Probes
from agrajag.diagnosis.targets import Targets
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.pack_files import packed_rules
from agrajag.documents.target_book import TargetBook, read_targets
from tests.builders import NOW
from tests.diagnosis.carrying import LOOPBACK
from tests.diagnosis.probe_cases import a_request, as_user, made

GUEST = "milliways-user-009"


@asynccontextmanager
async def probing(directory: Path) -> AsyncIterator[Probes]:
    """Probes of the demo's tools, which run meanwhile."""
    secrets, vault = directory / "secrets", directory / "vault"
    write_credentials(secrets, vault)
    rules = packed_rules()
    async with demo_tools() as address:
        texts = declarations(address)
        assert all(read_targets(text, tenant).problems == () for tenant, text in texts.items())
        cascade = Cascade({DocumentName(tenant, None, TOOLS_PATH): text for tenant, text in texts.items()})
        book = TargetBook(cascade)
        yield Probes(
            Targets(lambda: book),
            lambda _tenant, _project: rules,
            CredentialStore(directory=secrets, vault=FileVault(vault)),
            {TargetKind.HTTP: HttpAdapter(LOOPBACK), TargetKind.MCP: McpAdapter(LOOPBACK)},
            lambda: NOW,
        )


@pytest.mark.parametrize(
    ("tenant", "tool", "signature"),
    [
        ("milliways", "inventory_query", None),
        ("milliways", "table_booking", None),
        ("magrathea", "terrain_render", "http-5xx"),
        ("sirius", "ticket_search", "tool-exception"),
    ],
)
async def test_the_system_sees_each_tool_as_it_is(
    tmp_path: Path, tenant: str, tool: str, signature: str | None
) -> None:
    async with probing(tmp_path) as prober:
        outcome = await made(prober, a_request(tenant_id=tenant, tool_name=tool), 20.0)
    assert (outcome.success, outcome.error_signature) == (signature is None, signature)


@pytest.mark.parametrize(("user", "signature"), [(REVOKED_USERS[0], "http-401"), (GUEST, None)])
async def test_booking_refuses_the_tokens_of_some_users_alone(
    tmp_path: Path, user: str, signature: str | None
) -> None:
    request = as_user(tenant_id="milliways", tool_name="table_booking", user_id=user)
    async with probing(tmp_path) as prober:
        outcome = await made(prober, request, 20.0)
    assert (outcome.had_credentials, outcome.error_signature) == (True, signature)

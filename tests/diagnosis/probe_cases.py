"""Boring values for tests of probes: a target, a request, and probes over the real network of this machine."""

import json
import ssl
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from agrajag.core.match import RuleSet
from agrajag.core.origins import origin_of
from agrajag.core.targets import Credentials, HttpCall, Target, TargetKind
from agrajag.diagnosis.adapter import RawOutcome, Secret
from agrajag.diagnosis.addresses import AddressRules
from agrajag.diagnosis.credentials import CredentialStore, FileVault, UserVault
from agrajag.diagnosis.http_target import HttpAdapter
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.network import Network, Resolve, system_resolver
from agrajag.diagnosis.probe import ProbeOutcome, ProbeRefusal, ProbeRequest
from agrajag.diagnosis.probing import Probes
from agrajag.diagnosis.targets import Targets
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.rule_files import bundled_rules
from agrajag.documents.target_book import TargetBook
from agrajag.model.enums import ProbeIdentity
from tests.builders import NOW
from tests.diagnosis.tool_servers import TLS_FILES

LOCAL = AddressRules(private_addresses=True)


def a_network(
    resolve: Resolve = system_resolver, rules: AddressRules = LOCAL, *, trusts_tests: bool = False
) -> Network:
    """The network of this machine; `trusts_tests`: with the authority that signed the certificate of a `ToolServer`."""
    tls = ssl.create_default_context(cafile=TLS_FILES / "ca.pem") if trusts_tests else _no_roots()
    return Network(rules, resolve, tls)


def _no_roots() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def a_target(url: str, *allow: str, **fields: Any) -> Target:
    """A GET of this address without credentials that follows redirects; fields of `HttpCall` count as its own."""
    own = {name: fields.pop(name) for name in list(fields) if name in HttpCall.__dataclass_fields__}
    own.setdefault("redirects", True)
    origins = frozenset(map(origin_of, (url, *allow)))
    given: dict[str, Any] = {"tool_name": "search", "source": "tools.yaml", "origins": origins}
    return Target(**(given | {"call": HttpCall(url, **own), "credentials": Credentials()} | fields))


def a_request(**fields: Any) -> ProbeRequest:
    """A probe of `search` in project `essays` of tenant `acme`, as the system."""
    given: dict[str, Any] = {
        "probe_id": "probe-1",
        "tenant_id": "acme",
        "project_id": "essays",
        "tool_name": "search",
        "identity": ProbeIdentity.SYSTEM,
        "user_id": "alice",
    }
    return ProbeRequest(**(given | fields))


def as_user(**fields: Any) -> ProbeRequest:
    """The same as Alice."""
    return a_request(identity=ProbeIdentity.USER, **fields)


def tools_text(**tools: Any) -> str:
    """A document of declarations."""
    return json.dumps({"tools": tools})


def a_cascade(text: str, *, project: str | None = None) -> Cascade:
    """A snapshot with one document of declarations, of tenant `acme`."""
    return Cascade({DocumentName("acme", project, TOOLS_PATH): text})


def search_at(url: str, **fields: Any) -> Cascade:
    """A snapshot in which `search` of tenant `acme` is a GET of this address."""
    return a_cascade(tools_text(search={"safety": "SAFE_PROBE", "http": {"url": url}} | fields))


async def made(prober: Probes, request: ProbeRequest | None = None, seconds: float = 5.0) -> ProbeOutcome:
    """The outcome of a probe that nothing refuses."""
    found = await prober.probe(request or a_request(), seconds)
    assert isinstance(found, ProbeOutcome)
    return found


def probes(
    cascade: Cascade | Callable[[], Cascade],
    *,
    network: Network | None = None,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    vault: UserVault | None = None,
    rules: RuleSet | None = None,
    programs: Collection[str] = (),
) -> Probes:
    """Probes over HTTP and MCP. Credentials of users are in the folder `vault` of `directory`, others in `files`."""
    return Probes(
        Targets(lambda: TargetBook(cascade() if callable(cascade) else cascade)),
        lambda _tenant, _project: rules or bundled_rules(),
        CredentialStore(
            environment,
            None if directory is None else directory / "files",
            vault or (None if directory is None else FileVault(directory / "vault")),
        ),
        {
            TargetKind.HTTP: HttpAdapter(network or a_network()),
            TargetKind.MCP: McpAdapter(network or a_network(), programs),
        },
        lambda: NOW,
    )


async def call_of(
    target: Target,
    *,
    secret: str | None = None,
    sample: dict[str, Any] | None = None,
    seconds: float = 5.0,
    network: Network | None = None,
) -> RawOutcome | ProbeRefusal:
    """What comes of one call over HTTP, without anything around it."""
    adapter = HttpAdapter(network or a_network())
    credential = None if secret is None else Secret(secret)
    return await adapter.call(target, credential, sample or {}, a_request(), seconds)


async def called(
    target: Target,
    *,
    secret: str | None = None,
    sample: dict[str, Any] | None = None,
    seconds: float = 5.0,
    network: Network | None = None,
) -> RawOutcome:
    """The same of a call that nothing refuses."""
    outcome = await call_of(target, secret=secret, sample=sample, seconds=seconds, network=network)
    assert isinstance(outcome, RawOutcome)
    return outcome

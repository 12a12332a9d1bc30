"""What an operator declares about a tool so that it may be probed: how it is called, with what, as whom.

A declaration holds no secret, only the names under which secrets are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from agrajag.core.origins import Origin
from agrajag.model.enums import ProbeIdentity


class TargetKind(StrEnum):
    """How a tool is reached by a probe."""

    HTTP = "http"
    MCP = "mcp"
    KAFKA = "kafka"


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One request. The sample is the query of GET, HEAD and OPTIONS, and the JSON body of any other method.

    Another method is only declared together with `read_only_call`. `ok_statuses` are those of a success. `redirects`:
    they are followed; otherwise one is an answer like any other, since many lead to where people sign in.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    read_only_call: bool = False
    ok_statuses: frozenset[int] = frozenset(range(200, 300))
    redirects: bool = False


@dataclass(frozen=True, slots=True)
class McpCall:
    """One tool of an MCP server, which is at `url` or is started with `command`: one of the two.

    Without `call_tool` the probe ends once the server has listed the tool.
    """

    tool: str
    url: str | None = None
    command: tuple[str, ...] = ()
    call_tool: bool = False


@dataclass(frozen=True, slots=True)
class KafkaCall:
    """A request on one topic that is answered on another."""

    request_topic: str
    reply_topic: str


Call: TypeAlias = HttpCall | McpCall | KafkaCall


class SecretStore(StrEnum):
    """Where a credential is kept."""

    ENVIRONMENT = "env"
    FILE = "file"
    USER_VAULT = "vault"


@dataclass(frozen=True, slots=True)
class CredentialRef:
    """The name of a credential of the tenant; in a user vault, of one of its user's."""

    store: SecretStore
    name: str


class CredentialForm(StrEnum):
    """How a credential is sent."""

    BEARER = "bearer"
    BASIC = "basic"
    HEADER = "header"
    ENVIRONMENT = "env"


@dataclass(frozen=True, slots=True)
class SentAs:
    """The form of a credential; `name` is that of the header, or of the variable of a started program."""

    form: CredentialForm = CredentialForm.BEARER
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Credentials:
    """Which credential a probe uses for each identity; None: it runs without."""

    user: CredentialRef | None = None
    system: CredentialRef | None = None
    sent_as: SentAs = SentAs()

    def of(self, identity: ProbeIdentity) -> CredentialRef | None:
        """The one for an identity."""
        return self.user if identity is ProbeIdentity.USER else self.system

    @property
    def any(self) -> bool:
        """Whether there is one for anybody."""
        return self.user is not None or self.system is not None


@dataclass(frozen=True, slots=True)
class Target:
    """A usable declaration of a tool that is safe to be probed. `source` is what messages call its document.

    `model_input` is the JSON Schema that a model's own sample has to fit; None: it may bring none. `origins` are all
    that may be spoken to: that of the call's address, and those that are allowed beside it.
    """

    tool_name: str
    source: str
    call: Call
    sample_input: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    model_input: Mapping[str, Any] | None = None
    origins: frozenset[Origin] = frozenset()
    credentials: Credentials = Credentials()

    @property
    def kind(self) -> TargetKind:
        """Which adapter speaks to it."""
        return _KINDS[type(self.call)]


_KINDS: Mapping[type[Any], TargetKind] = MappingProxyType(
    {HttpCall: TargetKind.HTTP, McpCall: TargetKind.MCP, KafkaCall: TargetKind.KAFKA}
)


class Unprobed(StrEnum):
    """What keeps a declared tool from being probed."""

    NOT_SAFE = "not_safe"
    BROKEN = "broken"


Declared: TypeAlias = Target | Unprobed

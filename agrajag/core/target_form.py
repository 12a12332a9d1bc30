"""The form of one entry of `_vance/tools.yaml`, field by field, and the declaration it makes."""

import re
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from agrajag.core.origins import NoAddress, Origin, origin_of
from agrajag.core.redact import redacted
from agrajag.core.samples import MAX_SAMPLE_BYTES, plain
from agrajag.core.targets import (
    Call,
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
    Unprobed,
)
from agrajag.model.enums import Safety
from agrajag.model.wire_model import VISIBLE

MAX_SCHEMA_BYTES = 16_384
QUERY_METHODS = ("GET", "HEAD", "OPTIONS")
_KEPT_HEADERS = re.compile(
    r"host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|accept-encoding|expect|via"
    r"|authorization|proxy-.*|cookie|forwarded|x-forwarded-.*|agrajag-.*|sec-.*",
    re.ASCII | re.IGNORECASE,
)
_HEADER_NAME = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$"
# None that says what a program loads or where it looks: a credential is what a user may have written.
_VARIABLE = re.compile(
    r"(?!(?:PATH|HOME|IFS|ENV|NODE_OPTIONS|NODE_PATH|RUBYLIB|RUBYOPT|(?:JDK_|_)JAVA_OPTIONS|JAVA_TOOL_OPTIONS)$"
    r"|BASH_|LD_|DYLD_|PYTHON|PERL5|GIT_SSH|GIT_CONFIG|GIT_EXEC)[A-Za-z_][A-Za-z0-9_]{0,99}",
    re.ASCII | re.IGNORECASE,
)
_FORMS = re.compile(r"(bearer|basic|header|env)(?::(.+))?", re.DOTALL)


def _address(value: object) -> object:
    if isinstance(value, str):
        _origin(value)
    return value


def _origin(url: str) -> Origin:
    try:
        return origin_of(url)
    except NoAddress as error:
        raise ValueError(str(error)) from None


def _sample(value: object) -> object:
    sample = plain(value) if isinstance(value, dict) else None
    if sample is None:
        raise ValueError(f"is no mapping of JSON values that take at most {MAX_SAMPLE_BYTES:,} bytes")
    return sample


def _schema(value: object) -> object:
    schema = plain(value, MAX_SCHEMA_BYTES) if isinstance(value, dict) else None
    if schema is None:
        raise ValueError(f"is no JSON Schema of at most {MAX_SCHEMA_BYTES:,} bytes")
    return schema


Address = Annotated[str, BeforeValidator(_address)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=VISIBLE)]
HeaderName = Annotated[str, StringConstraints(pattern=_HEADER_NAME)]
HeaderText = Annotated[
    str, StringConstraints(max_length=1_000, pattern=r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$")
]
TopicName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,248}$")]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,99}$")]
Status = Annotated[int, Field(ge=100, le=599)]


class _Form(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True
    )


class HttpForm(_Form):
    url: Address
    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "QUERY"] = "GET"
    headers: dict[HeaderName, HeaderText] = Field(default_factory=dict, max_length=32)
    read_only_call: bool = False
    ok_statuses: list[Status] | None = Field(default=None, min_length=1, max_length=500)
    redirects: bool = False

    @model_validator(mode="after")
    def _is_harmless(self) -> Self:
        if self.method not in QUERY_METHODS and not self.read_only_call:
            raise ValueError(
                f"{self.method} is only sent with readOnlyCall: true, for a call that changes nothing"
            )
        if redacted(self.url) != self.url:
            raise ValueError("url holds what looks like a credential; name it under credentials")
        for name, value in self.headers.items():
            if _KEPT_HEADERS.fullmatch(name) is not None:
                raise ValueError(f"the header {name} is not for a declaration to set")
            if redacted(f"{name}: {value}") != f"{name}: {value}":
                raise ValueError(f"the header {name} looks like a credential; name it under credentials")
        return self

    def call(self) -> HttpCall:
        given = {} if self.ok_statuses is None else {"ok_statuses": frozenset(self.ok_statuses)}
        headers = MappingProxyType(dict(self.headers))
        return HttpCall(
            self.url, self.method, headers, self.read_only_call, redirects=self.redirects, **given
        )


class McpForm(_Form):
    tool: Name
    url: Address | None = None
    command: list[Name] | None = Field(default=None, min_length=1, max_length=32)
    call_tool: bool = False

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.url is None) == (self.command is None):
            raise ValueError("exactly one of url and command says where the server is")
        if self.command is not None and not self.command[0].startswith("/"):
            raise ValueError("command begins with the whole path of a program")
        return self

    def call(self) -> McpCall:
        return McpCall(self.tool, self.url, tuple(self.command or ()), self.call_tool)


class KafkaForm(_Form):
    request_topic: TopicName
    reply_topic: TopicName

    @model_validator(mode="after")
    def _are_two(self) -> Self:
        if self.request_topic == self.reply_topic:
            raise ValueError("requestTopic and replyTopic are two topics")
        return self

    def call(self) -> KafkaCall:
        return KafkaCall(self.request_topic, self.reply_topic)


class _VaultForm(_Form):
    vault: Name

    def ref(self) -> CredentialRef:
        return CredentialRef(SecretStore.USER_VAULT, self.vault)


class _SystemForm(_Form):
    file: Name | None = None
    env: VariableName | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.file is None) == (self.env is None):
            raise ValueError("exactly one of file and env says where the credential is kept")
        return self

    def ref(self) -> CredentialRef:
        if self.env is not None:
            return CredentialRef(SecretStore.ENVIRONMENT, self.env)
        return CredentialRef(SecretStore.FILE, self.file or "")


def _sent_as(value: object) -> SentAs:
    found = _FORMS.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        form, name = CredentialForm(found[1]), found[2]
        if form is CredentialForm.HEADER and name is not None and re.fullmatch(_HEADER_NAME, name):
            return SentAs(form, name)
        if form is CredentialForm.ENVIRONMENT and name is not None and _VARIABLE.fullmatch(name):
            return SentAs(form, name)
        if form in (CredentialForm.BEARER, CredentialForm.BASIC) and name is None:
            return SentAs(form)
    raise ValueError("is none of bearer, basic, header:<name>, and env:<name> for a program")


class CredentialsForm(_Form):
    user: _VaultForm | None = None
    system: _SystemForm | None = None
    sent_as: Annotated[SentAs, BeforeValidator(_sent_as)] = SentAs()

    def credentials(self) -> Credentials:
        return Credentials(
            None if self.user is None else self.user.ref(),
            None if self.system is None else self.system.ref(),
            self.sent_as,
        )


class ToolForm(_Form):
    """One tool. A tool that is not marked SAFE_PROBE needs no call, and is checked all the same."""

    safety: Literal["SAFE_PROBE", "MUTATING"] = "MUTATING"
    sample_input: Annotated[dict[str, Any], BeforeValidator(_sample)] = Field(default_factory=dict)
    model_input: Annotated[dict[str, Any] | None, BeforeValidator(_schema)] = None
    allow: list[Address] = Field(default_factory=list, max_length=32)
    http: HttpForm | None = None
    mcp: McpForm | None = None
    kafka: KafkaForm | None = None
    credentials: CredentialsForm = Field(default_factory=CredentialsForm)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        given = [form for form in (self.http, self.mcp, self.kafka) if form is not None]
        if len(given) > 1 or (not given and self.safety == Safety.SAFE_PROBE):
            raise ValueError("exactly one of http, mcp and kafka says how it is called")
        if self.http is not None and self.http.method in QUERY_METHODS:
            for name, value in self.sample_input.items():
                values = value if isinstance(value, list) else [value]
                if any(isinstance(one, dict | list) or one is None for one in values):
                    raise ValueError(f"sampleInput.{name} is no value of a query")
        for address in self.allow:
            if not re.fullmatch(r"https?://[^/?]+/?", address):
                raise ValueError("allow lists origins, such as https://search.example.com")
        if self.allow and self.http is not None and not self.http.redirects:
            raise ValueError("allow says where redirects may lead; http.redirects: true follows them")
        self._can_send_credentials()
        return self

    def _can_send_credentials(self) -> None:
        given = self.credentials.credentials()
        if not given.any:
            return
        if self.kafka is not None:
            raise ValueError("a tool behind Kafka is called with the credentials that its own service keeps")
        to_program = self.mcp is not None and self.mcp.command is not None
        if to_program != (given.sent_as.form is CredentialForm.ENVIRONMENT):
            raise ValueError("a program is given its credential by sentAs: env:<name>, and nothing else is")

    def declared(self, tool_name: str, source: str) -> Declared:
        """What the form says of a tool."""
        call = self._call()
        if call is None or self.safety != Safety.SAFE_PROBE:
            return Unprobed.NOT_SAFE
        own = [] if isinstance(call, KafkaCall) or call.url is None else [call.url]
        return Target(
            tool_name=tool_name,
            source=source,
            call=call,
            sample_input=MappingProxyType(self.sample_input),
            model_input=None if self.model_input is None else MappingProxyType(self.model_input),
            origins=frozenset(map(origin_of, (*own, *self.allow))),
            credentials=self.credentials.credentials(),
        )

    def _call(self) -> Call | None:
        form = self.http or self.mcp or self.kafka
        return None if form is None else form.call()

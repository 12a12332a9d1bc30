"""What a rule can look at in one error, each view drawn once and only when a rule first needs it.

Structured fields come first. A status is read from text only where no field holds one (`core.status_in_text`).
"""

from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

from agrajag.core.body_patterns import MAX_SEARCHED
from agrajag.core.exceptions import class_names
from agrajag.core.json_body import json_bodies
from agrajag.core.json_paths import PathTree, parse_path, value_text
from agrajag.core.protocol_codes import grpc_statuses, names_protocols, rpc_codes, sql_states
from agrajag.core.quoted import without_quotations
from agrajag.core.status_in_text import status_in
from agrajag.model.enums import Transport
from agrajag.model.events import ToolCallError

WELL_KNOWN_PATHS = (
    "error.code", "error.status", "error.type", "error.reason", "error.errorCode", "error.error_code", "error.name",
    "error.errors[].reason", "error.details[].reason", "error.details[].errorCode", "error.innererror.code",
    "error", "code", "errorCode", "error_code", "errorcode", "errcode", "err_code", "errno", "errorType", "error_type",
    "type", "__type", "name", "reason", "title", "category", "cod", "sqlState", "codeName", "exceptionCode",
    "errors[].code", "errors[].type", "errors[].reason", "errors[].errorCode", "errors[].error_code",
    "errors[].extensions.code", "errors[].extensions.type", "errors[].name", "detail.code", "detail.error",
    "[].code", "[].errorCode", "[].error", "[].error.code", "[].error.status", "[].error.errors[].reason",
)  # fmt: skip
"""Where the bodies of well-known services hold their code; `errorCodes` without `at` looks at all of them."""
_WELL_KNOWN = PathTree(path for path in map(parse_path, WELL_KNOWN_PATHS) if path is not None)
_ENDS_OF_JSON = ("}", "]")
_NONE: frozenset[str] = frozenset()
_NO_CODES: frozenset[int] = frozenset()
_AUTH_MARKERS = ("expired_token", "token_expired", "invalid_token", "invalid_grant")
_known_names = lru_cache(maxsize=4096)(class_names)

V = TypeVar("V")


class _Drawn(Generic[V]):
    """A view that is drawn when it is first asked for and then kept. (`functools.cached_property` takes a lock.)"""

    def __init__(self, draw: Callable[[Any], V]) -> None:
        self._draw = draw
        self.__doc__ = draw.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "_Drawn[V]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> V: ...

    def __get__(self, instance: object | None, owner: type) -> "V | _Drawn[V]":
        if instance is None:
            return self
        view = instance.__dict__[self._name] = self._draw(instance)
        return view


class Features:
    """Views of one error; equal events give equal features."""

    def __init__(self, event: ToolCallError) -> None:
        self.event = event
        self.error = error = event.error
        self.http_status: int | None = error.http_status
        """The reported status, else the first one that the message or body states beyond doubt."""
        if self.http_status is None:
            self.http_status = status_in(error.message) or status_in(error.body)

    @_Drawn
    def exception_names(self) -> frozenset[str]:
        """Names of the exception and its causes, as rules may call them."""
        error = self.error
        outermost = () if error.exception_type is None else (error.exception_type,)
        return _known_names(outermost + error.exception_chain)

    @_Drawn
    def text(self) -> str:
        """Message and body in lower case: what `bodyContains` searches."""
        return f"{self.error.message or ''}\n{self.error.body or ''}".lower()

    @_Drawn
    def searched(self) -> bytes:
        """The beginning of the text, for patterns. A long s is none of its letters, or `s` would match it there."""
        return self.text[:MAX_SEARCHED].replace("\u017f", "\ufffd").encode("utf-8", "replace")

    @_Drawn
    def unquoted(self) -> "Features":
        """The same views of text that holds nothing in quotation marks; itself where there is none."""
        text = without_quotations(self.text)
        if text is self.text:
            return self
        other = copy(self)
        other.__dict__.pop("searched", None)
        other.__dict__ |= {"text": text, "unquoted": other}
        return other

    @_Drawn
    def json_bodies(self) -> tuple[Any, ...]:
        """What the body, else the message, holds of JSON objects and lists, the outermost first."""
        for text in (self.error.body, self.error.message):
            if text and text.rstrip()[-1:] in _ENDS_OF_JSON and (found := json_bodies(text)):
                return found
        return ()

    @_Drawn
    def error_codes(self) -> frozenset[str]:
        """The reported error code and the `error.code` of a JSON body: what `errorCode` asks for."""
        found = {self.error.error_code} if self.error.error_code else set()
        body = (self.error.body or "").lstrip()
        outer = self.json_bodies[0] if body.startswith("{") and self.json_bodies else None
        error = outer.get("error") if isinstance(outer, dict) else None
        code = error.get("code") if isinstance(error, dict) else None
        if not isinstance(code, float) and (text := value_text(code)) is not None:
            found.add(text)
        return frozenset(found)

    @_Drawn
    def codes(self) -> frozenset[str]:
        """The reported error code and what stands at the well-known paths of its JSON: what `errorCodes` asks for."""
        own = self.error.error_code
        if not self.json_bodies:
            return frozenset((own,)) if own else _NONE
        found = {value for body in self.json_bodies for _, value in _WELL_KNOWN.values(body)}
        return frozenset(found | {own} if own else found)

    @_Drawn
    def _may_name_protocols(self) -> bool:
        """Whether anything may hold a code of a protocol: most errors are told so by this alone."""
        return bool(
            self.error.error_code
            or self.json_bodies
            or names_protocols(self.text)
            or "grpc-status" in self.headers
        )

    @_Drawn
    def rpc_codes(self) -> frozenset[int]:
        """The codes of JSON-RPC errors."""
        if not self._may_name_protocols:
            return _NO_CODES
        return rpc_codes(self.error.error_code, self.text, self.json_bodies)

    @_Drawn
    def grpc_statuses(self) -> frozenset[str]:
        """The names of gRPC statuses."""
        if not self._may_name_protocols:
            return _NONE
        return grpc_statuses(
            self.header("grpc-status"),
            self.error.error_code,
            self.exception_names,
            self.text,
            self.json_bodies,
        )

    @_Drawn
    def sql_states(self) -> frozenset[str]:
        """SQLSTATEs and their classes."""
        if not self._may_name_protocols:
            return _NONE
        over_http = self.error.http_status is not None or self.event.transport is Transport.HTTP
        return sql_states(self.error.error_code, over_http=over_http, text=self.text, bodies=self.json_bodies)

    @_Drawn
    def headers(self) -> dict[str, str]:
        """The response headers by their names in lower case; of one that is there twice, the first."""
        found: dict[str, str] = {}
        for name, value in self.error.headers.items():
            found.setdefault(name.lower(), value)
        return found

    @_Drawn
    def tool(self) -> str:
        """The tool's name in lower case."""
        return self.event.tool_name.lower()

    @_Drawn
    def family(self) -> str | None:
        """The kind of system behind the tool in lower case, where the reporter named it."""
        return self.event.tool_family.lower() if self.event.tool_family else None

    @property
    def has_auth_marker(self) -> bool:
        """Whether the response says, other than by its status, that it is about a credential."""
        if self.header("www-authenticate") is not None:
            return True
        text = self.text
        return any(marker in text for marker in _AUTH_MARKERS)

    def header(self, name: str) -> str | None:
        """The value of a response header, whatever its case."""
        return self.headers.get(name.lower())

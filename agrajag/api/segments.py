"""Lets a path segment be any name: routes are matched on the path as sent, and each segment is decoded by itself.

Servers decode the whole path first, so that a tool called `a/b`, sent as `a%2Fb`, would be two segments.
"""

from typing import Annotated, ClassVar
from urllib.parse import quote, unquote

from fastapi import Path
from starlette.convertors import Convertor, register_url_convertor
from starlette.types import Scope

from agrajag.model.wire_model import Id

SEGMENT = "segment"
"""The convertor of path parameters that hold names: `{tool:segment}`."""

NAMES = "names"
"""The convertor of a last path parameter that may hold slashes: `{path:names}`."""

_KEPT = "/:@!$&'()*+,;=-._~%"


class _Segment(Convertor[str]):
    """Bytes that are no UTF-8 become surrogates, which no model takes for text."""

    regex: ClassVar[str] = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value, errors="surrogateescape")

    def to_string(self, value: str) -> str:
        return quote(value, safe="")


class _Names(_Segment):
    """Several segments: a name that holds slashes, whether they are sent as such or as `%2F`."""

    regex: ClassVar[str] = ".+"

    def to_string(self, value: str) -> str:
        return quote(value)


register_url_convertor(SEGMENT, _Segment())
register_url_convertor(NAMES, _Names())

TenantSegment = Annotated[Id, Path(alias="tenant", description="Whose tools.")]
ToolSegment = Annotated[Id, Path(alias="tool", description="The tool; a slash in its name is sent as `%2F`.")]


def with_sent_path(scope: Scope) -> Scope:
    """The request with its path as it was sent."""
    raw: bytes | None = scope.get("raw_path")
    sent = quote(scope["path"], safe=_KEPT) if raw is None else raw.decode("latin-1")
    return {**scope, "path": sent}

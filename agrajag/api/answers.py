"""Makes answers of records: JSON as it is on the wire, lists with the place where they go on, and tags of the content.

A tag changes with what is shown, which may change without a new revision: an override runs out, a recovery is due.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Annotated, Any

import orjson
from fastapi import Header, Request, Response
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agrajag.api.scopes import Asked
from agrajag.model.wire_model import WireModel

MAX_LIMIT = 500
MAX_AFTER = 4_096

_REVALIDATED = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "What is known already is still so"}}
"""What OpenAPI tells of an answer that has a tag."""

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
After = Annotated[str, Field(max_length=MAX_AFTER)]
IfNoneMatch = Annotated[
    str | SkipJsonSchema[None],
    Header(alias="If-None-Match", max_length=MAX_AFTER, description="The `ETag` of what is known."),
]


class PageAsked(Asked):
    """A page of a list."""

    limit: Limit = Field(100, description="The longest list that is wanted.")
    after: After = Field("", description="Where to go on: `nextAfter` of the page before.")


def record_answer(request: Request, record: WireModel, revision: int | None = None) -> Response:
    """One record, with a tag that begins with the revision where it has one."""
    return _tagged(request, record.to_json(), revision)


def list_answer(request: Request, items: Iterable[WireModel], next_after: str | None) -> Response:
    """A page of a list, with a tag."""
    joined = b",".join(item.to_json() for item in items)
    return _tagged(
        request, b'{"items":[' + joined + b'],"nextAfter":' + orjson.dumps(next_after) + b"}", None
    )


def _tagged(request: Request, body: bytes, revision: int | None) -> Response:
    digest = blake2b(body, digest_size=8).hexdigest()
    tag = f'"{digest}"' if revision is None else f'"{revision}-{digest}"'
    headers = {**_REVALIDATED, "ETag": tag}
    if _is_known(tag, request.headers.get("If-None-Match", "")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _is_known(tag: str, known: str) -> bool:
    tags = [one.strip().removeprefix("W/") for one in known.split(",")]
    return tag in tags or "*" in tags

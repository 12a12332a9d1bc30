"""The status page as routes: its document at `/`, what it is made of under `/assets/`, read once when they are made.

Everything is public: the page holds no data, and asks the API with the token of whoever looks at it. It runs no script
and shows no style that is not a file of its own, and writes no text as markup: error texts come from strangers.
"""

from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

DOCUMENT = "index.html"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "Cache-Control": "no-cache",  # kept, and asked for anew: a page of yesterday never meets an API of today
}
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    """One file of the page; `etag` names its content."""

    content: bytes
    media_type: str
    etag: str


def page_assets() -> dict[str, Asset]:
    """Every file of the page by its name. Reads them from the package."""
    found = {}
    for file in files("agrajag.api").joinpath("assets").iterdir():
        media_type = _TYPES.get(file.name[file.name.rfind(".") :])
        if media_type is not None:
            content = file.read_bytes()
            found[file.name] = Asset(content, media_type, f'"{sha256(content).hexdigest()[:32]}"')
    return found


def page_routes() -> list[BaseRoute]:
    """`/` and `/assets/{name}`, for GET and HEAD; no other file can be named. They stand in no OpenAPI document."""
    assets = page_assets()

    async def document(request: Request) -> Response:
        return _answer(request, assets[DOCUMENT])

    async def asset(request: Request) -> Response:
        found = assets.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "the status page has no such file")
        return _answer(request, found)

    return [Route("/", document, name="page"), Route("/assets/{name}", asset, name="page-asset")]


def _answer(request: Request, asset: Asset) -> Response:
    headers = HEADERS | {"ETag": asset.etag}
    if request.headers.get("If-None-Match") == asset.etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.media_type)

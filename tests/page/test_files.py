"""What the page is made of, as it is served and as it is packed."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from starlette.applications import Starlette
from starlette.testclient import TestClient

from agrajag.api.page import page_assets, page_routes

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "agrajag" / "api" / "assets"
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|setHTML|parseFromString"
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=page_routes())) as client:
        yield client


class _Elements(HTMLParser):
    """All elements of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def test_the_page_may_run_and_show_nothing_but_files_of_its_own(client: TestClient) -> None:
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_no_script_and_no_style_stands_in_the_document_and_nothing_comes_from_elsewhere(
    client: TestClient,
) -> None:
    for tag, attributes in _Elements(client.get("/").text).found:
        assert tag not in {"style", "iframe", "object", "embed", "base"}
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        for name in ("src", "href"):
            address = attributes.get(name) or "#"
            assert address.startswith(("#", "assets/"))
            if address.startswith("assets/"):
                assert client.get(f"/{address}").status_code == 200
        assert tag != "script" or attributes.get("type") == "module"


def test_every_module_and_every_id_that_is_asked_for_exists(client: TestClient) -> None:
    ids = {attributes.get("id") for _, attributes in _Elements(client.get("/").text).found}
    for file in ASSETS.glob("*.js"):
        text = file.read_text()
        for name in re.findall(r'from "\./([^"]+)"', text):
            assert client.get(f"/assets/{name}").headers["content-type"].startswith("text/javascript")
        assert set(re.findall(r'byId\("([^"]+)"\)', text)) <= ids


def test_no_script_writes_text_as_markup_or_names_another_host() -> None:
    for file in ASSETS.glob("*.js"):
        text = file.read_text()
        assert not MARKUP.search(text), file.name
        assert set(re.findall(r"https?://[^\s\"'`]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_what_a_browser_has_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/assets/main.js")
    again = client.get("/assets/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again.headers["etag"] == first.headers["etag"]


@pytest.mark.parametrize(
    "name", ["../page.py", "..%2fpage.py", "%2e%2e/page.py", "page.py", ".", "main.js%00"]
)
def test_no_other_file_can_be_named(client: TestClient, name: str) -> None:
    assert client.get(f"/assets/{name}").status_code == 404


def test_the_files_are_small_and_the_wheel_holds_them_all() -> None:
    packed = {Path(file.path) for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    there = set(ASSETS.iterdir())
    assert {file.name for file in there} == set(page_assets())
    assert there <= packed
    assert all(len(file.read_text().splitlines()) <= 300 for file in there)

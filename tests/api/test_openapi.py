"""What the API says of itself, and what the README says of it, are the same."""

import re
from pathlib import Path

import httpx

from agrajag.api.openapi import visible_pattern
from agrajag.model.wire_model import VISIBLE
from tests.api.running import RunningApi

README = Path(__file__).parents[2] / "README.md"


def operations(url: str) -> set[tuple[str, str]]:
    paths = httpx.get(f"{url}/openapi.json").json()["paths"]
    return {(method.upper(), path) for path, methods in paths.items() for method in methods}


def test_the_table_of_the_readme_has_every_route(api: RunningApi) -> None:
    section = README.read_text("utf-8").partition("\n## The HTTP API\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([A-Z, ]+) (/brain[^`]*)` \|", section, re.MULTILINE)
    told = {(method, path) for methods, path in rows for method in methods.split(", ")}
    assert told == operations(api.url)


def test_the_pattern_of_names_says_the_same_as_that_of_the_models() -> None:
    for sign in ("a", "é", "/", "|", "\u3000", "😀"):
        assert re.fullmatch(visible_pattern(), sign)
    for sign in ("\0", "\n", "\x85", "\u00ad", "\u202e", "\u2028", "\ufeff", "\U000e0041"):
        assert not re.fullmatch(visible_pattern(), sign)
    assert VISIBLE.startswith("^[^")

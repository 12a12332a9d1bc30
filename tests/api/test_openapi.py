"""What the API says of itself is what it does: held by schemathesis, on the API as it runs, and by the README."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agrajag.api.openapi import visible_pattern
from agrajag.api.parts import ApiValues
from agrajag.api.permissions import Role
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.model.wire_model import VISIBLE
from tests.api.running import RunningApi, bearer, running_api

README = Path(__file__).parents[2] / "README.md"
_IMPATIENT = ApiValues(
    ending_seconds=1.0,
    revision_wait_seconds=0.2,
    command_wait_seconds=5.0,
    recheck_wait_seconds=0.2,
    stream_seconds=0.2,  # a client that reads a stream to its end has to come to one
)


@pytest.fixture(scope="module")
def impatient(kafka: EmbeddedKafka, store: EmbeddedStore) -> Iterator[RunningApi]:
    with running_api(
        kafka.bootstrap_servers, store_uri=store.uri, with_worker=True, values=_IMPATIENT
    ) as running:
        yield running


@pytest.mark.slow  # some hundred requests of every kind, to each route
def test_schemathesis_finds_nothing_that_the_description_does_not_tell(
    impatient: RunningApi, tmp_path: Path
) -> None:
    authorization = bearer("acme", Role.ADMIN)["Authorization"]
    # Of another tenant every route says no more than that there is none.
    (tmp_path / "schemathesis.toml").write_text('[parameters]\n"path.tenant" = "acme"\n')
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--no-color", "run", f"{impatient.url}/openapi.json"),
            *("--header", f"Authorization: {authorization}", "--checks", "all"),
            *("--phases", "fuzzing", "--max-examples", "3", "--no-shrink"),
            *("--generation-deterministic", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-10_000:] + ended.stderr[-2_000:]
    counted = re.search(r"(\d+) generated, (\d+) passed", ended.stdout)
    assert counted is not None, ended.stdout[-2_000:]
    assert int(counted[2]) > 50


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

"""A data directory of an earlier release goes on under this one: nothing is forgotten, and new errors count on."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.programs import Program, agrajag, running
from tests.cli.test_dev import addresses
from tests.upgrades.recording import data_file, recorded, releases
from tests.upgrades.test_records import received
from tests.waiting import eventually_blocking

TENANT = "magrathea"
CHANGED = "agrajag.health-changed.v1"


class Going(NamedTuple):
    """The stack of this release on the data of an earlier one."""

    release: str
    program: Program
    variables: dict[str, str]

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command says as JSON, a document a line."""
        ended = agrajag(*arguments, "--json", **self.variables)
        assert "Traceback" not in ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def healths(self) -> dict[str, dict[str, Any]]:
        return {one["key"]: one["health"] for one in self.lines("health", "--tenant", TENANT)}


@pytest.fixture(scope="module", params=releases())
def going(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Going]:
    directory: Path = tmp_path_factory.mktemp("upgraded")
    with tarfile.open(data_file(request.param)) as archive:
        archive.extractall(directory / "data", filter="data")
    for part in ("kafka", "store"):
        (directory / "data" / part).chmod(0o700)
    with running(directory, "dev", "--data-dir", "data") as program:
        program.says("ready, Ctrl-C ends it")
        found = addresses(program)
        variables = {
            "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": found["kafka"],
            "AGRAJAG_MONGO_URI": found["store"],
        }
        yield Going(request.param, program, variables)


def last_said(release: str) -> dict[str, dict[str, Any]]:
    """The documents of the tenant, as the earlier release told them last."""
    found: dict[str, dict[str, Any]] = {}
    for one in map(received, recorded(release)):
        if one.topic == CHANGED and one.key is not None and one.value:
            document = json.loads(one.value)
            if document["tenantId"] == TENANT:
                found[one.key.decode()] = document
    return found


def stays(document: dict[str, Any]) -> bool:
    """Whether it is there however long ago it was told; that of a session goes, and one that only had cooldowns."""
    said = document["verdict"]["status"] != "OK" or document.get("history") or "lastDiagnosis" in document
    return document["scope"] != "SESSION" and bool(said)


def test_every_document_of_a_tool_is_as_it_was_told_last(going: Going) -> None:
    before, now = last_said(going.release), going.healths()
    kept = {key: document for key, document in before.items() if stays(document)}
    assert kept
    assert kept.keys() <= now.keys()
    for key, document in kept.items():
        assert now[key]["verdict"] == document["verdict"]
        assert now[key]["history"] == document["history"]
        assert now[key]["revision"] >= document["revision"]


def test_a_new_error_counts_on_in_the_document_that_was_there(going: Going) -> None:
    key = next(
        key
        for key, document in last_said(going.release).items()
        if document["scope"] == "PROJECT" and document.get("verdict", {}).get("status") == "DOWN"
    )
    before = going.healths()[key]
    told = agrajag(
        *("report", before["toolName"], "Server error", "--status", "502", "--wait"),
        *("--as", "a-new-user", "--project", before["scopeId"], "--tenant", TENANT),
        **going.variables,
    )
    assert told.returncode == 0, told.stderr

    def counted() -> dict[str, Any]:
        now = going.healths()[key]
        assert now["counters"]["errors"] > before["counters"]["errors"]
        return now

    now = eventually_blocking(counted, 30.0)
    assert now["counters"]["errors"] == before["counters"]["errors"] + 1
    assert now["revision"] > before["revision"]
    assert now["createdAt"] == before["createdAt"]


def test_no_part_complains_of_what_it_found(going: Going) -> None:
    for role in ("worker", "sink", "diagnosis", "api"):
        log = (going.program.out_path.parent / "data" / f"{role}.log").read_text()
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        assert lines
        assert [line for line in lines if line["level"] in ("error", "critical")] == []

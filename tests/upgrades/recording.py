"""Keeps what a release writes, so that later ones can be tried on it: `python -m tests.upgrades.recording`.

The demo of the installed release is run, which writes to every topic and every collection; its data directory is packed
as it is, and its records and documents are told one by one beside it, since Kafka and the store delete what is old soon
after they are started on it again. Run once for a release, when it is made; what was recorded is never changed.
"""

import asyncio
import base64
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.admin import AIOKafkaAdminClient
from bson import json_util
from pymongo import MongoClient

from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.kafka_reading import read_all

RELEASES = Path(__file__).parent / "releases"
PREFIX = "agrajag."
DATABASE = "agrajag"
_AWARE = json_util.JSONOptions(tz_aware=True, tzinfo=UTC)
_SCHEMAS = Path(__file__).parents[2] / "schemas"
_PARTS = ("kafka/logs", "store/data")
_KEPT = re.compile(r"data and log files: (?P<directory>.+)")


def data_file(release: str) -> Path:
    """The packed data directory of a release."""
    return RELEASES / release / "data.tar.xz"


def records_file(release: str) -> Path:
    """Its records, a JSON line each."""
    return RELEASES / release / "records.jsonl.xz"


def store_file(release: str) -> Path:
    """Its documents in the store, a line of extended JSON each."""
    return RELEASES / release / "store.jsonl.xz"


def schemas_file(release: str) -> Path:
    """Its JSON Schemas, by the name of their file."""
    return RELEASES / release / "schemas.json.xz"


def record(release: str) -> None:
    """Writes all files of `release`; raises FileExistsError where they are there."""
    data_file(release).parent.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as workplace:
        directory = _demonstrated(workplace)
        with tarfile.open(data_file(release), "w:xz") as archive:
            for part in _PARTS:
                archive.add(directory / part, part, filter=_nobodys)
        with EmbeddedKafka(directory / "kafka") as kafka:
            told = asyncio.run(_records(kafka.bootstrap_servers))
        with EmbeddedStore(directory / "store") as store:
            stored = _documents(store.uri)
    with lzma.open(records_file(release), "wt") as lines:
        lines.writelines(json.dumps(one) + "\n" for one in told)
    with lzma.open(store_file(release), "wt") as lines:
        lines.writelines(json_util.dumps(one) + "\n" for one in stored)
    schemas = {file.name: json.loads(file.read_text()) for file in sorted(_SCHEMAS.glob("*.json"))}
    with lzma.open(schemas_file(release), "wt") as text:
        json.dump(schemas, text)


def recorded(release: str) -> Iterator[dict[str, Any]]:
    """The records of `release`: topic, partition, offset, timestamp, key, value and headers, bytes as base64."""
    with lzma.open(records_file(release), "rt") as lines:
        yield from map(json.loads, lines)


def recorded_documents(release: str) -> dict[str, list[dict[str, Any]]]:
    """What the store of `release` held, by collection."""
    found: dict[str, list[dict[str, Any]]] = {}
    with lzma.open(store_file(release), "rt") as lines:
        for line in lines:
            told = json_util.loads(line, json_options=_AWARE)
            found.setdefault(told["collection"], []).append(told["document"])
    return found


def recorded_schemas(release: str) -> dict[str, dict[str, Any]]:
    """The JSON Schemas of `release`, by the name of their file."""
    with lzma.open(schemas_file(release), "rt") as text:
        schemas: dict[str, dict[str, Any]] = json.load(text)
    return schemas


def releases() -> list[str]:
    """The releases that were recorded, the oldest first."""
    return sorted(directory.name for directory in RELEASES.iterdir())


def _demonstrated(workplace: str) -> Path:
    ended = subprocess.run(
        [sys.executable, "-m", "agrajag", "demo", "--keep"],
        env={**os.environ, "TMPDIR": workplace},
        capture_output=True,
        text=True,
        check=True,
    )
    found = _KEPT.search(ended.stderr)
    if found is None:
        raise RuntimeError(f"the demo does not say where its files are:\n{ended.stderr}")
    return Path(found["directory"])


async def _records(bootstrap_servers: str) -> list[dict[str, Any]]:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    try:
        topics = sorted(name for name in await admin.list_topics() if name.startswith(PREFIX))
    finally:
        await admin.close()
    return [_told(one) for topic in topics for one in await read_all(bootstrap_servers, topic)]


def _told(record: ConsumerRecord) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [[name, _text(value)] for name, value in record.headers],
    }


def _documents(uri: str) -> list[dict[str, Any]]:
    with MongoClient[dict[str, Any]](uri, tz_aware=True) as client:
        database = client[DATABASE]
        return [
            {"collection": name, "document": document}
            for name in sorted(database.list_collection_names())
            for document in database[name].find().sort("_id")
        ]


def _text(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Without the name of whoever recorded it; locks and logs of the servers stay behind."""
    if member.name.endswith((".lock", ".log.deleted")):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    record(version("agrajag"))

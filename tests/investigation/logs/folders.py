"""Folders of logs for tests, and what is found in them by reading everything."""

import gzip
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from agrajag.investigation.requests import LogRequest

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def at(minutes: float) -> datetime:
    """So many minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def later() -> datetime:
    """The day after, which is the present of these logs."""
    return NOON + timedelta(days=1)


def line(minutes: float, message: str = "hello", **others: Any) -> dict[str, Any]:
    """A line written so many minutes after noon, by `orders` at INFO unless told otherwise."""
    return {
        "time": at(minutes).isoformat(), "level": "INFO", "service": "orders", "message": message, **others
    }  # fmt: skip


def write(file: Path, lines: Iterable[Mapping[str, Any] | bytes], written: datetime | None = None) -> None:
    """A file of these lines, packed if its name says so, written to for the last time at `written`."""
    raw = b"".join(one + b"\n" if isinstance(one, bytes) else orjson.dumps(one) + b"\n" for one in lines)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(raw) if file.suffix == ".gz" else raw)
    if written is not None:
        os.utime(file, (written.timestamp(), written.timestamp()))


def empty(folder: Path) -> None:
    """Remove the files of the folder."""
    for file in folder.iterdir():
        file.unlink()


def asking(since: float = -60, until: float = 60, **others: Any) -> LogRequest:
    """A request for what was written between these minutes after noon."""
    return LogRequest(since=at(since), until=at(until), **others)


def messages_by(
    lines: Iterable[Mapping[str, Any]], asked: LogRequest, fits: Callable[[Mapping[str, Any]], bool]
) -> list[str]:
    """The messages of the newest lines that fit, by looking at every one."""
    kept = [
        one for one in lines if asked.since <= datetime.fromisoformat(one["time"]) < asked.until and fits(one)
    ]
    newest = sorted(enumerate(kept), key=lambda pair: (datetime.fromisoformat(pair[1]["time"]), pair[0]))
    return [one["message"] for _, one in reversed(newest)][: asked.limit]

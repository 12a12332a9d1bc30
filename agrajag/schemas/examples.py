"""The example of each kind of record, from `examples.yaml`."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from agrajag.schemas.records import Record
from agrajag.wire.cloudevents import binary_headers


@dataclass(frozen=True, slots=True)
class Example:
    """One record as it travels."""

    key: str
    headers: dict[str, str]
    value: dict[str, Any]


def example_of(record: Record) -> Example:
    """The example of this kind, with the headers of CloudEvents' binary mode."""
    found = _examples()[record.name]
    headers = binary_headers(record.event_type, found["source"], found["id"])
    return Example(found["key"], {name: value.decode() for name, value in headers}, found["value"])


@cache
def _examples() -> dict[str, Any]:
    text = resources.files("agrajag.schemas").joinpath("examples.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found

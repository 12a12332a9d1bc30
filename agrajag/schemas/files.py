"""Writes the descriptions into a directory, and says where a directory differs from what would be written."""

import json
from pathlib import Path

import yaml

from agrajag.schemas.asyncapi import asyncapi_document
from agrajag.schemas.json_schema import record_schema
from agrajag.schemas.records import RECORDS

ASYNCAPI_FILE = "asyncapi.yaml"


def described_files() -> dict[str, str]:
    """Every file by its name; the same bytes each time."""
    files = {
        record.file_name: json.dumps(record_schema(record), indent=2, ensure_ascii=False) + "\n"
        for record in RECORDS
    }
    document = yaml.dump(
        asyncapi_document(), Dumper=_PlainDumper, sort_keys=False, width=110, allow_unicode=True
    )
    return files | {ASYNCAPI_FILE: document}


def write_files(directory: Path) -> None:
    """Make the directory hold exactly these files; others of their kinds are removed."""
    directory.mkdir(parents=True, exist_ok=True)
    files = described_files()
    for name in _standing(directory).keys() - files.keys():
        (directory / name).unlink()
    for name, text in files.items():
        (directory / name).write_text(text, "utf-8", newline="\n")


def differing_files(directory: Path) -> list[str]:
    """The names of files that are missing, too many, or not as they would be written."""
    files, standing = described_files(), _standing(directory)
    return sorted(name for name in files.keys() | standing.keys() if files.get(name) != standing.get(name))


def _standing(directory: Path) -> dict[str, str]:
    return {
        path.name: path.read_bytes().decode("utf-8", "replace")
        for path in sorted(directory.iterdir())
        if path.suffix in (".json", ".yaml")
    }


class _PlainDumper(yaml.SafeDumper):
    """Without anchors, and with texts of several lines as such."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_PlainDumper.add_representer(str, _text)

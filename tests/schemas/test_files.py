"""The files in `schemas/` are those that the code writes, and a difference is told."""

import subprocess
import sys
from pathlib import Path

import yaml

from agrajag.schemas.asyncapi import asyncapi_document
from agrajag.schemas.files import ASYNCAPI_FILE, described_files, differing_files, write_files
from agrajag.schemas.records import RECORDS

ROOT = Path(__file__).parents[2]


def program(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "agrajag.schemas", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_repository_has_the_files_as_the_code_writes_them() -> None:
    assert differing_files(ROOT / "schemas") == []


def test_there_is_one_file_for_each_record_and_the_asyncapi_document() -> None:
    assert described_files().keys() == {record.file_name for record in RECORDS} | {ASYNCAPI_FILE}
    assert yaml.safe_load(described_files()[ASYNCAPI_FILE]) == asyncapi_document()


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    directory = tmp_path / "made"
    assert program("write", str(directory)).returncode == 0
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == {
        name: text.encode() for name, text in described_files().items()
    }


def test_a_file_that_was_changed_by_hand_is_named_and_fails_the_check(tmp_path: Path) -> None:
    write_files(tmp_path)
    file = tmp_path / ASYNCAPI_FILE
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    checked = program("check", str(tmp_path))
    assert checked.returncode == 1
    assert checked.stderr == (
        f"{ASYNCAPI_FILE} is not as it would be written: python -m agrajag.schemas write {tmp_path}\n"
    )


def test_a_missing_file_and_one_too_many_are_told_and_mended(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "check-result.v1.json").rename(tmp_path / "check-result.v0.json")
    (tmp_path / "README.md").write_text("not ours")
    assert differing_files(tmp_path) == ["check-result.v0.json", "check-result.v1.json"]
    write_files(tmp_path)
    assert differing_files(tmp_path) == []
    assert (tmp_path / "README.md").exists()


def test_a_directory_that_is_not_there_fails_the_check(tmp_path: Path) -> None:
    assert program("check", str(tmp_path / "none")).returncode == 1

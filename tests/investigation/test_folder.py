"""Which files of a folder are opened."""

import os
from pathlib import Path

import pytest

from agrajag.investigation.folder import Stamp, files_below, opened
from agrajag.investigation.left_out import LeftOut
from agrajag.metrics import LeftOutKind


def listed(folder: Path, max_files: int = 10) -> tuple[list[str], LeftOut]:
    left_out = LeftOut()
    files = files_below(folder, lambda name: name.endswith(".md"), max_files, left_out)
    return [file.name for file in files], left_out


def test_files_are_listed_in_the_order_of_their_names_up_to_a_bound(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "c.txt", ".d.md"):
        (tmp_path / name).write_text(name)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "e.md").write_text("e")

    assert listed(tmp_path)[0] == ["a.md", "b.md", "below/e.md"]
    names, left_out = listed(tmp_path, 2)
    assert names == ["a.md", "b.md"]
    assert left_out.counts == {LeftOutKind.TOO_MANY: 1}


def test_folders_deeper_than_anybody_needs_are_left_out(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghijklm")
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("deep")

    names, left_out = listed(tmp_path)

    assert names == []
    assert left_out.counts == {LeftOutKind.TOO_MANY: 1}


def test_a_name_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.md"), "wb"):
        names, left_out = listed(tmp_path)

    assert names == []
    assert left_out.counts == {LeftOutKind.UNREADABLE: 1}
    left_out.tell("test")


@pytest.mark.parametrize("swap", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)])
def test_what_has_come_in_the_place_of_a_file_is_not_opened(tmp_path: Path, swap: object) -> None:
    file = tmp_path / "a.md"
    file.write_text("a")
    (seen,) = files_below(tmp_path, lambda name: True, 10, LeftOut())
    file.unlink()
    assert callable(swap)
    swap(file)

    with pytest.raises(OSError, match=r"."):
        opened(seen)


def test_what_is_read_within_moments_of_a_change_is_not_settled() -> None:
    stamp = Stamp(1, 1, 10**18, 10**18 + 5)

    assert not stamp.is_settled(10**18 + 10)
    assert stamp.is_settled(10**18 + 3 * 10**9)

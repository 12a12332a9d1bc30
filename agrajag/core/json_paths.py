"""Finds the values at many paths of a JSON body in one walk.

A path is names joined by dots, with `[0]` for an entry of a list and `[]` for each of them: `error.errors[].reason`,
`[0].errorCode`. Only texts and whole numbers are values; a number is its digits, so that 42 and "42" are the same.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

EACH = -1
"""The step that means every entry of a list."""
MAX_STEPS = 8
MAX_ENTRIES = 50
"""So many entries of a list are looked at for `[]`."""
_PATH = re.compile(r"(?:[^.\[\]]{1,80}|\[\d{0,3}\])(?:\.[^.\[\]]{1,80}|\[\d{0,3}\])*", re.ASCII)
_STEP = re.compile(r"([^.\[\]]+)|\[(\d*)\]", re.ASCII)


def parse_path(text: str) -> Path | None:
    """The steps of a path; None where it is none, or has more than `MAX_STEPS`."""
    if _PATH.fullmatch(text) is None:
        return None
    steps = tuple(
        name or (int(index) if index else EACH)
        for name, index in (step.groups() for step in _STEP.finditer(text))
    )
    return steps if len(steps) <= MAX_STEPS else None


def path_text(path: Path) -> str:
    """The path as it is written."""
    text = "".join(
        f".{step}" if isinstance(step, str) else "[]" if step == EACH else f"[{step}]" for step in path
    )
    return text.removeprefix(".")


class PathTree:
    """Many paths that share their beginnings, so that looking for all of them costs little more than for one."""

    __slots__ = ("_ends", "_entries", "_names", "_read")

    def __init__(self, paths: Iterable[Path], *, with_fractions: bool = False, _depth: int = 0) -> None:
        self._read = number_text if with_fractions else value_text
        below: dict[str | int, list[Path]] = {}
        self._ends: tuple[Path, ...] = ()
        for path in dict.fromkeys(paths):
            if len(path) == _depth:
                self._ends = (path,)
            else:
                below.setdefault(path[_depth], []).append(path)
        trees = {
            step: PathTree(found, with_fractions=with_fractions, _depth=_depth + 1)
            for step, found in below.items()
        }
        self._names = {step: tree for step, tree in trees.items() if isinstance(step, str)}
        self._entries = {step: tree for step, tree in trees.items() if isinstance(step, int)}

    def values(self, data: Any) -> Iterator[tuple[Path, str]]:
        """Each path that leads to a value in `data`, with the value as text."""
        if isinstance(data, dict):
            if len(data) < len(self._names):
                for name, inner in data.items():
                    if (tree := self._names.get(name)) is not None:
                        yield from tree.values(inner)
            else:
                for name, tree in self._names.items():
                    if name in data:
                        yield from tree.values(data[name])
        elif isinstance(data, list):
            for index, tree in self._entries.items():
                for entry in data[:MAX_ENTRIES] if index == EACH else data[index : index + 1]:
                    yield from tree.values(entry)
        elif self._ends and (value := self._read(data)) is not None:
            yield from ((path, value) for path in self._ends)


def value_text(value: Any) -> str | None:
    """A text as it is, a whole number as its digits; None for everything else.

    A float from 1e15 on is none either: its digits are nobody's.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 120 else None
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else None


def number_text(value: Any) -> str | None:
    """The same, and a number with a fraction as its decimal digits."""
    if isinstance(value, float) and abs(value) < 1e15:
        return f"{value:f}"
    return value_text(value)

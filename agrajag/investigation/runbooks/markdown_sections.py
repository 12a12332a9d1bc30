"""Cuts a Markdown text into its sections: what stands under each heading, with the headings above it.

Only what makes a heading is read: `#`, underlines, and the fences in which neither counts. The time is linear in the
length of the text, whatever it holds, which that of a full parser is not.
"""

import re
from typing import NamedTuple

MAX_HEADING = 200

_LINE_END = re.compile(r"\r\n?|\n")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_OTHER_BLOCK = re.compile(r" {0,3}(?:[-*+][ \t]|[>|<]|\d+[.)][ \t])")
_FRONT = re.compile(r"---[ \t]*$")


class Section(NamedTuple):
    """A piece of a document. `heading`: the headings that it stands under, the widest first."""

    heading: tuple[str, ...]
    text: str


def sections(markdown: str) -> list[Section]:
    """All sections that say something, in their order; a heading with nothing but narrower ones under it is none."""
    cut = _Cut()
    lines = _LINE_END.split(markdown)
    metadata_end = _metadata_end(lines)
    cut.body += lines[:metadata_end]
    for line in lines[metadata_end:]:
        cut.take(line)
    cut.close(0)
    return cut.found


class _Cut:
    def __init__(self) -> None:
        self.found: list[Section] = []
        self.body: list[str] = []
        self._path: list[tuple[int, str]] = []
        self._fence = ""
        self._paragraph: list[str] | None = []
        """The lines before this one that are a heading if they are underlined; None: they are none in any case."""

    def take(self, line: str) -> None:
        """One line more."""
        fence = _FENCE.match(line)
        if self._fence:
            self._paragraph = []
            if fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip(" \t"):
                self._fence = ""
        elif fence and not (fence[1][0] == "`" and "`" in line[fence.end() :]):
            self._fence = fence[1]
        elif atx := _ATX.match(line):
            self._open(len(atx[1]), _title(line[atx.end() :]))
            return
        elif self._paragraph and (underline := _UNDERLINE.match(line)):
            del self.body[-len(self._paragraph) :]
            self._open(1 if underline[1][0] == "=" else 2, " ".join(map(str.strip, self._paragraph)))
            return
        else:
            self._note_paragraph(line)
        self.body.append(line)

    def close(self, level: int) -> None:
        """End the section at hand; the next heading has this level."""
        text = "\n".join(self.body).strip()
        is_leaf = bool(self._path) and level <= self._path[-1][0]
        if text or is_leaf:
            self.found.append(Section(tuple(title for _, title in self._path if title), text))
        self.body = []

    def _open(self, level: int, title: str) -> None:
        self.close(level)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, title[:MAX_HEADING].strip()))
        self.body = [title] if len(title) > MAX_HEADING else []
        self._paragraph = []

    def _note_paragraph(self, line: str) -> None:
        if not line.strip() or _is_rule(line):
            self._paragraph = []
        elif _OTHER_BLOCK.match(line) or (not self._paragraph and line.startswith(("    ", "\t"))):
            self._paragraph = None
        elif self._paragraph is not None:
            self._paragraph.append(line)


def _is_rule(line: str) -> bool:
    signs = "".join(line.split())
    return len(signs) >= 3 and signs[0] in "-*_" and signs == signs[0] * len(signs)


def _title(rest: str) -> str:
    """A heading without the signs that may close it."""
    title = rest.strip(" \t")
    opened = title.rstrip("#")
    return title if opened and opened[-1] not in " \t" else opened.rstrip(" \t")


def _metadata_end(lines: list[str]) -> int:
    """Where the text begins behind metadata in front of it, which belongs to it and holds no headings."""
    if not _FRONT.match(lines[0]):
        return 0
    return next((at + 1 for at, line in enumerate(lines[1:], 1) if _FRONT.match(line)), 0)

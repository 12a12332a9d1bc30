"""Holds the sections of runbooks in memory, and finds them by words: SQLite's FTS5 over words that are cut by us.

FTS5 sees letters, digits and blanks alone, so nothing of a query can be syntax, and every word of ours is one of its
own. It finds other endings of an English word (`timeouts`: `timeout`). A look may be cut at any time: a change of the
index is done wholly or not at all.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from agrajag.investigation.off_loop import Reading, TimeIsUp
from agrajag.investigation.runbooks.excerpts import excerpt
from agrajag.investigation.runbooks.markdown_sections import Section
from agrajag.investigation.runbooks.search_words import Wanted, words

_SCHEMA = """
CREATE VIRTUAL TABLE words USING fts5(document, heading, text, tokenize = 'porter ascii');
CREATE TABLE sections (
    id INTEGER PRIMARY KEY, document TEXT NOT NULL, number INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX of_document ON sections (document);
"""
_RANKED = """
SELECT s.id, s.document, s.heading, s.text, highlight(words, 2, char(1), char(2))
FROM words JOIN sections s ON s.id = words.rowid
WHERE words MATCH ? ORDER BY bm25(words, 2.0, 4.0, 1.0), s.document, s.number
"""
_BEGIN, _END = "\x01", "\x02"
_STEPS_BETWEEN_CHECKS = 1_000
_HEADING_JOINT = " > "


class Hit(NamedTuple):
    """A section that answers. `text`: the part of it that holds the most of what was looked for."""

    document: str
    heading: str
    text: str


class RunbookIndex:
    """The sections of all documents. Belongs to one thread at a time, whichever."""

    def __init__(self, excerpt_characters: int) -> None:
        self._excerpt_characters = excerpt_characters
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._database.executescript(_SCHEMA)

    def close(self) -> None:
        """Give the memory back. There is no look afterwards."""
        self._database.close()

    def replace(self, document: str, sections: Sequence[Section], reading: Reading) -> None:
        """Hold these sections of the document, and no others. Raises TimeIsUp, and then nothing is changed."""
        with self._bounded(reading), self._whole():
            self._database.execute(
                "DELETE FROM words WHERE rowid IN (SELECT id FROM sections WHERE document = ?)", (document,)
            )
            self._database.execute("DELETE FROM sections WHERE document = ?", (document,))
            for number, section in enumerate(sections):
                if reading.is_over:
                    raise TimeIsUp
                heading = _HEADING_JOINT.join(section.heading)
                added = self._database.execute(
                    "INSERT INTO sections (document, number, heading, text) VALUES (?, ?, ?, ?)",
                    (document, number, heading, section.text),
                )
                cells = (document.removesuffix(".md"), heading, section.text)
                self._database.execute(
                    "INSERT INTO words (rowid, document, heading, text) VALUES (?, ?, ?, ?)",
                    (added.lastrowid, *map(_spaced, cells)),
                )

    def find(self, looked_for: Wanted, limit: int, reading: Reading) -> tuple[list[Hit], bool]:
        """The best sections, and whether there are more than `limit`. Raises TimeIsUp.

        Words in headings weigh four times as much as in texts, in names of documents twice; the order is stable.
        """
        with self._bounded(reading):
            held: Counter[int] = Counter()
            for piece in looked_for.pieces:
                held.update(
                    row[0]
                    for row in self._database.execute("SELECT rowid FROM words WHERE words MATCH ?", (piece,))
                )
            any_of = " OR ".join((*looked_for.pieces, *looked_for.phrases))
            found: list[Hit] = []
            for section, document, heading, text, marked in self._database.execute(_RANKED, (any_of,)):
                if held[section] < looked_for.quorum:
                    continue
                if len(found) == limit:
                    return found, True
                shown = excerpt(text, _hits(text, marked), self._excerpt_characters)
                found.append(Hit(document, heading, shown))
            return found, False

    @contextmanager
    def _bounded(self, reading: Reading) -> Iterator[None]:
        self._database.set_progress_handler(lambda: reading.is_over, _STEPS_BETWEEN_CHECKS)
        try:
            yield
        except sqlite3.OperationalError:
            if reading.is_over:
                raise TimeIsUp from None
            raise
        finally:
            self._database.set_progress_handler(None, 0)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._database.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._database.set_progress_handler(None, 0)
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _spaced(text: str) -> str:
    return " ".join(word.token for word in words(text))


def _hits(text: str, marked: str) -> list[tuple[int, int]]:
    """Where in `text` the words stand that FTS5 has marked among those that `_spaced` made of it."""
    found: list[tuple[int, int]] = []
    is_hit = False
    for word, token in zip(words(text), marked.split(" "), strict=False):
        is_hit = is_hit or token.startswith(_BEGIN)
        if is_hit:
            found.append((word.start, word.end))
        is_hit = is_hit and not token.endswith(_END)
    return found

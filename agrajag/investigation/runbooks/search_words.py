"""Decides by which words a text is found, and which a query looks for.

Words of scripts that put spaces between them are taken as they are, without case and accents. Han, Kana and Hangul are
taken by two signs at a time, and the last sign of a run by itself: so every sign begins exactly one word, a run of two
or more is found by its pairs, and a single sign as the beginning of a word. Each sign of a text is data: what comes out
holds letters and digits only, whatever goes in.
"""

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

MAX_WORD = 64
"""Longer words are found by so many of their first characters."""

_PAIRED = (
    "\u3005\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?P<paired>[{_PAIRED}]+)|[^\W_{_PAIRED}]+")
_JOINTS = ("-", "_")
"""What holds an identifier together."""


class Word(NamedTuple):
    """A word of a text, and the characters that it stands for."""

    token: str
    start: int
    end: int


class Wanted(NamedTuple):
    """What a query looks for, as FTS5 expressions made of quoted words alone.

    A section answers if it holds `quorum` of the `pieces`. `phrases` say the same in longer runs: they only rank.
    """

    pieces: tuple[str, ...]
    phrases: tuple[str, ...]

    @property
    def quorum(self) -> int:
        """A third: a sentence holds many words that say nothing, and pairs that are none."""
        return math.ceil(len(self.pieces) / 3)


def words(text: str) -> Iterator[Word]:
    """The words by which `text` is found, in their order."""
    for run in _RUN.finditer(text):
        if run["paired"] is None:
            token = _plain(run[0])
            if token:
                yield Word(token, run.start(), run.end())
            continue
        for at in range(run.start(), run.end()):
            pair = text[at : min(at + 2, run.end())]
            if token := _folded(pair):
                yield Word(token, at, at + len(pair))


def wanted(query: str) -> Wanted:
    """What to look for. An identifier such as `order-service` is one piece, its parts side by side."""
    pieces: list[str] = []
    phrases: list[str] = []
    identifier: list[str] = []
    end = -1
    for run in _RUN.finditer(query):
        if run["paired"] is not None:
            pairs = [*filter(None, (_folded(run[0][at : at + 2]) for at in range(max(len(run[0]) - 1, 1))))]
            pieces += [_quoted(pair) + (" *" if len(run[0]) == 1 else "") for pair in pairs]
            if len(pairs) > 1:
                phrases.append(_quoted(*pairs))
            continue
        token = _plain(run[0])
        if not token:
            continue
        is_joined = run.start() == end + 1 and query[end] in _JOINTS
        if identifier and is_joined:
            identifier.append(token)
            pieces[-1] = _quoted(*identifier)
        else:
            identifier = [token]
            pieces.append(_quoted(token))
        end = run.end()
    return Wanted(tuple(dict.fromkeys(pieces)), tuple(dict.fromkeys(phrases)))


def _quoted(*tokens: str) -> str:
    return f'"{" ".join(tokens)}"'


def _plain(run: str) -> str:
    if run.isascii():
        return run.lower()[:MAX_WORD]
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", run) if not unicodedata.combining(sign))
    return _letters(unicodedata.normalize("NFKC", bare.casefold()))[:MAX_WORD]


def _folded(pair: str) -> str:
    # Its marks stay: without them, a Japanese sign is another.
    return _letters(unicodedata.normalize("NFKC", pair))


def _letters(text: str) -> str:
    """Of a compatibility form such as `⒈`, only what is no sign of punctuation."""
    return text if text.isalnum() else "".join(sign for sign in text if sign.isalnum())

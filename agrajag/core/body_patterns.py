"""Patterns of rules on the text of an error: RE2's syntax, linear time, a program of bounded size.

A pattern is searched for in lower-case text and takes no notice of case itself; `^` and `$` are the ends of a line, for
message and body begin one each. What text must contain for it to match is read off it where that is plain, so that few
patterns are ever tried.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import re2

MAX_PATTERN = 500
MAX_PROGRAM = 2_000
MAX_SEARCHED = 16_384
"""So many characters of message and body are searched."""
SHORTEST_LITERAL = 3
MAX_LITERALS = 60
_MAX_MEMORY_BYTES = 1 << 21
_TOKEN = re.compile(
    r"\\(?P<plain>[^a-zA-Z0-9\x80-\U0010ffff])"
    r"|(?P<unknown>\\(?:[pPxQC0-9]|$))"
    r"|(?P<group>\((?:\?(?:P?<\w+>|[^)]?:?))?)"
    r"|(?P<repeated>[*+?]\??|\{\d+(?:,\d*)?\}\??)"
    r"|(?P<other>\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|[.^$|){}\[]|[\x80-\U0010ffff])"
    r"|(?P<sign>[a-zA-Z0-9 ,:;/'\"=_-]+(?![*+?{])|.)",
    re.ASCII | re.DOTALL,
)
_OF_CASE = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*i|\[:\^?(?:upper|lower):\]|\\[pP]\{?\^?L[ult]", re.ASCII)
_GROUPS = ("(", "(?:")
_PLAIN = ("plain", "sign")


class BadPattern(Exception):
    """The text is no pattern that may be used; the message says why."""


def of_lines(pattern: str) -> str:
    """The pattern as it is compiled: `^` and `$` are the ends of a line."""
    return f"(?m){pattern}"


def case_insensitive() -> re2.Options:
    """RE2's options for text whose case does not matter."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    return options


@dataclass(frozen=True, slots=True)
class BodyPattern:
    """A pattern that was checked. Raises BadPattern where it is none."""

    text: str
    literals: tuple[str, ...] = field(init=False, compare=False, repr=False)
    """Texts of which lower-case text contains one wherever the pattern matches; none where that is not plain."""
    _needles: tuple[bytes, ...] = field(init=False, compare=False, repr=False)
    _compiled: Any = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            compiled = re2.compile(of_lines(self.text), case_insensitive())
        except re2.error as error:
            reason = error.args[0] if error.args else "unknown"
            words = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            raise BadPattern(f"is no RE2 pattern: {words}") from None
        if compiled.programsize > MAX_PROGRAM:
            raise BadPattern(
                f"compiles to {compiled.programsize:,} steps; at most {MAX_PROGRAM:,} are allowed"
            )
        if _OF_CASE.search(self.text) is not None:
            raise BadPattern("tells upper case from lower, and all that is searched is in lower case")
        if compiled.search("") is not None:
            raise BadPattern("matches the empty text, and so every error")
        object.__setattr__(self, "_compiled", compiled)
        object.__setattr__(self, "literals", _literals(self.text))
        object.__setattr__(self, "_needles", tuple(literal.encode() for literal in self.literals))

    def search(self, searched: bytes) -> Any:
        """The first match in UTF-8 text, as RE2 gives it, or None."""
        for needle in self._needles:
            if needle in searched:
                break
        else:
            if self._needles:
                return None
        return self._compiled.search(searched)

    @property
    def groups(self) -> int:
        """How many parts of a match it captures."""
        return int(self._compiled.groups)


class _Branch:
    """One alternative of a pattern or group: its runs of plain characters, and of its groups what each gives."""

    def __init__(self) -> None:
        self.runs = [""]
        self.of_groups: list[tuple[str, ...]] = []

    def best(self) -> tuple[str, ...]:
        """The texts of which every match of the branch contains one and whose shortest is longest; else none."""
        known = [(run,) for run in self.runs if len(run) >= SHORTEST_LITERAL] + self.of_groups
        return max(known, key=lambda texts: min(map(len, texts)), default=())


def _literals(pattern: str) -> tuple[str, ...]:
    """Plain texts of which every match contains one; none where that is not plain.

    Letters outside ASCII end a run, for more than one of them may be the same in another case.
    """
    open_groups: list[list[_Branch]] = [[_Branch()]]
    tokens = list(_TOKEN.finditer(pattern))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        kind, sign = token.lastgroup, token[token.lastgroup or 0]
        is_repeated = following is not None and following.lastgroup == "repeated"
        if kind == "unknown" or (kind == "group" and sign not in _GROUPS and "<" not in sign):
            return ()
        if kind in _PLAIN and not is_repeated:
            open_groups[-1][-1].runs[-1] += sign.lower()
            continue
        open_groups[-1][-1].runs.append("")
        if kind == "group":
            open_groups.append([_Branch()])
        elif kind == "other" and sign == "|":
            open_groups[-1].append(_Branch())
        elif kind == "other" and sign == ")":
            texts = _of_all(open_groups.pop())
            if texts and not is_repeated:
                open_groups[-1][-1].of_groups.append(texts)
    return _of_all(open_groups[0])


def _of_all(branches: list[_Branch]) -> tuple[str, ...]:
    known = [branch.best() for branch in branches]
    texts = tuple(dict.fromkeys(text for best in known for text in best))
    return texts if all(known) and len(texts) <= MAX_LITERALS else ()

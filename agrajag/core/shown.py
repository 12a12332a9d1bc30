"""Shows a wrong value of a document in a few words, whatever it is: aliases can make a small file's value endless."""

import reprlib

MAX_NAME = 120


class _Brief(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxstring = self.maxother = 80

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() <= MAX_NAME else f"a number of {x.bit_length()} bits"


shown = _Brief().repr
"""The value as Python writes it, at most some hundred characters of it."""


def field_name(name: object) -> str:
    """The name of a field as it stands in a document, which may be no text at all."""
    return name[:MAX_NAME] if isinstance(name, str) and name and name.isprintable() else shown(name)


def visible(text: str) -> str:
    """The text with what cannot be seen, line ends too, spelled out."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one printable line: what is not printable and every run of blanks is one blank. What is longer than
    `limit` ends in `…` there."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(printable.split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1].rstrip()}…"

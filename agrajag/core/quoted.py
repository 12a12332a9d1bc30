"""Finds what stands in quotation marks in the midst of a sentence: it may be the caller's own words, told back.

`Page 'connection refused' does not exist` says nothing about a connection. Marks that belong to a structure, as those
of JSON, of a Python dict or of `key="value"`, are no quotation, but a sentence within them may hold one.
"""

import re

MAX_QUOTED = 300
"""So many characters may stand between two marks."""
_FILLER = "_"
_IN_SENTENCE = rf"{{1,{MAX_QUOTED}}}"
# Each pattern's only group is what stands between the marks. No part of one can match in two ways.
_MARKS = tuple(
    re.compile(form)
    for form in (
        rf"(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){_IN_SENTENCE})'(?!\w)",
        rf'\\"((?:[^"\\\n]|\\[^"]){_IN_SENTENCE})\\"',
        rf'(?<!\\)"((?:[^"\\\n]|\\.){_IN_SENTENCE})"',
        rf"`([^`\n]{_IN_SENTENCE})`",
        rf"“([^“”\n]{_IN_SENTENCE})”",
        rf"„([^„“”\n]{_IN_SENTENCE})[“”]",
        rf"«([^«»\n]{_IN_SENTENCE})»",
    )
)
_MAYBE = frozenset("'\"`“„«")
_OPENS = re.compile(r"[{\[(,:]\s{0,20}\Z")
_CLOSES = re.compile(r"\s{0,20}[}\]),:]")
_INTRODUCES = re.compile(
    r"=\s?\Z"
    r"|\b(?:err(?:or)?|exception|message|msg|reason|cause|details?|desc(?:ription)?|stderr): ?\Z"
    r"|\berror \d{1,6} \(\w{1,30}\): ?\Z"
    r"|\b(?:(?:client|server) error|(?:return|respond|answer|fail|repli)ed(?: with)?"
    r"|(?:returns|responds|replies|says)(?: with)?|resulted in an?|response|status|said):? \Z",
    re.IGNORECASE,
)
"""What a client says before it tells a service's own words."""
_SIGNS_BEFORE = 48


def without_quotations(text: str) -> str:
    """The text, as long as before, with a filler for everything that is quoted; the same object where nothing is."""
    if _MAYBE.isdisjoint(text):
        return text
    found = [one for marks in _MARKS for one in marks.finditer(text)]
    spans = [one.span(1) for one in found if not _is_structure(text, one.start(), one.end())]
    if not spans:
        return text
    signs = list(text)
    for begin, end in spans:
        signs[begin:end] = _FILLER * (end - begin)
    return "".join(signs)


def _is_structure(text: str, begin: int, end: int) -> bool:
    before = text[max(begin - _SIGNS_BEFORE, 0) : begin]
    if _INTRODUCES.search(before) is not None:
        return True
    return (not before or _OPENS.search(before) is not None) and _CLOSES.match(text, end) is not None

"""The words of an inbox item: in German where the user's locale says so, else in English; always plain text.

A hint comes from a model that may have been lied to. It is shown to a person who trusts us, so nothing in it can be
clicked or rendered: links and markup are taken out, and what is left of it is one bounded line.
"""

import html
import re
import unicodedata
from typing import NamedTuple

from agrajag.core.redact import redacted_line

MAX_HINT = 200
MAX_TOOL_NAME = 80

_TAG = re.compile(r"<[^<>]*>")
_ANGLES = re.compile(r"[<>]")
_TOP_DOMAINS = (
    "com|net|org|info|biz|io|dev|app|ai|co|me|de|ch|at|eu|uk|us|fr|ru|cn|ly|xyz|top|site|online|link|click"
)
_LINK = re.compile(
    r"\]\([^)\s]*\)"
    r"|\b[a-z][a-z0-9+.-]*://\S*"
    r"|\b(?:javascript|vbscript|data|mailto|file|tel):\S+"
    r"|\bwww\.\S+"
    r"|\b(?:[\w-]+\.)+[a-z]{2,24}/\S*"
    rf"|\b(?:[\w-]+\.)+(?:{_TOP_DOMAINS})\b\S*",
    re.IGNORECASE,
)


class _Words(NamedTuple):
    title: str
    body: str


_ENGLISH = _Words(
    "Your access to {tool} does not work",
    "{tool} fails with your own account or credential. Sign in to it again or renew the credential in your settings, "
    "then try once more.",
)
_GERMAN = _Words(
    "Ihr Zugang zu {tool} funktioniert nicht",
    "{tool} schlägt mit Ihrem eigenen Konto oder Ihren Zugangsdaten fehl. Melden Sie sich dort neu an oder erneuern "
    "Sie die Zugangsdaten in Ihren Einstellungen, und versuchen Sie es dann noch einmal.",
)
_NO_NAME = {_ENGLISH: "A tool", _GERMAN: "Ein Tool"}


class Message(NamedTuple):
    """What a user reads."""

    title: str
    body: str


def message(tool_name: str, hint: str | None, locale: str | None) -> Message:
    """The item about `tool_name`. `hint` is already in the user's language; without one a sentence of our own."""
    words = _GERMAN if is_german(locale) else _ENGLISH
    tool = plain_text(tool_name, MAX_TOOL_NAME) or _NO_NAME[words]
    return Message(words.title.format(tool=tool), hint or words.body.format(tool=tool))


def is_german(locale: str | None) -> bool:
    """Whether a locale such as `de`, `de-CH` or `de_AT` is German."""
    return locale is not None and re.split("[-_]", locale, maxsplit=1)[0].lower() == "de"


def plain_text(text: str, limit: int) -> str:
    """`text` as one line without links, markup, secrets and what cannot be seen; empty where no word is left.

    To do it twice is to do it once, for what is shorter than `limit`.
    """
    shown = unicodedata.normalize("NFKC", html.unescape(text))
    while (without := _LINK.sub(" ", _ANGLES.sub(" ", _TAG.sub(" ", shown)))) != shown:
        shown = without
    line = redacted_line(shown, limit)
    return line if any(map(str.isalnum, line)) else ""

"""The words of an inbox item: in German where the user's locale says so, else in English; always plain text.

A hint comes from a model that may have been lied to, and a tool's name from whoever reports errors. Both are shown to a
person who trusts us, so nothing in them leads anywhere.
"""

from typing import NamedTuple

from agrajag.core.plain_text import without_addresses
from agrajag.model.events import Locale

MAX_HINT = 200
_MAX_TOOL_NAME = 80


class Message(NamedTuple):
    """What a user reads."""

    title: str
    body: str


_ENGLISH = Message(
    "Your access to {tool} does not work",
    "{tool} fails with your own account or credential. Sign in to it again or renew the credential in your settings, "
    "then try once more.",
)
_GERMAN = Message(
    "Ihr Zugang zu {tool} funktioniert nicht",
    "{tool} schlägt mit Ihrem eigenen Konto oder Ihren Zugangsdaten fehl. Melden Sie sich dort neu an oder erneuern "
    "Sie die Zugangsdaten in Ihren Einstellungen, und versuchen Sie es dann noch einmal.",
)


def message(tool_name: str, hint: str | None, locale: Locale | None) -> Message:
    """The item about a tool. `hint` is fit to be shown, in the user's language; without one there is a general one."""
    german = is_german(locale)
    words = _GERMAN if german else _ENGLISH
    tool = without_addresses(tool_name, _MAX_TOOL_NAME) or ("einem Tool" if german else "a tool")
    return Message(words.title.replace("{tool}", tool), hint or words.body.replace("{tool}", tool))


def shown_hint(hint: str | None) -> str | None:
    """The hint of an answer as it may be shown: one plain line; None where no word of it is left."""
    line = without_addresses(hint, MAX_HINT) if hint else ""
    return line if any(map(str.isalnum, line)) else None


def is_german(locale: Locale | None) -> bool:
    """Whether a locale such as `de-CH` or `de_AT` asks for German."""
    return (locale or "").replace("_", "-").lower().split("-")[0] == "de"

"""Says to a user, in their language, what they can do themselves: German for a German locale, else English.

Plain text of at most 200 characters, without addresses: a hint is never a way to lead anybody anywhere.
"""

from enum import StrEnum

from agrajag.core.inbox_text import is_german
from agrajag.model.events import Locale

MAX_HINT = 200
_LONGEST_NAME = 80


class Advice(StrEnum):
    """What a user can do."""

    RENEW = "renew"
    CHECK_CREDENTIALS = "check_credentials"
    ASK_OPERATOR = "ask_operator"


_ENGLISH = {
    Advice.RENEW: "Your sign-in to {tool} has expired. Renew it in your settings.",
    Advice.CHECK_CREDENTIALS: "{tool} does not accept your credentials. Check or renew them in your settings.",
    Advice.ASK_OPERATOR: "{tool} works, but not for your account. Try another account, or ask who runs it.",
}
_GERMAN = {
    Advice.RENEW: "Ihre Anmeldung bei {tool} ist abgelaufen. Bitte in den Einstellungen erneuern.",
    Advice.CHECK_CREDENTIALS: "{tool} nimmt Ihre Zugangsdaten nicht an. Bitte in den Einstellungen prüfen"
    " oder erneuern.",
    Advice.ASK_OPERATOR: "{tool} funktioniert, aber nicht für Ihr Konto. Bitte ein anderes Konto versuchen oder"
    " beim Betreiber nachfragen.",
}


def hint(advice: Advice, tool_name: str, locale: Locale | None) -> str:
    """The advice about this tool, in the language of the locale."""
    texts = _GERMAN if is_german(locale) else _ENGLISH
    name = tool_name if len(tool_name) <= _LONGEST_NAME else tool_name[: _LONGEST_NAME - 1] + "…"
    return texts[advice].format(tool=name)

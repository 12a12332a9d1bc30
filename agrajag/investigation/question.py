"""What an investigation is asked, and the one message that the model gets of it (spec single-react: Diagnosis input).

The query is the caller's own text and goes through character for character: not stripped, normalised, redacted or cut.
What does not fit is refused before any model is asked. No error here quotes what was asked.
"""

import re
from enum import StrEnum

import orjson

from agrajag.errors import InputError
from agrajag.investigation.draft import Conclusion, DiagnosisDraft, Texts
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.limits import Limits
from agrajag.investigation.strict_json import JsonFault, read_object


class QuestionFault(StrEnum):
    """The reasons of the InputErrors of this module, and no others."""

    BLANK = "blank"
    TOO_LARGE = "too_large"
    NOT_UNICODE = "not_unicode"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    DUPLICATE_KEY = "duplicate_key"
    INVALID_FIELD = "invalid_field"


class PreviousTurn(FrozenModel):
    """What a follow-up question may know of the turn before: no call id, no result of a tool, no history."""

    query: str
    conclusion: Conclusion | None
    missing_info: Texts


class Question(FrozenModel):
    """What a caller asks. Whether it is blank or too large shows when the message is written."""

    query: str
    previous_turn: PreviousTurn | None = None


def previous_turn(query: str, draft: DiagnosisDraft) -> PreviousTurn:
    """The turn that asked `query` and was answered by `draft`, as the next one may know it."""
    return PreviousTurn(query=query, conclusion=draft.conclusion, missing_info=draft.limitations.missing_info)


def read_question(raw: bytes | str) -> Question:
    """The question in a JSON object of exactly these fields; `previous_turn` may be left out.

    Raises InputError with a QuestionFault as its reason.
    """
    text = raw if isinstance(raw, str) else _decoded(raw)
    if text is None:
        raise InputError(QuestionFault.NOT_UNICODE, "question: is not UTF-8")
    question = read_object(Question, text)
    if isinstance(question, JsonFault):
        raise InputError(*_AS_INPUT_ERROR[question])
    return question


def user_message(query: str, previous: PreviousTurn | None, limits: Limits) -> str:
    """The message `{"query": …, "previous_turn": …}`, both keys always. Sizes are counted in UTF-8 bytes.

    Raises InputError with a QuestionFault as its reason.
    """
    _check_bytes("query", len(query.encode(errors="surrogatepass")), limits.query_bytes)
    _check_text("query", query)
    turn = None
    if previous is not None:
        _check_text("previous_turn.query", previous.query)
        turn = previous.model_dump(mode="json")
        _check_bytes("previous_turn", len(orjson.dumps(turn)), limits.previous_turn_bytes)
    message = orjson.dumps({"query": query, "previous_turn": turn})
    _check_bytes("input", len(message), limits.input_bytes)
    return message.decode()


_AS_INPUT_ERROR = {
    JsonFault.NOT_ONE_OBJECT: (QuestionFault.NOT_AN_OBJECT, "question: is not one JSON object alone"),
    JsonFault.MALFORMED: (QuestionFault.NOT_JSON, "question: is no JSON of whole Unicode characters"),
    JsonFault.DUPLICATE_KEY: (QuestionFault.DUPLICATE_KEY, "question: has a key twice"),
    JsonFault.SCHEMA: (
        QuestionFault.INVALID_FIELD,
        "question: a field is missing, unknown or of a wrong type",
    ),
}


_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def _decoded(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _check_text(name: str, text: str) -> None:
    if _HALF_A_PAIR.search(text) is not None:
        raise InputError(QuestionFault.NOT_UNICODE, f"{name}: holds half a surrogate pair")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise InputError(QuestionFault.BLANK, f"{name}: has nothing in it that can be seen")


def _check_bytes(name: str, size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        raise InputError(QuestionFault.TOO_LARGE, f"{name}: {size_bytes} bytes, limit {limit_bytes}")

"""Decides whether the last text of a model is a draft, by its form alone (spec single-react: Diagnosis output).

Strict, and without a second chance: nothing is cut out of prose, repaired or coerced. Total: every text ends in a
draft or in a code, and a code is all that is left of a text that is none.
"""

from collections.abc import Sequence

from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.failures import DraftFault
from agrajag.investigation.strict_json import JsonFault, read_object


def parse_draft(texts: Sequence[str], max_bytes: int) -> DiagnosisDraft | DraftFault:
    """The draft in the text blocks of an answer, which must be one; `max_bytes` counts its UTF-8, white space too.

    The call ids in it are the exact strings that the model wrote. Never raises.
    """
    if not any(text.strip() for text in texts):
        return DraftFault.EMPTY
    if len(texts) > 1:
        return DraftFault.NOT_ONE_TEXT
    [text] = texts
    if len(text.encode(errors="surrogatepass")) > max_bytes:
        return DraftFault.TOO_LARGE
    found = read_object(DiagnosisDraft, text)
    return DraftFault(found) if isinstance(found, JsonFault) else found

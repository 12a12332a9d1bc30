"""Takes a credential out of text that may repeat it, in every form it was or may have been sent in.

Where a text was cut, a part of the credential may stand at that edge, and is taken out as well: nobody who keeps only a
part of a response has to know the credential, as long as the part begins with the response or is longer than any form.
"""

import base64
import codecs
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from agrajag.core.secret_shapes import MARKER
from agrajag.diagnosis.adapter import Secret

_INSIDE_A_CHARACTER = bytes(range(0x80, 0xC0))


class Echoes:
    """Knows the forms of one credential; of None there are none."""

    def __init__(self, secret: Secret | None) -> None:
        self._forms = _forms(secret)

    @property
    def longest_bytes(self) -> int:
        """The length of the longest form in UTF-8."""
        return max((len(form.encode()) for form in self._forms), default=0)

    def removed(self, text: str, *, cut_before: bool = False, cut_after: bool = False) -> str:
        """`text` with `[redacted]` in place of every form, and of a part of one where the text was cut."""
        spans = [span for form in self._forms for span in _spans(form, text, cut_before, cut_after)]
        pieces: list[str] = []
        done = 0
        for start, stop in sorted(spans):
            if start >= done:
                pieces += (text[done:start], MARKER)
            done = max(done, stop)
        pieces.append(text[done:])
        return "".join(pieces)

    def text_of(self, body: bytes, *, cut_before: bool = False, cut_after: bool = False) -> str:
        """Bytes as such a text; what is none is not shown, as nothing could be found in it."""
        if b"\0" in body:
            return f"[{len(body)} bytes that are no text]"
        if cut_before:
            body = body.lstrip(_INSIDE_A_CHARACTER)
        decoder = codecs.getincrementaldecoder("utf-8")(
            "replace"
        )  # which leaves out the half of a last character
        text = decoder.decode(body, final=not cut_after)
        return self.removed(text, cut_before=cut_before, cut_after=cut_after)


def _spans(form: str, text: str, cut_before: bool, cut_after: bool) -> Iterator[tuple[int, int]]:
    for found in re.finditer(re.escape(form), text):
        yield found.span()
    parts = range(min(len(form) - 1, len(text)), 0, -1)
    if cut_before:
        yield from ((0, n) for n in parts if text[n - 1] == form[-1] and text.startswith(form[-n:]))
    if cut_after:
        yield from (
            (len(text) - n, len(text)) for n in parts if text[-n] == form[0] and text.endswith(form[:n])
        )


def _forms(secret: Secret | None) -> frozenset[str]:
    """Every spelling in which a credential may come back."""
    if secret is None:
        return frozenset()
    text = secret.reveal()
    _, _, password = text.partition(":")
    found: set[str] = set()
    for one in filter(None, (text, password)):
        found |= {one, quote(one, safe=""), quote(one), quote_plus(one)}
        found |= {json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]}
        coded = base64.b64encode(one.encode()).decode()
        found |= {coded, coded.rstrip("="), base64.urlsafe_b64encode(one.encode()).decode().rstrip("=")}
    return frozenset(found)

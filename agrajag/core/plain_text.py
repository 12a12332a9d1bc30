"""Makes plain text of what a model wrote for people: no markup, no links, nothing that cannot be seen.

A note may be shown by anything: a page, a mail, a terminal. So it holds nothing that any of them would act on.
"""

import re

from agrajag.core.redact import redacted_line

_MOST_READ = 4_000
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()]{0,500}\)")
_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")
_OPEN_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SCHEME = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|javascript:|data:\w{1,20}/|mailto:)\S*", re.IGNORECASE
)
_ADDRESS = re.compile(r"[\w-]\.[^\W\d_]{2}|@")
_REMOVED = "[link removed]"


def plain_text(text: str, limit: int) -> str:
    """The text on one line without tags and links, redacted; at most `limit` characters."""
    seen = "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text.replace("\r\n", "\n"))
    seen = redacted_line(seen, _MOST_READ)  # while its tags and lines still tell a secret
    seen = _MARKDOWN_LINK.sub(r"\1", seen)
    while (untagged := _TAG.sub(" ", seen)) != seen:
        seen = untagged
    seen = _OPEN_TAG.sub("‹", seen)
    return redacted_line(_SCHEME.sub(_REMOVED, seen), limit)


def without_addresses(text: str, limit: int) -> str:
    """Plain text without even the name of a host or a mailbox: it leads nobody anywhere."""
    words = plain_text(text, _MOST_READ).replace(_REMOVED, " ").split()
    return redacted_line(" ".join(word for word in words if _ADDRESS.search(word) is None), limit)

"""Asks a monitor as a probe does."""

import json
import urllib.error
import urllib.request
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


def ask(url: str, method: str = "GET", token: str | None = None) -> Answer:
    """One request. Raises OSError where nobody listens."""
    request = urllib.request.Request(url, method=method)  # noqa: S310 - a test's own address
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return Answer(answer.status, answer.read().decode())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return Answer(refusal.code, refusal.read().decode())

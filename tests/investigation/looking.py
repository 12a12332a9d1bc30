"""What tests of sources ask with, and what they take for granted of an answer."""

from collections.abc import Sequence
from typing import Any

from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, Found

IDS = CallIds("session-1", "run-1", "call-1")


def items(answer: Found | Failed) -> Sequence[Any]:
    """What was found, of a look that has not failed."""
    assert isinstance(answer, Found), answer
    return answer.items

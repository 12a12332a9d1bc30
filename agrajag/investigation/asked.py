"""Decides what is kept of a business request: what makes two of them the same, and what of one stands on record."""

from hashlib import sha256
from typing import Any

import orjson

from agrajag.core.redact import redacted_start
from agrajag.investigation.frozen_model import FrozenModel

MAX_CHARACTERS = 4_000
"""Of one text of a request on record."""


def canonical(tool_name: str, request: FrozenModel) -> str:
    """Equal for calls that ask the same of the same tool, whether or not they spell out what is the default."""
    return f"{tool_name} {_canonical_json(request).decode()}"


def input_hash(request: FrozenModel) -> str:
    """The SHA-256 of the request's canonical JSON, in hex."""
    return sha256(_canonical_json(request)).hexdigest()


def recorded_input(request: FrozenModel) -> dict[str, Any]:
    """The request as JSON data, its texts redacted and bounded."""
    return {
        name: redacted_start(value, MAX_CHARACTERS) if isinstance(value, str) else value
        for name, value in request.model_dump(mode="json").items()
    }


def _canonical_json(request: FrozenModel) -> bytes:
    return orjson.dumps(request.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)

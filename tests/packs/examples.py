"""The examples of pack rules as the errors that they stand for."""

from collections.abc import Mapping
from typing import Any

from agrajag.core import proofs
from agrajag.model.events import ToolCallError
from tests.builders import an_error

_SOMEBODY = an_error()


def error_of(example: Mapping[str, Any]) -> ToolCallError:
    """The error that an example shows, of Alice's call in the project of `an_error`."""
    shown = proofs.error_of(example)
    return shown.model_copy(
        update={
            name: getattr(_SOMEBODY, name)
            for name in ("event_id", "occurred_at", "tenant_id", "project_id", "user_id")
        }
    )

"""Reads the params of a recipe, which anybody may have written (spec agrajag §10, §5.2).

What bounds a run is never lost to a slip of the pen: junk is the default, and too much is the most there may be. What
chooses the model has been checked with the recipe (`documents/recipe_files.py`).
"""

from collections.abc import Mapping
from typing import Any

DEFAULT_PROBES = 3
MOST_PROBES = 6
DEFAULT_ITERATIONS = 3
MOST_ITERATIONS = 12
TENANT_SCOPE = "tenant"


def max_probes(params: Mapping[str, Any]) -> int:
    """How often one run may probe: 0 to 6, 3 where nothing usable is said. Text that is a number counts as one."""
    return min(max(_whole_number(params.get("maxProbes"), DEFAULT_PROBES), 0), MOST_PROBES)


def max_iterations(params: Mapping[str, Any]) -> int:
    """How many rounds of one run may call tools: 1 to 12, 3 where nothing usable is said. Counted apart from probes."""
    return min(max(_whole_number(params.get("maxIterations"), DEFAULT_ITERATIONS), 1), MOST_ITERATIONS)


def model_wishes(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that are wished for, the first one first: `default:<alias>`, or the name of a model."""
    wished = params.get("model")
    if not isinstance(wished, str):
        return ()
    return tuple(filter(None, map(str.strip, wished.split(","))))


def is_pinned_to_tenant(params: Mapping[str, Any]) -> bool:
    """Whether only the tenant's settings say what an alias means, not the project's."""
    return params.get("aiScope") == TENANT_SCOPE


def _whole_number(value: object, default: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        number = int(value)  # of a text as well; a float's fraction shows below
    except (ValueError, OverflowError):
        return default
    return number if isinstance(value, str) or number == value else default

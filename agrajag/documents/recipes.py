"""What a recipe says: which engine answers a kind of job, as what, and within which bounds (spec agrajag §10).

The narrowest recipe of a name counts as a whole; nothing is merged. One that is broken is not replaced by a wider one:
there is no diagnosis then, with a reason that can be seen, rather than one by rules that nobody wrote.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agrajag.core.rules import Problem

RECIPES_FOLDER = "_vance/recipes"
_SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A usable recipe. `source` is what messages call its document. `prompt_prefix` is kept and never read."""

    name: str
    engine: str
    source: str
    description: str = ""
    category: str = ""
    roles: frozenset[str] = frozenset()
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    output_schema: Mapping[str, Any] | None = None
    post_actions: tuple[Mapping[str, Any], ...] = ()
    allowed_tools: tuple[str, ...] = ()
    prompt_prefix: str | None = None


@dataclass(frozen=True, slots=True)
class BrokenRecipe:
    """A recipe that stands there and cannot be used, and why."""

    source: str
    problems: tuple[Problem, ...]


def recipe_path(name: str) -> str:
    """Where the recipe of a name stands in the cascade."""
    return f"{RECIPES_FOLDER}/{name}{_SUFFIX}"


def is_below_recipes(path: str) -> bool:
    """Whether a document stands where recipes do, even if it is none."""
    return path.startswith(f"{RECIPES_FOLDER}/")


def recipe_name(path: str) -> str | None:
    """The name of the recipe that stands at `path`; None where none can."""
    name = path.removeprefix(f"{RECIPES_FOLDER}/").removesuffix(_SUFFIX)
    return name if name and "/" not in name and path == recipe_path(name) else None

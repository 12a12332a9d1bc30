"""Decides which recipe speaks for a tenant and project: the narrowest of its name, broken or not (spec agrajag §10)."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from agrajag.core.rules import Problem
from agrajag.documents.cascade import Cascade, DocumentName, bundled_documents, bundled_source
from agrajag.documents.recipe_files import read_recipe
from agrajag.documents.recipes import BrokenRecipe, Recipe, is_below_recipes, recipe_name, recipe_path
from agrajag.errors import ConfigError


class _Reading(NamedTuple):
    content: str
    recipe: Recipe | BrokenRecipe


class RecipeBook:
    """The recipes of all tenants and projects, over the bundled ones. It never changes.

    What has not changed is taken from the book `before` and not read again.
    """

    def __init__(self, cascade: Cascade, before: "RecipeBook | None" = None) -> None:
        known: Mapping[DocumentName, _Reading] = before._readings if before else {}
        self._readings: dict[DocumentName, _Reading] = {
            name: _read(name, content, known.get(name))
            for name, content in cascade.documents.items()
            if is_below_recipes(name.path)
        }

    def find(self, tenant_id: str, project_id: str | None, name: str) -> Recipe | BrokenRecipe | None:
        """The recipe of this name: the project's, else the tenant's, else the bundled one; None where there is none."""
        path = recipe_path(name)
        for project in dict.fromkeys((project_id, None)):
            reading = self._readings.get(DocumentName(tenant_id, project, path))
            if reading is not None:
                return reading.recipe
        return bundled_recipe(name)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with all recipes that cannot be used."""
        recipes = (reading.recipe for reading in self._readings.values())
        return tuple(
            problem for recipe in recipes if isinstance(recipe, BrokenRecipe) for problem in recipe.problems
        )


@cache
def bundled_recipe(name: str) -> Recipe | None:
    """The recipe that comes with the package. A problem in it is a broken installation and raises ConfigError."""
    path = recipe_path(name)
    text = bundled_documents().get(path)
    if text is None:
        return None
    recipe = read_recipe(text, name, bundled_source(path))
    if isinstance(recipe, BrokenRecipe):
        raise ConfigError(*map(str, recipe.problems))
    return recipe


def _read(document: DocumentName, content: str, known: _Reading | None) -> _Reading:
    if known is not None and known.content == content:
        return known
    name = recipe_name(document.path)
    if name is None:
        problem = Problem(str(document), None, "path", f"a recipe stands at {recipe_path('<its name>')}")
        return _Reading(content, BrokenRecipe(str(document), (problem,)))
    return _Reading(content, read_recipe(content, name, str(document)))

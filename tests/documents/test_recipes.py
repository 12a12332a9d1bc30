"""Recipes: the shape of the specification, the narrowest as a whole, and a broken one never replaced by a wider one."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agrajag.documents.cascade import DocumentName, bundled_documents
from agrajag.documents.pushing import faults_of
from agrajag.documents.recipe_book import RecipeBook, bundled_recipe
from agrajag.documents.recipe_files import read_recipe
from agrajag.documents.recipes import BrokenRecipe, Recipe, recipe_path
from agrajag.documents.rulebook import Rulebook
from agrajag.model.enums import Classification, Scope
from tests.documents.texts import a_cascade, a_recipe_file, recipe_at


def _problems(text: str, name: str = "agrajag") -> list[str]:
    found = read_recipe(text, name, "here")
    assert isinstance(found, BrokenRecipe)
    assert {problem.source for problem in found.problems} == {found.source} == {"here"}
    return [f"{problem.field}: {problem.reason}" for problem in found.problems]


def test_the_bundled_recipe_is_that_of_the_specification() -> None:
    recipe = bundled_recipe("agrajag")
    assert recipe is not None
    assert (recipe.engine, recipe.category) == ("agrajag", "service")
    assert recipe.roles == {"tool-prober", "tool-health-writer", "tool-health-reader"}
    assert dict(recipe.params) == {
        "model": "default:agrajag,default:fast",
        "maxProbes": 3,
        "maxIterations": 3,
        "aiScope": "tenant",
    }
    assert recipe.allowed_tools == ("tool_probe_as_user", "tool_probe_as_system", "tool_health_read")
    assert [dict(action) for action in recipe.post_actions] == [
        {"on": "schema-valid-output", "do": "writeHealthDoc"}
    ]
    assert recipe.prompt_prefix is None
    schema: Any = recipe.output_schema
    assert schema["required"] == ["classification", "scope", "humanNote"]
    assert schema["properties"]["classification"]["enum"] == list(Classification)
    assert schema["properties"]["scope"]["enum"] == list(Scope)


def test_a_recipe_that_says_only_its_engine_may_nothing() -> None:
    recipe = read_recipe("frankie: {engine: mender}", "frankie", "here")
    assert recipe == Recipe(name="frankie", engine="mender", source="here")
    assert (recipe.roles, recipe.allowed_tools, dict(recipe.params)) == (frozenset(), (), {})


def test_a_prompt_prefix_is_kept() -> None:
    recipe = read_recipe(a_recipe_file("agrajag", promptPrefix="You are"), "agrajag", "here")
    assert isinstance(recipe, Recipe)
    assert recipe.prompt_prefix == "You are"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agrajag: [", "yaml: "),
        ("", "recipe: the file must be a mapping with the one key 'agrajag'"),
        ("- agrajag", "recipe: the file must be a mapping"),
        ("agrajag: {engine: a}\nfrankie: {engine: b}", "recipe: the file must be a mapping"),
        ("frankie: {engine: frankie}", "recipe: the recipe is called frankie, and its file agrajag"),
        ("agrajag: yes", "recipe: True is not a mapping"),
        ("agrajag: {roles: []}", "engine: is required"),
        (a_recipe_file("agrajag", engine=7), "engine: 7 is not a name"),
        (a_recipe_file("agrajag", engine="a\u202eb"), "engine: 'a\\u202eb' is not a name"),
        (a_recipe_file("agrajag", alowedTools=[]), "alowedTools: unknown field"),
        (a_recipe_file("agrajag", roles="tool-prober"), "roles: 'tool-prober' is not a list"),
        (a_recipe_file("agrajag", allowedTools=["a"] * 101), "allowedTools: "),
        (a_recipe_file("agrajag", allowedTools=["a", {"b": 1}]), "allowedTools: {'b': 1} is not a name"),
        (a_recipe_file("agrajag", params=[]), "params: [] is not a mapping"),
        ("agrajag: {engine: a, params: {1: 2}}", "params: {1: 2} is not a mapping"),
        (a_recipe_file("agrajag", params={"aiScope": "Tenant"}), "params.aiScope: 'Tenant' is not one of"),
        (a_recipe_file("agrajag", params={"aiScope": None}), "params.aiScope: None is not one of"),
        (a_recipe_file("agrajag", params={"model": ["a"]}), "params.model: ['a'] is not a text"),
        (a_recipe_file("agrajag", outputSchema="object"), "outputSchema: 'object' is not a mapping"),
        (a_recipe_file("agrajag", postActions=[{"on": "x"}]), "postActions.1: {'on': 'x'} is not"),
        (a_recipe_file("agrajag", promptPrefix="x" * 20_001), "promptPrefix: "),
    ],
)
def test_a_mistake_breaks_the_recipe_and_is_told(text: str, told: str) -> None:
    (problem,) = _problems(text)
    assert problem.startswith(told)
    assert len(problem) < 500


def test_all_that_is_wrong_is_told_at_once() -> None:
    told = _problems("agrajag: {roles: 1, params: {aiScope: mine}, tools: []}")
    assert [problem.partition(":")[0] for problem in told] == ["roles", "params.aiScope", "tools", "engine"]


_FIELDS = st.sampled_from(["engine", "roles", "params", "agrajag", "postActions"])
_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | _FIELDS, inner),
)


@given(_DATA)
def test_whatever_a_file_holds_it_is_a_recipe_or_says_why_not(data: Any) -> None:
    for content in (data, {"agrajag": data}):
        found = read_recipe(yaml.safe_dump(content), "agrajag", "here")
        assert isinstance(found, Recipe) or found.problems


def test_the_first_hit_counts_as_a_whole() -> None:
    cascade = a_cascade(
        [
            (recipe_at("agrajag", "acme"), a_recipe_file("agrajag", params={"maxProbes": 1})),
            (recipe_at("agrajag", "acme", "essays"), a_recipe_file("agrajag", roles=["tool-prober"])),
        ]
    )
    book = RecipeBook(cascade)
    found = {project: book.find("acme", project, "agrajag") for project in (None, "novels", "essays")}
    assert found[None] is found["novels"]
    tenants, projects = found[None], found["essays"]
    assert isinstance(tenants, Recipe)
    assert isinstance(projects, Recipe)
    assert (dict(tenants.params), tenants.roles) == ({"maxProbes": 1}, frozenset())
    assert not projects.params
    assert projects.roles == {"tool-prober"}
    assert projects.source == f"acme/essays/{recipe_path('agrajag')}"
    assert book.find("globex", "essays", "agrajag") is bundled_recipe("agrajag")
    assert book.find("acme", "essays", "frankie") is None


@pytest.mark.parametrize("project", [None, "essays"])
def test_a_broken_recipe_is_found_broken_and_a_wider_one_never_instead(project: str | None) -> None:
    documents = {recipe_at("agrajag", "acme"): a_recipe_file("agrajag")}
    documents[recipe_at("agrajag", "acme", project)] = "agrajag: {engine: agrajag, params: 7}"
    book = RecipeBook(a_cascade(documents.items()))
    found = book.find("acme", "essays", "agrajag")
    assert isinstance(found, BrokenRecipe)
    assert book.problems == found.problems
    assert found.problems[0].field == "params"


def test_a_recipe_that_breaks_does_not_keep_what_it_said() -> None:
    name = recipe_at("agrajag", "acme")
    good = Rulebook(a_cascade([(name, a_recipe_file("agrajag"))]))
    broken = Rulebook(a_cascade([(name, "agrajag: {")]), before=good)
    assert isinstance(broken.recipes.find("acme", None, "agrajag"), BrokenRecipe)
    mended = Rulebook(a_cascade([(name, a_recipe_file("agrajag"))]), before=broken)
    assert mended.recipes.find("acme", None, "agrajag") == good.recipes.find("acme", None, "agrajag")


def test_what_has_not_changed_is_not_read_again() -> None:
    name = recipe_at("agrajag", "acme")
    first = Rulebook(a_cascade([(name, a_recipe_file("agrajag"))]))
    second = Rulebook(a_cascade([(name, a_recipe_file("agrajag"))]), before=first)
    assert second.recipes.find("acme", None, "agrajag") is first.recipes.find("acme", None, "agrajag")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (recipe_path("agrajag"), "agrajag: {engine: 7}"),
        ("_vance/recipes/agrajag.yml", "agrajag: {engine: agrajag}"),
        ("_vance/recipes/more/agrajag.yaml", "agrajag: {engine: agrajag}"),
    ],
)
def test_who_pushes_a_recipe_that_cannot_be_used_is_told(path: str, text: str) -> None:
    name = DocumentName("acme", "essays", path)
    (problem,) = faults_of({name: text}).problems
    assert problem.source == str(name)
    assert Rulebook(a_cascade([(name, text)])).problems == (problem,)


def test_the_bundled_recipe_can_be_copied_as_a_tenants_own() -> None:
    text = bundled_documents()[recipe_path("agrajag")]
    assert faults_of({recipe_at("agrajag", "acme"): text}).problems == ()


def test_the_recipe_in_the_readme_can_be_used() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (text,) = re.findall(r"```yaml\n(agrajag: .*?)```", readme, re.DOTALL)
    assert isinstance(read_recipe(text, "agrajag", "README.md"), Recipe)

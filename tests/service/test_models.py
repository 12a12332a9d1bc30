"""Which of the operator's models answers: the first that is configured, by whom it may be."""

import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from agrajag.errors import ConfigError
from agrajag.harness import Model, ModelAccess, NoModel
from agrajag.metrics import MODELS_UNDECLARED
from agrajag.service.models import DeclaredModels, Models, chosen
from tests.documents.texts import settings_at
from tests.service.attempting import Standing, a_recipe
from tests.wire.records import counting

_WISHES = ("default:agrajag", "default:fast")
_DECLARED = {
    name: ModelAccess(f"claude-{name}", f"https://{name}.example.com", None if name == "keyless" else "key")
    for name in ("small", "large", "keyless")
}


@pytest.fixture
def documents() -> Standing:
    return Standing()


@pytest.fixture
async def models(documents: Standing) -> AsyncIterator[Models]:
    async with Models(documents, DeclaredModels(_DECLARED, default="small")) as made:
        yield made


def _name(model: Model | NoModel) -> str:
    assert isinstance(model, Model)
    return model.access.name


@pytest.mark.parametrize(
    ("aliases", "wanted"),
    [
        ({"agrajag": "large", "fast": "small"}, "large"),
        ({"fast": "large"}, "large"),
        ({}, "small"),
        ({"agrajag": "strange", "fast": "large"}, "large"),
        ({"agrajag": "strange"}, "small"),
        ({"other": "large"}, "small"),
    ],
)
def test_the_first_alias_that_is_configured_counts_then_the_operators_default(
    aliases: dict[str, str], wanted: str
) -> None:
    assert chosen(_WISHES, aliases, _DECLARED, "small").model == wanted


def test_a_model_may_be_named_outright_if_it_is_declared() -> None:
    assert chosen(("strange", "large"), {}, _DECLARED, None).model == "large"
    assert chosen(("strange",), {}, _DECLARED, None).model is None
    # What looks like an alias is never taken for the name of a model.
    assert chosen(("default:large",), {}, _DECLARED, None).model is None


def test_a_default_that_is_not_declared_stops_the_start() -> None:
    with pytest.raises(ConfigError, match="'strange' is not declared"):
        DeclaredModels(_DECLARED, default="strange")


@pytest.mark.parametrize(
    ("ai_scope", "wanted"),
    [({"aiScope": "tenant"}, "claude-large"), ({"aiScope": "project"}, "claude-small"), ({}, "claude-small")],
)
async def test_pinned_to_the_tenant_a_projects_settings_have_no_say(
    models: Models, documents: Standing, ai_scope: dict[str, str], wanted: str
) -> None:
    documents.put(
        {
            settings_at("acme"): "ai.alias.agrajag: large",
            settings_at("acme", "essays"): "ai.alias.agrajag: small",
        }
    )
    recipe = a_recipe(params={"model": "default:agrajag"} | ai_scope)
    assert _name(models.choose(recipe, "acme", "essays")) == wanted
    assert _name(models.choose(recipe, "acme", "novels")) == "claude-large"
    assert _name(models.choose(recipe, "globex", "essays")) == "claude-small"


async def test_pinned_to_the_tenant_a_projects_alias_does_not_even_count_as_configured(
    models: Models, documents: Standing
) -> None:
    documents.put({settings_at("acme", "essays"): "ai.alias.agrajag: large"})
    recipe = a_recipe(params={"model": "default:agrajag", "aiScope": "tenant"})
    assert _name(models.choose(recipe, "acme", "essays")) == "claude-small"


async def test_an_alias_of_an_undeclared_model_is_counted_and_told_once(
    models: Models, documents: Standing
) -> None:
    documents.put({settings_at("acme"): "ai.alias.agrajag: strange\nai.alias.fast: large"})
    recipe = a_recipe(params={"model": ",".join(_WISHES)})
    with counting(MODELS_UNDECLARED) as counted, capture_logs() as logs:
        for _ in range(3):
            assert _name(models.choose(recipe, "acme", None)) == "claude-large"
    assert counted() == 3
    (line,) = logs
    assert (line["event"], line["wish"], line["model"]) == (
        "model_not_declared",
        "default:agrajag",
        "strange",
    )


async def test_one_model_is_connected_once(models: Models) -> None:
    recipe = a_recipe()
    assert models.choose(recipe, "acme", None) is models.choose(recipe, "globex", "essays")


async def test_without_a_key_or_a_declared_model_there_is_none(documents: Standing) -> None:
    async with Models(documents, DeclaredModels(_DECLARED, default="keyless")) as keyless:
        assert keyless.choose(a_recipe(), "acme", None) is NoModel.NO_KEY
    async with Models(documents, DeclaredModels({})) as none:
        assert none.choose(a_recipe(), "acme", None) is NoModel.NOT_DECLARED


_WHO_IMPORTS_THE_SDK = """
import asyncio, sys
import agrajag.service.attempts
from agrajag.core.policy import Policy
from agrajag.documents.cascade import Cascade
from agrajag.documents.rulebook import Rulebook
from agrajag.harness import ModelAccess
from agrajag.service.models import DeclaredModels, Models

class Documents:
    rulebook = Rulebook(Cascade({}), Policy())

async def imported(key):
    access = ModelAccess("claude-small", "http://127.0.0.1:1", api_key=key)
    async with Models(Documents(), DeclaredModels({"claude-small": access}, "claude-small")):
        return "anthropic" in sys.modules

print(asyncio.run(imported(None)), asyncio.run(imported("key")))
"""


def test_the_sdk_is_imported_at_the_start_and_only_where_there_is_a_key() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _WHO_IMPORTS_THE_SDK], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["False", "True"]

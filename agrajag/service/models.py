"""Decides which of the operator's models answers for a tenant and project (spec agrajag §10).

A recipe wishes for aliases, documents say which model an alias means, and only models that the operator has declared
are ever asked. Addresses and keys stand in the operator's settings alone: a document that could name an address could
send the key there, and with it every prompt. An alias that means an undeclared model counts as not configured; this is
logged and counted, and the next wish is looked at.
"""

from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import structlog

from agrajag.documents.recipes import Recipe
from agrajag.errors import ConfigError
from agrajag.harness import Model, ModelAccess, NoModel, connect
from agrajag.metrics import MODELS_UNDECLARED
from agrajag.service.documents import Documents
from agrajag.service.params import is_pinned_to_tenant, model_wishes

log = structlog.get_logger(__name__)

ALIAS_MARK = "default:"
_MAX_TOLD = 10_000


@dataclass(frozen=True, slots=True)
class DeclaredModels:
    """The models that the operator lets be asked, by the name that documents use; `default` is the last resort.

    Raises ConfigError for a default that is not among them.
    """

    by_name: Mapping[str, ModelAccess]
    default: str | None = None

    def __post_init__(self) -> None:
        if self.default is not None and self.default not in self.by_name:
            raise ConfigError(f"default model: {self.default!r} is not declared")


class Undeclared(NamedTuple):
    """A wish that named a model which no operator has declared."""

    wish: str
    model: str


class Choice(NamedTuple):
    """The name of the model that is asked, None where there is none to ask; and what was passed over."""

    model: str | None
    passed_over: tuple[Undeclared, ...] = ()


def chosen(
    wishes: tuple[str, ...], aliases: Mapping[str, str], declared: Collection[str], default: str | None
) -> Choice:
    """The first wish that is configured, else the operator's default."""
    passed_over: list[Undeclared] = []
    for wish in wishes:
        name = aliases.get(wish.removeprefix(ALIAS_MARK)) if wish.startswith(ALIAS_MARK) else wish
        if name in declared:
            return Choice(name, tuple(passed_over))
        if name is not None:
            passed_over.append(Undeclared(wish, name))
    return Choice(default, tuple(passed_over))


class Models:
    """The models of one worker. An async context manager: it connects them at the start, since the SDK behind them
    takes seconds to import, for which no run shall wait."""

    def __init__(self, documents: Documents, declared: DeclaredModels) -> None:
        self._documents = documents
        self._declared = declared
        self._connected: dict[str, Model | NoModel] = {}
        self._closing = AsyncExitStack()
        self._told: set[tuple[str, str | None, Undeclared]] = set()

    async def __aenter__(self) -> Self:
        for name in self._declared.by_name:
            self._model(name)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._closing.aclose()

    def choose(self, recipe: Recipe, tenant_id: str, project_id: str | None) -> Model | NoModel:
        """The model that answers by this recipe, or why there is none. Sends nothing."""
        pinned = is_pinned_to_tenant(recipe.params)
        aliases = self._documents.rulebook.aliases(tenant_id, None if pinned else project_id)
        declared = self._declared
        choice = chosen(model_wishes(recipe.params), aliases, declared.by_name.keys(), declared.default)
        for undeclared in choice.passed_over:
            self._tell(tenant_id, project_id, undeclared)
        return NoModel.NOT_DECLARED if choice.model is None else self._model(choice.model)

    def _model(self, name: str) -> Model | NoModel:
        known = self._connected.get(name)
        if known is None:
            known = self._connected[name] = connect(self._declared.by_name[name])
            if isinstance(known, Model):
                self._closing.push_async_exit(known)
        return known

    def _tell(self, tenant_id: str, project_id: str | None, undeclared: Undeclared) -> None:
        MODELS_UNDECLARED.inc()
        told = (tenant_id, project_id, undeclared)
        if told not in self._told and len(self._told) < _MAX_TOLD:
            self._told.add(told)
            log.warning(
                "model_not_declared",
                tenant_id=tenant_id,
                project_id=project_id,
                wish=undeclared.wish,
                model=undeclared.model,
            )

"""Decides which documents speak for a tenant and project: project, tenant, bundled, the narrowest first.

A document without a project belongs to its whole tenant. A snapshot never changes, so whoever holds one sees all
documents of one moment.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import NamedTuple

from agrajag.model.keys import document_key

RULES_PATH = "_vance/agrajag/error-patterns.yaml"
SETTINGS_PATH = "_vance/settings.yaml"
TOOLS_PATH = "_vance/tools.yaml"
TENANT_LEVEL = "_tenant"
"""What stands for the project in the name of a document that belongs to its whole tenant."""


class DocumentName(NamedTuple):
    """What identifies a document; `project_id` is None for one of the whole tenant."""

    tenant_id: str
    project_id: str | None
    path: str

    @property
    def key(self) -> str:
        """The record key on the topic, and the id in the store."""
        return document_key(self.tenant_id, self.project_id, self.path)

    def __str__(self) -> str:
        return f"{self.tenant_id}/{self.project_id or TENANT_LEVEL}/{self.path}"


class LayerText(NamedTuple):
    """The text of one document, and what messages call it."""

    source: str
    content: str


def bundled_source(path: str) -> str:
    """What messages call the bundled document at `path`."""
    return f"agrajag/defaults/{path}"


@cache
def bundled_documents() -> Mapping[str, str]:
    """The text of every document that comes with the package, by path."""
    defaults = resources.files("agrajag").joinpath("defaults")
    return MappingProxyType(dict(_texts(defaults.joinpath("_vance"), "_vance")))


def _texts(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        below = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _texts(entry, below)
        else:
            yield below, entry.read_text("utf-8")


class Cascade:
    """All documents of one moment, by name, over the bundled ones."""

    def __init__(self, documents: Mapping[DocumentName, str]) -> None:
        self._documents = MappingProxyType(dict(documents))

    @property
    def documents(self) -> Mapping[DocumentName, str]:
        """The text of every document but the bundled ones."""
        return self._documents

    def owners(self, paths: Iterable[str]) -> set[tuple[str, str | None]]:
        """The tenants (project None) and projects that have a document of their own at one of these paths."""
        wanted = frozenset(paths)
        return {(name.tenant_id, name.project_id) for name in self._documents if name.path in wanted}

    def find(self, tenant_id: str, project_id: str | None, path: str) -> LayerText | None:
        """The narrowest document at `path`; None if there is not even a bundled one (spec agrajag §4.2)."""
        return next(reversed(self.layers(tenant_id, project_id, path)), None)

    def layers(self, tenant_id: str, project_id: str | None, path: str) -> tuple[LayerText, ...]:
        """Every document at `path` that speaks for the tenant and project, widest first, for merging."""
        found = []
        if (bundled := bundled_documents().get(path)) is not None:
            found.append(LayerText(bundled_source(path), bundled))
        for project in (None,) if project_id is None else (None, project_id):
            name = DocumentName(tenant_id, project, path)
            if (content := self._documents.get(name)) is not None:
                found.append(LayerText(str(name), content))
        return tuple(found)

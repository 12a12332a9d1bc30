"""Decides which declaration of a tool speaks for a tenant and project: that of the narrowest document that names it.

It speaks as a whole, broken or not marked as safe too: whoever wrote it did not mean the wider one. The same holds for
a document that cannot be read, which may name any tool.
"""

from collections.abc import Mapping
from typing import NamedTuple

from agrajag.core.rules import Problem
from agrajag.core.target_parsing import TargetsLayer, parse_targets, unusable_targets
from agrajag.core.targets import Declared
from agrajag.documents.cascade import TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.yaml_text import NotYaml, read_yaml


class _Reading(NamedTuple):
    content: str
    layer: TargetsLayer


class TargetBook:
    """The declared tools of all tenants and projects. It never changes.

    What has not changed is taken from the book `before` and not read again.
    """

    def __init__(self, cascade: Cascade, before: "TargetBook | None" = None) -> None:
        known: Mapping[DocumentName, _Reading] = before._readings if before else {}
        self._readings: dict[DocumentName, _Reading] = {
            name: _read(name, content, known.get(name))
            for name, content in cascade.documents.items()
            if name.path == TOOLS_PATH
        }

    def find(self, tenant_id: str, project_id: str | None, tool_name: str) -> Declared | None:
        """What is declared of a tool; None where no document speaks of it."""
        for project in dict.fromkeys((project_id, None)):
            reading = self._readings.get(DocumentName(tenant_id, project, TOOLS_PATH))
            declared = None if reading is None else reading.layer.declared(tool_name)
            if declared is not None:
                return declared
        return None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with all declarations."""
        return tuple(problem for reading in self._readings.values() for problem in reading.layer.problems)


def read_targets(text: str, source: str) -> TargetsLayer:
    """The declarations that a document's text holds. Never raises: text that is no YAML is a problem of all of it."""
    try:
        return parse_targets(read_yaml(text), source)
    except NotYaml as error:
        return unusable_targets(source, error.field, str(error))


def _read(name: DocumentName, content: str, known: _Reading | None) -> _Reading:
    if known is not None and known.content == content:
        return known
    return _Reading(content, read_targets(content, str(name)))

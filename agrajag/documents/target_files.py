"""Read declarations of tools into layers: YAML in, checked declarations and problems out."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from agrajag.core.rules import Problem
from agrajag.core.target_parsing import TargetsLayer, parse_targets, unusable_targets
from agrajag.documents.cascade import TOOLS_PATH, DocumentName
from agrajag.documents.yaml_text import NotYaml, read_yaml


@lru_cache(maxsize=256)
def read_targets(text: str, source: str) -> TargetsLayer:
    """The declarations that a document's text holds. Never raises: text that is no YAML is a problem of all of it."""
    try:
        return parse_targets(read_yaml(text), source)
    except NotYaml as error:
        return unusable_targets(source, error.field, str(error))


def target_problems(documents: Mapping[DocumentName, str]) -> Iterator[Problem]:
    """What is wrong with the declarations of tools among the documents."""
    for name, content in documents.items():
        if name.path == TOOLS_PATH:
            yield from read_targets(content, str(name)).problems

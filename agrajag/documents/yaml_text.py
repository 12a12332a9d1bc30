"""Reads the YAML of a document that somebody wrote, at a cost that its length bounds.

Aliases are shared, never copied, except by merge keys (`<<`), which go through every pair that they bring, each time;
so these are counted. Nothing in a document makes an object of another kind than YAML's own.
"""

from typing import Any

import yaml

from agrajag.model.answers import MAX_CONTENT

MAX_PAIRS = 500_000
# libyaml, where PyYAML was built with it: a fifth of the time, and it refuses deep nesting by itself.
_SAFE_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# PyYAML lets the errors of its own constructors out, as for `!!timestamp soon`.
_UNREADABLE = (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError)


class NotYaml(Exception):
    """The text holds no YAML, or too much of it: `field` is what is wrong, the message one short line for people."""

    def __init__(self, reason: str, field: str = "yaml") -> None:
        super().__init__(reason)
        self.field = field


class _Loader(_SAFE_LOADER):  # type: ignore[misc]
    _pairs = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Called for every mapping, and again for each merge key that names it."""
        super().flatten_mapping(node)
        self._pairs += len(node.value)
        if self._pairs > MAX_PAIRS:
            raise NotYaml(f"mappings and merge keys hold more than {MAX_PAIRS} pairs together")


def read_yaml(text: str) -> object:
    """The data in `text`. Raises NotYaml, and nothing else."""
    if len(text) > MAX_CONTENT:
        raise NotYaml(f"has {len(text):,} characters; at most {MAX_CONTENT:,} are read", "file")
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except _UNREADABLE as error:
        raise NotYaml(" ".join(f"{type(error).__name__}: {error}".split())[:300]) from error

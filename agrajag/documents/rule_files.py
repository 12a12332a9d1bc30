"""Read rule files into layers: YAML in, checked rules and problems out."""

from functools import lru_cache
from importlib import resources

import yaml

from agrajag.core.match import RuleSet, compiled
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Problem
from agrajag.errors import ConfigError

RULES_PATH = "_vance/agrajag/error-patterns.yaml"
MAX_CHARACTERS = 4_000_000
"""The longest rule file that is read: ten thousand rules of usual size are half of it."""
# libyaml, where PyYAML was built with it: a fifth of the time, and it refuses deep nesting by itself.
_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# PyYAML lets the errors of its own constructors out, as for `!!timestamp soon`.
_UNREADABLE = (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError)


def read_layer(text: str, source: str) -> Layer:
    """The layer that a rule file's text holds. Never raises: text that is no YAML is a problem of the whole file."""
    if len(text) > MAX_CHARACTERS:
        reason = f"has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        return Layer(source, (), (Problem(source, None, "file", reason),))
    try:
        data = yaml.load(text, _LOADER)  # noqa: S506 - both are safe loaders
    except _UNREADABLE as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return Layer(source, (), (Problem(source, None, "yaml", reason),))
    return parse_layer(data, source)


@lru_cache(maxsize=1)
def bundled_layer() -> Layer:
    """The rules that come with the package. A problem in them is a broken installation and stops the start."""
    source = f"agrajag/defaults/{RULES_PATH}"
    layer = read_layer(
        resources.files("agrajag").joinpath(f"defaults/{RULES_PATH}").read_text("utf-8"), source
    )
    if layer.problems:
        raise ConfigError(*map(str, layer.problems))
    return layer


@lru_cache(maxsize=1)
def bundled_rules() -> RuleSet:
    """The rule set of a tenant and project that have no rules of their own."""
    return compiled([bundled_layer().rules])

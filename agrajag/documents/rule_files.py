"""Read rule files and settings into layers: YAML in, checked values and problems out."""

from functools import cache

from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy_parsing import SettingsLayer, parse_settings, unusable_settings
from agrajag.core.rule_parsing import parse_layer, unusable
from agrajag.core.rules import Layer
from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH, bundled_documents, bundled_source
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.errors import ConfigError


def read_layer(text: str, source: str) -> Layer:
    """The layer that a rule file's text holds. Never raises: text that is no YAML is a problem of the whole file."""
    try:
        return parse_layer(read_yaml(text), source)
    except NotYaml as error:
        return unusable(source, error.field, str(error))


def read_settings(text: str, source: str) -> SettingsLayer:
    """The values that a settings document's text holds. Never raises, as `read_layer`."""
    try:
        return parse_settings(read_yaml(text), source)
    except NotYaml as error:
        return unusable_settings(source, error.field, str(error))


@cache
def bundled_layer() -> Layer:
    """The rules that come with the package. A problem in them is a broken installation and stops the start."""
    layer = read_layer(bundled_documents()[RULES_PATH], bundled_source(RULES_PATH))
    if layer.problems:
        raise ConfigError(*map(str, layer.problems))
    return layer


@cache
def bundled_settings() -> SettingsLayer:
    """The settings that come with the package; what they leave open is the operator's to say."""
    settings = read_settings(bundled_documents()[SETTINGS_PATH], bundled_source(SETTINGS_PATH))
    if settings.problems:
        raise ConfigError(*map(str, settings.problems))
    return settings


@cache
def bundled_rules() -> RuleSet:
    """The rule set of a tenant and project that have no rules of their own."""
    return compiled([bundled_layer().rules])

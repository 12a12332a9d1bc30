"""Reads the settings from the environment: every `AGRAJAG_*` variable, its default and what it means.

All problems are found at once and each is one line; a variable that is misspelt is a problem too. Only the entry points
read settings; all other parts are given values.
"""

import difflib
import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, to_jsonable_python
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from agrajag.addresses import without_credentials
from agrajag.errors import ConfigError
from agrajag.setting_api import ApiSettings
from agrajag.setting_diagnosis import DiagnosisSettings, ModelSettings
from agrajag.setting_files import SecretFiles, read_secret_files
from agrajag.setting_groups import (
    DocumentSettings,
    Group,
    KafkaSettings,
    LogSettings,
    MongoSettings,
    MonitorSettings,
    PolicySettings,
    TopicSettings,
    WorkerSettings,
)
from agrajag.setting_investigation import InvestigationSettings
from agrajag.setting_types import SETTING_ERROR, Directory

ENV_PREFIX = "AGRAJAG_"
_MAX_SHOWN = 100

Source: TypeAlias = Literal["default", "environment", "file"]
"""Who said what a setting is."""


class Settings(BaseSettings):
    """All settings. Groups are nested: `AGRAJAG_KAFKA_BOOTSTRAP_SERVERS` is `kafka.bootstrap_servers`."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="_",
        env_nested_max_split=1,
        env_ignore_empty=True,
        frozen=True,
        extra="forbid",
        validate_default=True,
    )

    kafka: KafkaSettings = KafkaSettings()
    topics: TopicSettings = TopicSettings()
    mongo: MongoSettings = MongoSettings()
    log: LogSettings = LogSettings()
    policy: PolicySettings = PolicySettings()
    documents: DocumentSettings = DocumentSettings()
    worker: WorkerSettings = WorkerSettings()
    model: ModelSettings = ModelSettings()
    diagnosis: DiagnosisSettings = DiagnosisSettings()
    monitor: MonitorSettings = MonitorSettings()
    api: ApiSettings = ApiSettings()
    investigation: InvestigationSettings = InvestigationSettings()
    data_dir: Directory = Field(
        Path(".agrajag"),
        description="Where the embedded Kafka and document store keep their files; relative to the working directory.",
    )

    tenant: str | None = Field(
        None,
        description="Whose tools commands at a terminal are about where `--tenant` does not say; `tail` shows all.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Values come through `load_settings` alone: making a Settings never reads the environment."""
        return (init_settings,)


class _Variable(NamedTuple):
    """One environment variable and the field behind it; `group` is empty for a field of `Settings` itself."""

    name: str
    group: str
    field_name: str
    field: FieldInfo

    def value_in(self, settings: Settings) -> Any:
        owner = getattr(settings, self.group) if self.group else settings
        return getattr(owner, self.field_name)

    @property
    def is_secret(self) -> bool:
        return "SecretStr" in str(self.field.annotation)


def load_settings(env: Mapping[str, str] | None = None) -> Settings:
    """The settings in `env`, by default those of this process. An empty variable counts as not set.

    Raises ConfigError with one line for each variable that is wrong or unknown: its name, its value unless that is a
    secret, and what would be right.
    """
    given = {
        name: value
        for name, value in (os.environ if env is None else env).items()
        if name.startswith(ENV_PREFIX)
    }
    known = {variable.name: variable for variable in _variables()}
    files = _secret_files(given)
    problems = [_unknown(name, known) for name in sorted(given.keys() - known.keys() - files.variables)]
    problems += files.problems
    given |= files.secrets
    source = EnvSettingsSource(Settings)
    source.env_vars = {name.lower(): value for name, value in given.items() if name in known and value}
    try:
        settings = Settings(**source())
    except ValidationError as error:
        problems += [_problem(details, known, given) for details in error.errors(include_url=False)]
        raise ConfigError(*problems) from None
    if problems:
        raise ConfigError(*problems)
    return settings


class ShownSetting(NamedTuple):
    """What is in force for one variable, its value masked where it is a secret, and who said so."""

    name: str
    value: str
    source: Source


def shown_settings(env: Mapping[str, str] | None = None) -> list[ShownSetting]:
    """Every variable with what is in force. Raises ConfigError as `load_settings` does."""
    given = os.environ if env is None else env
    settings = load_settings(given)
    from_files = _secret_files(given).secrets

    def source(name: str) -> Source:
        if name in from_files:
            return "file"
        return "environment" if given.get(name) else "default"

    return [
        ShownSetting(variable.name, _text(variable.value_in(settings)), source(variable.name))
        for variable in _variables()
    ]


def settings_table() -> list[tuple[str, str, str]]:
    """Every variable, its default as text (empty: none) and its meaning, in the order of the groups."""
    return [
        (variable.name, _text(variable.field.default), variable.field.description or "")
        for variable in _variables()
    ]


def _variables() -> Iterator[_Variable]:
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            for inner, inner_field in kind.model_fields.items():
                yield _Variable(f"{ENV_PREFIX}{name}_{inner}".upper(), name, inner, inner_field)
        else:
            yield _Variable(f"{ENV_PREFIX}{name}".upper(), "", name, field)


def _secret_files(given: Mapping[str, str]) -> SecretFiles:
    return read_secret_files(given, [variable.name for variable in _variables() if variable.is_secret])


def _unknown(name: str, known: Mapping[str, _Variable]) -> str:
    words = {variable.removeprefix(ENV_PREFIX): variable for variable in known}
    nearest = difflib.get_close_matches(name.removeprefix(ENV_PREFIX), words, n=1, cutoff=0.7)
    hint = f", did you mean {words[nearest[0]]}?" if nearest else ""
    return f"{name}: there is no such setting{hint}"


def _problem(details: ErrorDetails, known: Mapping[str, _Variable], given: Mapping[str, str]) -> str:
    name = ENV_PREFIX + "_".join(str(part) for part in details["loc"][:2]).upper()
    value = given.get(name)
    if not value:
        shown = " is not set"
    elif known[name].is_secret:
        shown = "=***"
    else:
        shown = f"={without_credentials(value)[:_MAX_SHOWN]!r}"
    return f"{name}{shown}: should be {_right(details, known[name])}"


def _right(details: ErrorDetails, variable: _Variable) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case kind if kind == SETTING_ERROR:
            return details["msg"]
        case "int_parsing" | "int_from_float":
            return "a whole number"
        case "float_parsing" | "finite_number":
            return "a number"
        case "bool_parsing":
            return "true or false"
        case "greater_than_equal":
            return f"at least {_text(context['ge'])}"
        case "greater_than":
            return f"more than {_text(context['gt'])}"
        case "less_than":
            return f"less than {_text(context['lt'])}"
        case "less_than_equal":
            return f"at most {_text(context['le'])}"
        case "literal_error":
            return f"one of {context['expected']}"
        case "string_pattern_mismatch":
            return (variable.field.description or "").rpartition(": ")[2]
        case "too_short":
            return f"at least {context['min_length']} characters"
        case _:
            return details["msg"]


def _text(value: object) -> str:
    """A value as one would write it into the environment."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        return without_credentials(secret) if "://" in secret else "***"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(to_jsonable_python(value)) if isinstance(value, timedelta) else str(value)

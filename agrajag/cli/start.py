"""What every command does first: read the settings, and say how it logs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agrajag.settings import Settings


def settings_of_role() -> "Settings":
    """The settings of a process that runs until it is told to end, and logs as they say."""
    from agrajag.logs import configure_logging
    from agrajag.settings import load_settings

    settings = load_settings()
    configure_logging(settings.log.level, settings.log.format)
    return settings


def settings_of_command(env: Mapping[str, str] | None = None) -> "Settings":
    """The settings, from `env` if given, of a command that a person runs: of the log only what needs attention."""
    from agrajag.logs import configure_logging
    from agrajag.settings import load_settings

    settings = load_settings(env)
    configure_logging("warning", "console")
    return settings

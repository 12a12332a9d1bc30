"""What a command does first: read its settings and set up its log. Imported by a command when it runs."""

import logging

from agrajag.logs import configure_logging
from agrajag.settings import Settings, load_settings


def settings_of_role() -> Settings:
    """The settings of a process that runs until it is told to end; it logs as they say."""
    settings = load_settings()
    configure_logging(settings.log.level, settings.log.format)
    return settings


def log_for_a_person() -> None:
    """Only what needs attention, in a readable form.

    The Kafka client is silent: what it can cope with it retries, and what it cannot is raised.
    """
    configure_logging("warning", "console")
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)

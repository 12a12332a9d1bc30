"""A diagnosis as a process that may be killed often: its group soon notices (`python -m tests.pipeline.diagnosing`)."""

import asyncio

from agrajag.bootstrap.diagnosis import diagnosing
from agrajag.logs import configure_logging
from agrajag.monitor.pulse import Pulse
from agrajag.settings import load_settings

SESSION_TIMEOUT_SECONDS = 1.0

if __name__ == "__main__":
    configure_logging("info", "json")
    asyncio.run(diagnosing(load_settings(), Pulse(unready_after_seconds=30.0), SESSION_TIMEOUT_SECONDS))

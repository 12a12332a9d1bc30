"""Where a role tells how it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from agrajag.metrics import REGISTRY
from agrajag.monitor.pulse import Pulse
from agrajag.monitor.server import MonitorServer
from agrajag.setting_groups import MonitorSettings


@contextmanager
def monitored(monitor: MonitorSettings, port: int) -> Iterator[Pulse]:
    """Where a role tells how it is; served meanwhile if the settings say so."""
    pulse = Pulse(monitor.unready_after_seconds)
    if not monitor.enabled:
        yield pulse
        return
    token = monitor.token.get_secret_value() if monitor.token is not None else None
    with MonitorServer(monitor.host, port, pulse, REGISTRY, token):
        yield pulse

"""The health documents in memory: what `health-changed` says now, for whoever asks before a call."""

from agrajag.view.health_view import HealthView

__all__ = ["HealthView"]

"""The health documents in memory: what `health-changed` says now, for whoever asks before a call."""

from agrajag.view.changes import Listener, ViewChange
from agrajag.view.health_view import HealthView
from agrajag.view.selection import MAX_SELECTED, Selection, Wanted

__all__ = ["MAX_SELECTED", "HealthView", "Listener", "Selection", "ViewChange", "Wanted"]

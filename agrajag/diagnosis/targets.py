"""Finds how a tool is probed, among the declarations in force at that moment."""

from collections.abc import Callable

from agrajag.core.targets import Target, Unprobed
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.documents.target_book import TargetBook

_REFUSALS = {Unprobed.NOT_SAFE: ProbeRefusal.NOT_SAFE, Unprobed.BROKEN: ProbeRefusal.TARGET_BROKEN}


class Targets:
    """The declared targets; `book` gives those of this moment."""

    def __init__(self, book: Callable[[], TargetBook]) -> None:
        self._book = book

    def find(self, tenant_id: str, project_id: str | None, tool_name: str) -> Target | ProbeRefusal:
        """The target of a tool, or why it has none that may be probed."""
        declared = self._book().find(tenant_id, project_id, tool_name)
        if declared is None:
            return ProbeRefusal.NO_TARGET
        return _REFUSALS[declared] if isinstance(declared, Unprobed) else declared

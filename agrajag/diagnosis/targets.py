"""Finds how a tool is probed: the narrowest document that names it speaks for it, as a whole.

A narrower declaration that is broken, or not marked as safe, is never replaced by a wider one: whoever wrote it did not
mean the wider one. The same holds for a document that cannot be read, which may name any tool.
"""

from collections.abc import Callable

from agrajag.core.targets import Target, Unprobed
from agrajag.diagnosis.probe import ProbeRefusal
from agrajag.documents.cascade import TOOLS_PATH, Cascade
from agrajag.documents.target_files import read_targets

_REFUSALS = {Unprobed.NOT_SAFE: ProbeRefusal.NOT_SAFE, Unprobed.BROKEN: ProbeRefusal.TARGET_BROKEN}


class Targets:
    """The declared targets; `cascade` gives the documents of this moment."""

    def __init__(self, cascade: Callable[[], Cascade]) -> None:
        self._cascade = cascade

    def find(self, tenant_id: str, project_id: str | None, tool_name: str) -> Target | ProbeRefusal:
        """The target of a tool, or why it has none that may be probed."""
        for document in reversed(self._cascade().layers(tenant_id, project_id, TOOLS_PATH)):
            declared = read_targets(document.content, document.source).declared(tool_name)
            if declared is not None:
                return _REFUSALS[declared] if isinstance(declared, Unprobed) else declared
        return ProbeRefusal.NO_TARGET

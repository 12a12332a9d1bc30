"""How whoever works on a job reads health documents; `view.HealthView` is one that does."""

from typing import Protocol

from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth


class HealthReading(Protocol):
    """Reads the health documents of one moment."""

    def nearest(
        self,
        tenant_id: str,
        tool_name: str,
        *,
        project_id: str | None,
        user_id: str | None,
        session_id: str | None,
    ) -> ToolHealth | None:
        """The document that speaks for the caller: the narrowest with an opinion on status; else the narrowest."""

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        """Exactly this document."""

"""Reads the health documents of a case, as the view reads those of the topic."""

from agrajag.core.lookup import Caller, speaks_for
from agrajag.diagnosis.evaluation.case import POLICY, Case
from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth
from agrajag.model.keys import health_key


class CaseDocuments:
    """The documents as Layer 1 has left them; a HealthReading."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def nearest(
        self,
        tenant_id: str,
        tool_name: str,
        *,
        project_id: str | None,
        user_id: str | None,
        session_id: str | None,
    ) -> ToolHealth | None:
        """The document that speaks for the caller, else the narrowest."""
        keys = Caller(tenant_id, project_id, user_id, session_id).keys(tool_name)
        found = [health for key in keys if (health := self._get(key)) is not None]
        return speaks_for(found, self._case.at, POLICY) or next(iter(found), None)

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        """Exactly this document."""
        return self._get(health_key(tenant_id, scope, scope_id, tool_name))

    def _get(self, key: str) -> ToolHealth | None:
        entry = self._case.entries.get(key)
        return None if entry is None else entry.health

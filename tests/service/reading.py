"""Health documents in memory, for whatever reads them."""

from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth


class Documents:
    """Finds the documents that it was given, the first one that fits a caller."""

    def __init__(self, *documents: ToolHealth) -> None:
        self._documents = documents

    def nearest(
        self,
        tenant_id: str,
        tool_name: str,
        *,
        project_id: str | None,
        user_id: str | None,
        session_id: str | None,
    ) -> ToolHealth | None:
        own = {Scope.SESSION: session_id, Scope.USER: user_id, Scope.PROJECT: project_id}
        for document in self._documents:
            scope_id = own.get(document.scope, document.scope_id)
            if (document.tenant_id, document.tool_name, document.scope_id) == (
                tenant_id,
                tool_name,
                scope_id,
            ):
                return document
        return None

    def find(self, tenant_id: str, scope: Scope, scope_id: str, tool_name: str) -> ToolHealth | None:
        for document in self._documents:
            wanted = (tenant_id, scope, scope_id, tool_name)
            if (document.tenant_id, document.scope, document.scope_id, document.tool_name) == wanted:
                return document
        return None

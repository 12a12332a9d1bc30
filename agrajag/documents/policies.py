"""Works out the policy of a tenant and project from the documents alone, for whoever needs no rules."""

from collections.abc import Mapping

from agrajag.core.policy import Policy
from agrajag.core.policy_parsing import with_settings
from agrajag.documents.cascade import SETTINGS_PATH, DocumentName
from agrajag.documents.rule_files import bundled_settings, read_settings


class Policies:
    """The policies by one snapshot of documents; `defaults` is what holds where no settings document says otherwise."""

    def __init__(self, documents: Mapping[DocumentName, str], defaults: Policy) -> None:
        self._documents = documents
        self._everybody = with_settings(defaults, [bundled_settings()])
        self._known: dict[tuple[str, str | None], Policy] = {}

    def of(self, tenant_id: str, project_id: str | None) -> Policy:
        """What holds for a tenant's project, or for what belongs to no project of it."""
        owner = (tenant_id, project_id)
        if owner not in self._known:
            names = dict.fromkeys(
                DocumentName(tenant_id, project, SETTINGS_PATH) for project in (None, project_id)
            )
            layers = [
                read_settings(self._documents[name], str(name)) for name in names if name in self._documents
            ]
            self._known[owner] = with_settings(self._everybody, layers)
        return self._known[owner]

"""The documents of the cascade as the store shows them: one by key, those of a tenant."""

from typing import ClassVar

from pymongo import ASCENDING, IndexModel

from agrajag.model.answers import Document
from agrajag.model.keys import document_key
from agrajag.store.bson_form import to_bson
from agrajag.store.failures import translated
from agrajag.store.guarded import PRESENT, GuardedCollection, Write


def document_write(document: Document) -> Write:
    """The document under its key `tenant|project|path`. Raises InputError as `to_bson` does."""
    key = document_key(document.tenant_id, document.project_id, document.path)
    return Write(key, document.revision, to_bson(document))


class DocumentCollection(GuardedCollection):
    """`documents`: a mirror of the compacted topic of that name.

    All reads raise TransientError or PermanentError. What is no Document, written by somebody else, is logged and
    counts as absent.
    """

    name: ClassVar[str] = "documents"
    indexes: ClassVar[tuple[IndexModel, ...]] = (IndexModel([("tenantId", ASCENDING), ("_id", ASCENDING)]),)

    async def get(self, key: str) -> Document | None:
        """The document under `key`, None if there is none or it is gone."""
        with translated("reading one document"):
            document = await self._collection.find_one({"_id": key, **PRESENT})
        return None if document is None else self._read(Document, document)

    async def of_tenant(self, tenant_id: str) -> list[Document]:
        """All documents of a tenant and its projects, in the order of their keys."""
        with translated("listing the documents of a tenant"):
            found = await self._collection.find({"tenantId": tenant_id}).sort("_id", ASCENDING).to_list()
        return [document for one in found if (document := self._read(Document, one)) is not None]

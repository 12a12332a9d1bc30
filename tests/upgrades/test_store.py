"""What earlier releases put into the store is read by this one, every document of every collection."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo import MongoClient
from structlog.testing import capture_logs

from agrajag.embedded import EmbeddedStore
from agrajag.store import Store
from tests.upgrades.recording import recorded_documents, releases

LATER = datetime.now(UTC) + timedelta(days=1)


def not_over(document: dict[str, Any]) -> dict[str, Any]:
    """The document as long as it is kept: the months since it was written would have removed it."""
    return {name: LATER if name in ("expiresAt", "goneAt") else value for name, value in document.items()}


@pytest.mark.parametrize("release", releases())
async def test_nothing_that_an_earlier_release_stored_is_unreadable(
    release: str, store: EmbeddedStore, database_name: str
) -> None:
    before = recorded_documents(release)
    with MongoClient[dict[str, Any]](store.uri) as client:
        for name, documents in before.items():
            client[database_name][name].insert_many(map(not_over, documents))
    with capture_logs() as logs:
        async with await Store.open(store.uri, database_name) as opened:
            assert before.keys() <= {one.name for one in opened.collections}
            for document in before["tool_health"]:
                found = await opened.health.get(document["_id"])
                assert (found is None) == ("goneAt" in document)
            for document in before["processes"]:
                story = await opened.audit.story(document["tenantId"], document["processId"])
                assert story is not None
                steps = await opened.processes.of_job(document["tenantId"], document["jobId"])
                assert document["processId"] in {step.process_id for step in steps}
            for document in before["inbox"]:
                assert await opened.inbox.find(document["tenantId"], document["itemId"])
            for document in before["sessions"]:
                assert await opened.sessions.of_tenant(document["tenantId"])
            for document in before["commands"]:
                asked = document.get("result", document)
                assert await opened.commands.find(asked["tenantId"], asked["commandId"])
    assert not [line for line in logs if line["event"] == "stored_document_unreadable"]

"""The documents of the cascade in the store: the newest revision, gone when removed, and nothing by halves."""

from datetime import timedelta
from typing import Any

from agrajag.documents.records import a_document, document_output, removal_output
from agrajag.model.answers import MAX_CONTENT
from agrajag.sink import ROUTES, compare
from agrajag.store import DocumentCollection, Store
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW
from tests.documents.texts import a_rule_file, rules_at, settings_at
from tests.sink.running import mirrored

_ROUTE = next(route for route in ROUTES if route.topic is Topic.DOCUMENTS)
ACME, ESSAYS, GLOBEX = rules_at("acme"), settings_at("acme", "essays"), rules_at("globex")


def _document(name: Any, revision: int, content: str | None = None) -> Any:
    at = NOW + timedelta(seconds=revision)
    return a_document(name, content or a_rule_file(f"rule-{revision}"), revision, at)


async def test_the_store_shows_the_newest_documents_and_forgets_those_that_are_removed(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    topic = topics.name(Topic.DOCUMENTS)
    newest, longest = _document(ACME, 5), _document(ESSAYS, 3, "#" * MAX_CONTENT)
    outputs = [
        document_output(topic, _document(ACME, 4)),
        document_output(topic, newest),
        document_output(topic, _document(ACME, 3)),
        document_output(topic, longest),
        document_output(topic, _document(GLOBEX, 7)),
        removal_output(topic, GLOBEX, 8),
        removal_output(topic, ACME, 4),
        document_output(topic, _document(GLOBEX, 6)),
        Output(topic, ACME.key.encode(), b"{"),
    ]
    await mirrored(connection, topics, store_uri, database, [*outputs, *outputs])
    assert await opened.documents.get(ACME.key) == newest
    assert await opened.documents.get(GLOBEX.key) is None
    assert await opened.documents.of_tenant("acme") == [newest, longest]
    assert await opened.documents.of_tenant("globex") == []
    assert (await compare(connection, topics, opened, _ROUTE, DocumentCollection)).differences == ()

"""The rules in force follow the topic and the directory, on a real Kafka."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from agrajag.core.policy import Policy
from agrajag.documents.cascade import DocumentName
from agrajag.documents.live import LiveDocuments
from agrajag.documents.pushing import Action, planned_push, push
from agrajag.documents.topic import read_documents
from agrajag.embedded import EmbeddedKafka
from agrajag.errors import ConfigError
from agrajag.metrics import DOCUMENTS_SKIPPED, REGISTRY
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topic_admin import ensure_topics
from agrajag.wire.topics import Topic, Topics
from tests.documents.test_directory import put
from tests.documents.texts import a_rule_file, a_rule_text, rules_at, settings_at
from tests.waiting import eventually
from tests.wire.records import counting

Place = tuple[KafkaConnection, Topics]


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    found = KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=1)
    await _make_topics(found)
    return found


async def _make_topics(place: Place) -> None:
    connection, topics = place
    async with admin_client(connection) as admin:
        await ensure_topics(admin, topics)


async def _push(place: Place, documents: Mapping[DocumentName, str], *pruned: str) -> list[Action]:
    table = await read_documents(*place)
    plan = planned_push(documents, table, pruned_tenants=pruned)
    await push(*place, plan, table)
    return [planned.action for planned in plan]


@asynccontextmanager
async def _running(live: LiveDocuments) -> AsyncIterator[LiveDocuments]:
    await live.start()
    task = asyncio.create_task(live.run())
    try:
        yield live
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _own(live: LiveDocuments, tenant: str = "acme", project: str | None = None) -> list[str]:
    """The rules that stand between the bundled ones and the fallback."""
    rules = live.effective(tenant, project)[0].rules
    return [rule.id for rule in rules if rule.pack is None][11:-1]


async def test_what_stood_on_the_topic_is_in_force_after_the_start_and_changes_within_five_seconds(
    place: Place,
) -> None:
    await _push(place, {rules_at("acme"): a_rule_file("first"), rules_at("globex"): a_rule_file("other")})
    live = LiveDocuments(*place, Policy())
    async with _running(live):
        assert (_own(live), _own(live, "globex"), _own(live, "initech")) == (["first"], ["other"], [])
        changed = {
            rules_at("acme"): a_rule_file("first", "second", a_rule_text("worn", classification="WORKING")),
            rules_at("acme", "essays"): a_rule_file("third"),
            settings_at("acme"): "agrajag.answer.all: true",
        }
        await _push(place, changed, "globex")
        await eventually(lambda: _own(live) == ["first", "second"] and _own(live, "globex") == [], 5)
        assert _own(live, "acme", "essays") == ["first", "second", "third"]
        assert live.effective("acme", None)[1].answer_all
        assert REGISTRY.get_sample_value("agrajag_document_faults", {"kind": "rejected"}) == 1
        await _push(place, {}, "acme")
        await eventually(lambda: _own(live, "acme", "essays") == [], 5)
        assert not live.effective("acme", None)[1].answer_all
        assert REGISTRY.get_sample_value("agrajag_document_faults", {"kind": "rejected"}) == 0
        await _push(place, {rules_at("acme"): a_rule_file("back")})
        await eventually(lambda: _own(live) == ["back"], 5)


async def test_a_start_that_is_made_again_reads_everything_again(place: Place) -> None:
    live = LiveDocuments(*place, Policy())
    await live.start()
    await live.start()
    assert _own(live) == []
    await _push(place, {rules_at("acme"): a_rule_file("meanwhile")})
    async with _running(live):
        assert _own(live) == ["meanwhile"]


async def test_a_second_push_writes_nothing(place: Place) -> None:
    documents = {rules_at("acme"): a_rule_file("first"), settings_at("acme"): "agrajag.answer.all: true"}
    assert await _push(place, documents) == [Action.ADD, Action.ADD]
    before = await read_documents(*place)
    assert await _push(place, documents, "acme") == [Action.KEEP, Action.KEEP]
    after = await read_documents(*place)
    assert before.documents == after.documents


async def test_a_file_that_becomes_unusable_keeps_the_last_good_rules(place: Place) -> None:
    await _push(place, {rules_at("acme"): a_rule_file("good")})
    live = LiveDocuments(*place, Policy())
    async with _running(live):
        await _push(place, {rules_at("acme"): "patterns: [", rules_at("globex"): a_rule_file("later")})
        await eventually(lambda: _own(live, "globex") == ["later"], 5)
        assert _own(live) == ["good"]
        assert [problem.source for problem in live.rulebook.problems] == [str(rules_at("acme"))]


async def test_records_that_say_nothing_usable_are_skipped_and_counted(place: Place) -> None:
    connection, topics = place
    await _push(place, {rules_at("acme"): a_rule_file("good")})
    name, key = topics.name(Topic.DOCUMENTS), rules_at("acme").key.encode()
    with (
        counting(DOCUMENTS_SKIPPED, reason="not_json") as broken,
        counting(DOCUMENTS_SKIPPED, reason="missing_field") as unguarded,
    ):
        async with AIOKafkaProducer(**connection.producer_options()) as producer:
            await producer.send_and_wait(name, b"{", key=key)
            await producer.send_and_wait(name, None, key=key)
            await producer.send_and_wait(name, None, key=key, headers=[("revision", b"1")])
        live = LiveDocuments(*place, Policy())
        async with _running(live):
            assert _own(live) == ["good"]
            assert (broken(), unguarded()) == (1, 1)
            await _push(place, {rules_at("acme"): a_rule_file("better")})
            await eventually(lambda: _own(live) == ["better"], 5)


async def test_a_document_of_the_topic_stands_before_the_directorys_which_is_seen_again_after_it(
    place: Place, tmp_path: Path
) -> None:
    put(tmp_path, rules_at("acme"), a_rule_file("file"))
    live = LiveDocuments(*place, Policy(), tmp_path)
    async with _running(live):
        assert _own(live) == ["file"]
        await _push(place, {rules_at("acme"): a_rule_file("topic")})
        await eventually(lambda: _own(live) == ["topic"], 5)
        put(tmp_path, rules_at("acme"), a_rule_file("file", "more"))
        put(tmp_path, rules_at("globex"), a_rule_file("other"))
        await eventually(lambda: _own(live, "globex") == ["other"], 5)
        assert _own(live) == ["topic"]
        await _push(place, {}, "acme")
        await eventually(lambda: _own(live) == ["file", "more"], 5)


async def test_a_directory_that_cannot_be_read_stops_the_start_and_changes_nothing_later(
    place: Place, tmp_path: Path
) -> None:
    root = tmp_path / "rules"
    with pytest.raises(ConfigError):
        await LiveDocuments(*place, Policy(), root).start()
    put(root, rules_at("acme"), a_rule_file("file"))
    live = LiveDocuments(*place, Policy(), root)
    async with _running(live):
        root.rename(tmp_path / "away")
        await _push(place, {rules_at("globex"): a_rule_file("topic")})
        await eventually(lambda: _own(live, "globex") == ["topic"], 5)
        assert _own(live) == ["file"]
        put(root, rules_at("acme"), a_rule_file("other"))
        await eventually(lambda: _own(live) == ["other"], 5)


@pytest.mark.slow
async def test_while_the_brokers_are_away_the_last_rules_stay_and_afterwards_changes_are_followed_again(
    own_kafka: Callable[[], EmbeddedKafka], topic_prefix: str
) -> None:
    kafka = own_kafka()
    place = KafkaConnection(kafka.bootstrap_servers), Topics(topic_prefix, partitions=1)
    await _make_topics(place)
    await _push(place, {rules_at("acme"): a_rule_file("first")})
    live = LiveDocuments(*place, Policy())
    async with _running(live):
        await asyncio.to_thread(kafka.kill)
        assert _own(live) == ["first"]
        await asyncio.to_thread(kafka.start)
        await _push(place, {rules_at("acme"): a_rule_file("second")})
        await eventually(lambda: _own(live) == ["second"], 30)

"""Puts the documents of a directory on the topic: what differs, and nothing that does not.

Equal content is not written again, so a push can be repeated; the key is the document's, its revision is above the last
one. Nothing is removed unless it is asked for.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from aiokafka import AIOKafkaProducer

from agrajag.clock import utc_now
from agrajag.core.rules import Problem
from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH, TOOLS_PATH, Cascade, DocumentName
from agrajag.documents.recipes import is_below_recipes
from agrajag.documents.records import DocumentTable, a_document, document_output, removal_output
from agrajag.documents.rulebook import Rulebook
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import kafka_errors
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics
from agrajag.wire.writing import handed_over


class Action(StrEnum):
    """What a push does about one document."""

    ADD = "added"
    CHANGE = "changed"
    KEEP = "unchanged"
    REMOVE = "removed"


class Planned(NamedTuple):
    """One document of a push; `content` is None for one that is removed."""

    action: Action
    name: DocumentName
    content: str | None


class Faults(NamedTuple):
    """What keeps documents from being in force as they stand, and what is odd about them."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def faults_of(documents: Mapping[DocumentName, str]) -> Faults:
    """What is wrong with documents, before anybody is judged by them."""
    return faults_in(Rulebook(Cascade(documents)))


def faults_in(book: Rulebook) -> Faults:
    """The same of the documents behind a rulebook that is there already."""
    return Faults((*book.problems, *_unreadable(book.cascade.documents)), book.warnings)


def planned_push(
    documents: Mapping[DocumentName, str],
    table: DocumentTable,
    *,
    pruned_tenants: Collection[str] = (),
    kept: Collection[DocumentName] = (),
) -> list[Planned]:
    """What makes the topic hold `documents`, in the order of their names.

    Of the `pruned_tenants` it also removes what is not among them, but for what is `kept`.
    """
    there = table.documents
    plan = []
    for name, content in documents.items():
        known = there.get(name)
        action = Action.ADD if known is None else Action.KEEP if known.content == content else Action.CHANGE
        plan.append(Planned(action, name, content))
    others = there.keys() - documents.keys() - set(kept)
    plan += [Planned(Action.REMOVE, name, None) for name in others if name.tenant_id in pruned_tenants]
    return sorted(plan, key=lambda planned: str(planned.name))


def outputs_of(
    topic: str, plan: Iterable[Planned], table: DocumentTable, now: datetime, by: str | None = None
) -> list[Output]:
    """The records of a push by somebody. Raises InputError for a document that no record can hold."""
    now_ms = int(now.timestamp() * 1000)
    outputs = []
    for action, name, content in plan:
        revision = max(table.revision(name) + 1, now_ms)
        if content is None:
            outputs.append(removal_output(topic, name, revision))
        elif action is not Action.KEEP:
            outputs.append(document_output(topic, a_document(name, content, revision, now, by)))
    return outputs


async def push(
    connection: KafkaConnection, topics: Topics, plan: Iterable[Planned], table: DocumentTable
) -> None:
    """Carry out a plan that was made against `table`; returns when the brokers have all of it.

    Raises InputError before anything is written, TransientError or PermanentError when a part may be.
    """
    outputs = outputs_of(topics.name(Topic.DOCUMENTS), plan, table, utc_now())
    if not outputs:
        return
    with kafka_errors("writing documents"):
        async with AIOKafkaProducer(**connection.producer_options()) as producer:
            for output in outputs:
                await (await handed_over(producer, output))


def _unreadable(documents: Mapping[DocumentName, str]) -> Iterator[Problem]:
    for name, content in documents.items():
        if name.path not in (RULES_PATH, SETTINGS_PATH, TOOLS_PATH) and not is_below_recipes(name.path):
            try:
                read_yaml(content)
            except NotYaml as error:
                yield Problem(str(name), None, error.field, str(error))

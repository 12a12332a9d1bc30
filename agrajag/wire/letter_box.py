"""Reads the dead letters of all topics, and sends their records again.

A record that was sent again is marked beside its letter, by the letter's id, once the brokers have it: sending again
what is marked does nothing. Whoever is ended between the two sends a record a second time at the next try; it has the
same event id, and is a repeat of its producer's: a further signal, never a second job.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.errors import MessageSizeTooLargeError

from agrajag.errors import ConfigError, InputError, TransientError
from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.dead_letters import marked_id, replay_mark, replayed
from agrajag.wire.following import kafka_errors
from agrajag.wire.header_names import accept_any_header_name
from agrajag.wire.letters import Letter, Selection, letter_of
from agrajag.wire.origin import Origins, own_place
from agrajag.wire.outputs import Output
from agrajag.wire.topics import TOPICS, Topic, Topics
from agrajag.wire.writing import handed_over

log = structlog.get_logger(__name__)

_TOGETHER = 200  # letters that are on their way at once
_SILENCE_SECONDS = 30.0
_POLL_MS = 1_000
_COMPACTED = frozenset(spec.topic for spec in TOPICS if spec.compacted)


@dataclass
class Replay:
    """What became of the letters that were meant: by topic, and by reason for those that were left."""

    sent: Counter[Topic] = field(default_factory=Counter)
    already: int = 0
    refused: Counter[str] = field(default_factory=Counter)


class _Stretch(NamedTuple):
    """What a partition holds at one moment: the offsets from `begin` to before `end`."""

    place: TopicPartition
    begin: int
    end: int


class LetterBox:
    """The dead letters of one installation; each question is answered as they are at its beginning."""

    def __init__(
        self,
        consumer: AIOKafkaConsumer,
        connection: KafkaConnection,
        topics: Topics,
        origins: Origins,
        places: Mapping[Topic, Sequence[TopicPartition]],
    ) -> None:
        self._consumer = consumer
        self._connection = connection
        self._topics = topics
        self._origins = origins
        self._places = places

    async def letters(self, selection: Selection) -> AsyncIterator[Letter]:
        """The letters that are meant, each once, by topic and in their order."""
        wanted = [topic for topic in self._places if not selection.topics or topic in selection.topics]
        places = [place for topic in wanted for place in self._places[topic]]
        begins = await self._consumer.beginning_offsets(places)
        ends = await self._consumer.end_offsets(places)
        for topic in wanted:
            stretches = [_Stretch(place, begins[place], ends[place]) for place in self._places[topic]]
            async for letter in self._letters_of(topic, stretches):
                if selection.wants(letter):
                    yield letter

    async def replay(self, selection: Selection, *, dry_run: bool = False) -> Replay:
        """Send the records of all letters that are meant again, but for those that were before or cannot be.

        With `dry_run` nothing is sent; the result says what would be. Where the brokers go away, what is marked until
        then stays so.
        """
        done = Replay()
        async with AIOKafkaProducer(**self._connection.producer_options()) as producer:
            waiting: list[tuple[Letter, Output]] = []
            async for letter in self.letters(selection):
                if letter.replayed:
                    done.already += 1
                    continue
                try:
                    output = replayed(letter.record, self._origins)
                    partitions = await producer.partitions_for(self._topics.name(letter.topic))
                    _refuse_unfit(letter, self._topics, partitions)
                except InputError as error:
                    done.refused[error.reason] += 1
                    continue
                waiting.append((letter, output))
                if len(waiting) == _TOGETHER:
                    await _sent(producer, waiting, done, dry_run)
                    waiting = []
            await _sent(producer, waiting, done, dry_run)
        return done

    async def _letters_of(self, topic: Topic, stretches: Sequence[_Stretch]) -> AsyncIterator[Letter]:
        marks = [marked_id(record) async for record in self._records(stretches)]
        marked, met = set(marks), set[str]()
        async for record in self._records(stretches):
            if marked_id(record) is not None:
                continue
            try:
                letter = letter_of(record, topic)
            except InputError as error:
                log.warning("no_dead_letter", place=str(own_place(record)), reason=error.reason)
                continue
            if letter.id not in met:  # a letter that was written twice
                met.add(letter.id)
                yield letter._replace(replayed=letter.id in marked)

    async def _records(self, stretches: Sequence[_Stretch]) -> AsyncIterator[ConsumerRecord]:
        for place, begin, end in stretches:
            if begin == end:  # the usual case, and an assignment takes its time
                continue
            self._consumer.assign([place])
            self._consumer.seek(place, begin)
            silent_seconds = 0.0
            while await self._consumer.position(place) < end:
                fetched = await self._consumer.getmany(place, timeout_ms=_POLL_MS)
                silent_seconds = 0.0 if fetched else silent_seconds + _POLL_MS / 1_000
                if silent_seconds > _SILENCE_SECONDS:
                    raise TransientError(f"kafka: nothing more of {place.topic} for {silent_seconds:.0f} s")
                for record in fetched.get(place, ()):
                    if record.offset < end:
                        yield record


@asynccontextmanager
async def letter_box(
    connection: KafkaConnection, topics: Topics, origins: Origins
) -> AsyncIterator[LetterBox]:
    """The box of one installation. Raises ConfigError if there are no topics.

    What its use raises of Kafka's becomes TransientError, or PermanentError where the brokers refuse us.
    """
    accept_any_header_name()
    with kafka_errors("dead letters"):
        places = await _places(connection, topics)
        async with AIOKafkaConsumer(**connection.client_options(), auto_offset_reset="earliest") as consumer:
            yield LetterBox(consumer, connection, topics, origins, places)


async def _places(connection: KafkaConnection, topics: Topics) -> dict[Topic, list[TopicPartition]]:
    """The partitions of the dead letters, by the topic that they are of; only of those that exist."""
    names = {topics.dead_letters(spec.topic): spec.topic for spec in TOPICS if spec.dead_letters}
    async with admin_client(connection) as admin:
        there = names.keys() & set(await admin.list_topics())
        described = await admin.describe_topics(sorted(there)) if there else ()
    if not there:
        raise ConfigError(f"no dead letters of {topics.prefix}: agrajag topics create makes the topics")
    return {
        names[found["topic"]]: [
            TopicPartition(found["topic"], partition["partition"]) for partition in found["partitions"]
        ]
        for found in described
    }


def _refuse_unfit(letter: Letter, topics: Topics, partitions: set[int]) -> None:
    """Raises InputError for a letter whose record does not belong where it claims to, or would do harm there."""
    if letter.first.topic != topics.name(letter.topic) or letter.first.partition not in partitions:
        raise InputError("wrong_place", f"{letter.id} is none of {topics.name(letter.topic)}")
    if letter.topic in _COMPACTED:
        raise InputError(
            "compacted", f"{letter.id} is old, and would become the last word in a compacted topic"
        )


async def _sent(
    producer: AIOKafkaProducer, letters: Sequence[tuple[Letter, Output]], done: Replay, dry_run: bool
) -> None:
    """Send, wait, and mark what the brokers have."""
    if dry_run:
        done.sent.update(letter.topic for letter, _ in letters)
        return
    answers = await asyncio.gather(
        *(_send(producer, output) for _, output in letters), return_exceptions=True
    )
    marks, failures = [], []
    for (letter, _), answer in zip(letters, answers, strict=True):
        if isinstance(answer, MessageSizeTooLargeError):
            done.refused["too_large"] += 1
        elif isinstance(answer, BaseException):
            failures.append(answer)
        else:
            done.sent[letter.topic] += 1
            marks.append(replay_mark(letter.record))
    await asyncio.gather(*(_send(producer, mark) for mark in marks))
    if failures:
        raise failures[0]


async def _send(producer: AIOKafkaProducer, output: Output) -> None:
    await (await handed_over(producer, output))

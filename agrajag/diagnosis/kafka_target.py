"""Probes tools that live inside another service: a request on one topic, a reply on another.

A declaration names the topics, so it is held to those of other services: what Agrajag itself reads or writes is never
written by a probe. A topic that is not there is not made. That Kafka is away says nothing about a tool and is a
refusal, as if there were no network; that nobody has replied is an outcome. Topics are opened side by side: what one of
them takes is no time of a probe that needs another.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType, TracebackType
from typing import Any
from weakref import WeakValueDictionary

import structlog
from pydantic import ValidationError

from agrajag.clock import utc_now
from agrajag.core.targets import KafkaCall, Target
from agrajag.diagnosis.adapter import MAX_BODY_BYTES, PROBE_HEADER, RawOutcome, Secret, failed
from agrajag.diagnosis.kafka_replies import CORRELATION_HEADER, MAX_REPLY_BYTES, ReplyReader
from agrajag.diagnosis.probe import ProbeRefusal, ProbeRequest
from agrajag.errors import PermanentError, TransientError
from agrajag.model.keys import tool_key
from agrajag.model.probing import ProbeCall, ProbeReply
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.following import partitions_of
from agrajag.wire.lazy_producer import LazyProducer
from agrajag.wire.topics import Topics
from agrajag.wire.writing import write_errors

log = structlog.get_logger(__name__)

MAX_READERS = 16
"""How many topics of replies stay open; of more, those are closed that nobody waits on."""


class KafkaAdapter:
    """Calls targets over Kafka. An async context manager: its clients are started when they are first needed."""

    def __init__(self, connection: KafkaConnection, topics: Topics) -> None:
        self._connection = connection
        self._own_prefix = f"{topics.prefix}."
        self._readers: dict[str, ReplyReader] = {}  # the one used last stands last
        self._request_topics: set[str] = set()
        self._producer = LazyProducer(lambda: {**connection.client_options(), "acks": "all"})
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # one for each topic
        self._closing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "KafkaAdapter":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends all clients; the adapter may be used again."""
        for topic in list(self._readers):
            self._let_go(topic)
        await asyncio.gather(*self._closing)
        await self._producer.close()

    async def call(
        self,
        target: Target,
        credential: Secret | None,
        sample: Mapping[str, Any],
        request: ProbeRequest,
        seconds: float,
    ) -> RawOutcome | ProbeRefusal:
        """One request and the wait for its reply; see TargetAdapter. `credential` is never sent: the other service
        has those of its users.

        Refused as NO_NETWORK where Kafka is away, before the request or while its reply is waited for.
        """
        call = target.call
        if not isinstance(call, KafkaCall):
            raise TypeError(f"{target.tool_name} is no Kafka target")
        if not (self._is_foreign(call.request_topic) and self._is_foreign(call.reply_topic)):
            return ProbeRefusal.ADDRESS_REFUSED
        was_sent = False
        try:
            async with asyncio.timeout(seconds):
                reader = await self._opened(call)
                with reader.expecting(request.probe_id) as reply:
                    await self._send(call.request_topic, _asked(request, sample, seconds))
                    was_sent = True
                    return _told(await reply, request.probe_id)
        except PermanentError as error:
            log.warning(
                "probe_topics_unusable", source=target.source, tool=target.tool_name, reason=str(error)
            )
            return ProbeRefusal.TARGET_BROKEN
        except TransientError as error:
            return _away(target, str(error))
        except TimeoutError:
            if not was_sent:
                return _away(target, f"kafka: no answer from {self._connection.bootstrap_servers}")
            return failed(TimeoutError(f"no reply on {call.reply_topic} in time"))

    def _is_foreign(self, topic: str) -> bool:
        return not topic.startswith((self._own_prefix, "__"))

    async def _opened(self, call: KafkaCall) -> ReplyReader:
        async with self._lock_of(call.request_topic):
            if call.request_topic not in self._request_topics:
                await partitions_of(self._connection, call.request_topic)
                self._request_topics.add(call.request_topic)
        topic = call.reply_topic
        async with self._lock_of(topic):
            reader = self._readers.get(topic)
            if reader is None or reader.is_broken:
                self._let_go(topic)
                reader = ReplyReader(self._connection, topic)
                await reader.open()
            self._readers.pop(topic, None)
            self._readers[topic] = reader
            self._make_room(topic)
            return reader

    def _lock_of(self, topic: str) -> asyncio.Lock:
        return self._opening.setdefault(topic, asyncio.Lock())

    def _make_room(self, needed: str) -> None:
        for topic, reader in list(self._readers.items()):
            if len(self._readers) <= MAX_READERS:
                return
            if reader.is_idle and topic != needed:
                self._let_go(topic)

    def _let_go(self, topic: str) -> None:
        """Closes the reader of a topic, if there is one, on nobody's time."""
        reader = self._readers.pop(topic, None)
        if reader is not None:
            closing = asyncio.create_task(reader.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _send(self, topic: str, asked: ProbeCall) -> None:
        headers = [(CORRELATION_HEADER, asked.probe_id.encode()), (PROBE_HEADER, asked.probe_id.encode())]
        key = tool_key(asked.tenant_id, asked.tool_name).encode()
        with write_errors(f"writing {topic}"):
            producer = await self._producer.started()
            await producer.send_and_wait(topic, asked.to_json(), key, headers=headers)


def _away(target: Target, reason: str) -> ProbeRefusal:
    log.warning("probe_without_kafka", source=target.source, tool=target.tool_name, reason=reason)
    return ProbeRefusal.NO_NETWORK


def _asked(request: ProbeRequest, sample: Mapping[str, Any], seconds: float) -> ProbeCall:
    return ProbeCall(
        probe_id=request.probe_id,
        tenant_id=request.tenant_id,
        project_id=request.project_id,
        tool_name=request.tool_name,
        identity=request.identity,
        user_id=request.user_id,
        sample_input=dict(sample),
        deadline=utc_now() + timedelta(seconds=seconds),
    )


def _told(value: bytes, probe_id: str) -> RawOutcome:
    """What a reply says; one that says nothing usable is a failure of the service that wrote it."""
    if len(value) > MAX_REPLY_BYTES:
        return RawOutcome(
            ok=False,
            exception_type="ProbeReplyTooLarge",
            message=f"the reply has {len(value)} bytes, limit {MAX_REPLY_BYTES}",
        )
    try:
        reply = ProbeReply.from_json(value)
    except ValidationError as error:
        return _invalid(f"the reply has {error.error_count()} faults")
    if reply.probe_id != probe_id:
        return _invalid("the reply names another probe than its header")
    body = (reply.body or "").encode()
    return RawOutcome(
        ok=reply.success,
        status=reply.status_code,
        headers=MappingProxyType(reply.headers or {}),
        body=body[:MAX_BODY_BYTES],
        truncated=len(body) > MAX_BODY_BYTES,
        exception_type=reply.exception_type,
        error_code=reply.error_code,
        used_credentials=reply.used_credentials,
    )


def _invalid(message: str) -> RawOutcome:
    return RawOutcome(ok=False, exception_type="ProbeReplyInvalid", message=message)

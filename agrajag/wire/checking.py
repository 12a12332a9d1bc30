"""Reports one failed call and waits for what Layer 1 tells its caller, as a person does who wants to see it judged."""

import asyncio
from contextlib import aclosing, suppress

from agrajag.errors import InputError, TransientError
from agrajag.model.answers import CheckResult
from agrajag.model.events import ToolCallError
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.codec import decode
from agrajag.wire.origin import ReceivedRecord
from agrajag.wire.reports import report_output
from agrajag.wire.sending import Sender
from agrajag.wire.tailing import Tail
from agrajag.wire.topics import Topic, Topics


async def checked(
    connection: KafkaConnection,
    topics: Topics,
    error: ToolCallError,
    event_id: str,
    *,
    source: str,
    wait_seconds: float,
) -> CheckResult:
    """The answer to `error`, which is sent now and must have a `reply_to`.

    Raises TransientError where Kafka is away, or no answer comes within `wait_seconds` of sending: the error stands in
    its topic then and will be judged. PermanentError where the topics do not exist.
    """
    tail = Tail(connection, [topics.name(Topic.CHECK_RESULTS)])
    async with Sender(connection, topics) as sender, aclosing(tail.records()) as following:
        await anext(following)  # from here on no answer is missed
        await sender.send([report_output(topics, error, event_id, source)])
        try:
            async with asyncio.timeout(wait_seconds):
                async for records in following:
                    for record in records:
                        if (answer := _answer(record)) is not None and answer.event_id == event_id:
                            return answer
        except TimeoutError:
            raise TransientError(
                f"no worker has judged event {event_id} within {wait_seconds:g} s; it stands in "
                f"{topics.name(Topic.TOOL_CALL_ERRORS)} and will be"
            ) from None
    raise AssertionError("answers have no end")


def _answer(record: ReceivedRecord) -> CheckResult | None:
    with suppress(InputError):  # somebody else's record in our topic
        return decode(CheckResult, record)
    return None

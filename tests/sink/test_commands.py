"""What a sink makes of commands and their results, on a real broker and a real store."""

from agrajag.model.answers import CommandResult
from agrajag.model.enums import CommandKind, CommandOutcome
from agrajag.store import Store
from agrajag.wire.asking import command_output
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_command
from tests.kafka_reading import read_all
from tests.sink.running import mirrored


async def test_what_was_asked_and_answered_stands_in_the_store_and_what_is_unreadable_is_set_aside_once(
    connection: KafkaConnection, topics: Topics, store_uri: str, database: str, opened: Store
) -> None:
    command = a_command(CommandKind.RECHECK, reason="is it back?")
    result = CommandResult(
        command_id=command.command_id,
        tenant_id="acme",
        tool_name="search",
        outcome=CommandOutcome.APPLIED,
        job_id="job-1",
        at=NOW,
    )
    asked = command_output(topics, command, "agrajag/test")
    answered = Output(topics.name(Topic.COMMAND_RESULTS), asked.key, result.to_json())
    broken = [asked._replace(value=b"{}"), answered._replace(value=b"{}")]
    await mirrored(connection, topics, store_uri, database, [*broken, answered, asked, asked, answered])
    found = await opened.commands.find("acme", "command-1")
    assert found is not None
    assert (found.command, found.result) == (command, result)
    letters = [
        await read_all(connection.bootstrap_servers, topics.dead_letters(topic))
        for topic in (Topic.HEALTH_COMMANDS, Topic.COMMAND_RESULTS)
    ]
    # A command that cannot be read is the business of the worker that should have carried it out.
    assert [len(found) for found in letters] == [0, 1]

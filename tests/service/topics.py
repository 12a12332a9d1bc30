"""The topics that service engines read and write, as the plan has them."""

from aiokafka.admin import NewTopic

from agrajag.wire.clients import KafkaConnection, admin_client
from agrajag.wire.topic_admin import partition_counts
from agrajag.wire.topics import Topic, Topics
from tests.waiting import eventually

_USED = (
    Topic.DIAGNOSIS_JOBS,
    Topic.DIAGNOSIS_RESULTS,
    Topic.PROCESS_EVENTS,
    Topic.HEALTH_COMMANDS,
    Topic.COMMAND_RESULTS,
)


async def make_topics(connection: KafkaConnection, topics: Topics) -> None:
    """Only those: a broker makes few partitions sooner than many. Returns when they can be seen."""
    wanted = {name for topic in _USED for name in (topics.name(topic), topics.dead_letters(topic))}
    new = [
        NewTopic(planned.name, planned.partitions, 1, topic_configs=planned.config)
        for planned in topics.planned()
        if planned.name in wanted
    ]
    async with admin_client(connection) as admin:
        await admin.create_topics(new)

        async def all_seen() -> bool:
            return (await partition_counts(admin, wanted)).keys() >= {topic.name for topic in new}

        await eventually(all_seen)

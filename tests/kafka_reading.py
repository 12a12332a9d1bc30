"""Reads topics to their end, outside of any group."""

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition


async def read_all(bootstrap_servers: str, topic: str) -> list[ConsumerRecord]:
    """Every record that the topic has now, partition by partition."""
    records: list[ConsumerRecord] = []
    async with AIOKafkaConsumer(topic, bootstrap_servers=bootstrap_servers) as consumer:
        places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
        consumer.unsubscribe()
        ends = await consumer.end_offsets(places)
        for place in places:
            consumer.assign([place])
            consumer.seek(place, 0)
            while await consumer.position(place) < ends[place]:
                fetched = await consumer.getmany(place, timeout_ms=1_000)
                records += fetched.get(place, [])
    return records

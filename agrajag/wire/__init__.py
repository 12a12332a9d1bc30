"""Everything about Kafka that is not the stream itself: topics, clients, records in and out, dead letters."""

"""Kafka as Agrajag uses it: records in and out, their keys and partitions."""

"""A real Apache Kafka and a document store for one machine and the tests, as supervised children."""

from agrajag.embedded.kafka import EmbeddedKafka
from agrajag.embedded.store import EmbeddedStore

__all__ = ["EmbeddedKafka", "EmbeddedStore"]

"""Agrajag decides whose fault a failing tool call is, and tells every agent before it tries again.

`model` holds the records, `core` the decisions, `wire` Kafka, `stream` the Faust worker, `sink` and `store` the view in
MongoDB, `embedded` a Kafka and a store for one machine. Importing this package imports none of them.
"""

__version__ = "0.1.0"

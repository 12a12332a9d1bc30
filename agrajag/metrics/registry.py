"""The registry that all metrics of Agrajag are in, and no others."""

from prometheus_client import CollectorRegistry

REGISTRY = CollectorRegistry()

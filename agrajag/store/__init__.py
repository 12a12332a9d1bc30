"""The view: documents in MongoDB or in a store that speaks its protocol, written by the sink, read by all."""

from agrajag.store.client import Store
from agrajag.store.documents import DocumentCollection
from agrajag.store.guarded import GuardedCollection, Refusal, Write, Written
from agrajag.store.health import HealthCollection, HealthPage

__all__ = [
    "DocumentCollection",
    "GuardedCollection",
    "HealthCollection",
    "HealthPage",
    "Refusal",
    "Store",
    "Write",
    "Written",
]

"""The view: documents in MongoDB or in a store that speaks its protocol, written by the sink, read by all."""

from agrajag.store.client import Store
from agrajag.store.commands import AuditedCommand, AuditPage, CommandCollection
from agrajag.store.documents import DocumentCollection
from agrajag.store.guarded import GuardedCollection, Refusal, Write, Written
from agrajag.store.health import HealthCollection, HealthPage
from agrajag.store.inbox import InboxCollection
from agrajag.store.invocations import InvocationCollection
from agrajag.store.processes import AuditCollection, ProcessCollection, SessionCollection

__all__ = [
    "AuditCollection",
    "AuditPage",
    "AuditedCommand",
    "CommandCollection",
    "DocumentCollection",
    "GuardedCollection",
    "HealthCollection",
    "HealthPage",
    "InboxCollection",
    "InvocationCollection",
    "ProcessCollection",
    "Refusal",
    "SessionCollection",
    "Store",
    "Write",
    "Written",
]

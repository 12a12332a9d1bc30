"""What a rebuild of the table has to write, given what its topics hold: a pure decision.

Of each document the newest copy counts, wherever it stands. One on a partition that is no longer its own is published
on its own with a revision above all copies. What the table has and is not older stays as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from agrajag.model.enums import Scope
from agrajag.model.keys import health_key, parts, tool_key
from agrajag.wire.partition import partition_for


class Copy(NamedTuple):
    """The newest record of a key on one partition; `is_gone` for a tombstone."""

    revision: int
    offset: int
    is_gone: bool


Copies = dict[bytes, dict[int, Copy]]
"""What a compacted topic holds, by key and partition."""


class Wanted(NamedTuple):
    """What is to become of one document: an entry of this revision, published on its partition as well or not."""

    partition: int
    revision: int
    is_published: bool


@dataclass
class Plan:
    """What a rebuild has to write. `documents` are named by the place of their newest copy in `health-changed`."""

    documents: dict[tuple[int, int], Wanted] = field(default_factory=dict)
    old_documents: list[tuple[int, bytes, int]] = field(default_factory=list)
    """Partition, key and revision of copies of documents that are to be deleted."""
    old_entries: list[tuple[int, bytes, int]] = field(default_factory=list)
    """The same in the changelog."""
    moves: int = 0


def plan(changed: Copies, changelog: Copies, partitions: int) -> Plan:
    """What is missing in `changelog` that `changed` knows, and what of both stands where it does not belong."""
    made = Plan()
    for key in changed.keys() | changelog.keys():
        right = right_partition(key, partitions)
        documents, entries = changed.get(key, {}), changelog.get(key, {})
        made.old_documents += _misplaced(key, documents, right)
        made.old_entries += _misplaced(key, entries, right)
        if not documents:
            continue
        home, newest = max(documents.items(), key=lambda found: (found[1].revision, found[0] == right))
        standing = entries.get(right)
        if newest.is_gone or (home == right and _is_as_new(standing, newest)):
            continue
        revision = newest.revision
        if home != right:
            revision = 1 + max(copy.revision for copy in (*documents.values(), *entries.values()))
            made.moves += 1
        elif standing is not None and standing.is_gone:
            revision = max(revision, standing.revision + 1)
        made.documents[home, newest.offset] = Wanted(right, revision, revision != newest.revision)
    return made


def _misplaced(key: bytes, copies: dict[int, Copy], right: int) -> Iterator[tuple[int, bytes, int]]:
    for partition, copy in copies.items():
        if partition != right and not copy.is_gone:
            yield partition, key, copy.revision


def _is_as_new(standing: Copy | None, newest: Copy) -> bool:
    return standing is not None and not standing.is_gone and standing.revision >= newest.revision


def right_partition(key: bytes, partitions: int) -> int:
    """ValueError where `key` is not that of a health document."""
    tenant_id, scope, scope_id, tool_name = parts(key.decode())
    if health_key(tenant_id, Scope(scope), scope_id, tool_name).encode() != key:
        raise ValueError("a key that is escaped in an unusual way")
    return partition_for(tool_key(tenant_id, tool_name).encode(), partitions)

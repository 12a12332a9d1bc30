"""One record to be written, before it is packed into a batch and given a place."""

from typing import NamedTuple

REVISION_HEADER = "revision"
"""The header of a tombstone that says which revision it stands for, as decimal digits."""


class Output(NamedTuple):
    """A record of `topic`. It goes to `partition`, or where murmur2 of `key` says if that is None.

    A named tuple, since a step makes one for every event. A `value` of None is a tombstone.
    """

    topic: str
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None

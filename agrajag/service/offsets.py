"""Which offset of a partition may be committed: the first before which every record that was read is done."""

from collections import OrderedDict


class OpenOffsets:
    """The offsets of one partition that are read and not yet behind the one to be committed."""

    def __init__(self) -> None:
        self._done: OrderedDict[int, bool] = OrderedDict()  # by offset, which is the order of reading
        self._read_to: int | None = None
        self.committable: int | None = None
        """What may be committed: the offset after the last contiguous one that is done; None before the first."""

    def __len__(self) -> int:
        """How many records would be read again, done or not, if this were read anew from `committable`."""
        return len(self._done)

    def read(self, offset: int) -> bool:
        """Takes note that a record was read; False for one that was read before, which changes nothing."""
        if self._read_to is not None and offset <= self._read_to:
            return False
        self._read_to = offset
        self._done[offset] = False
        return True

    def done(self, offset: int) -> None:
        """A record that was read is done."""
        self._done[offset] = True
        while self._done:
            first, is_done = next(iter(self._done.items()))
            if not is_done:
                return
            del self._done[first]
            self.committable = first + 1

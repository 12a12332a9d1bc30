"""Hands what a `Watch` tells to an attendant, so that whoever asks about the next call knows it at once."""

from agrajag.client.attending import Attendant
from agrajag.client.call import Call


class Outcomes:
    """What a `Watch` takes for its reporter."""

    def __init__(self, attendant: Attendant) -> None:
        self._attendant = attendant

    def report(self, call: Call, failure: object, *, handled: BaseException | None = None) -> str | None:
        """It failed."""
        check = self._attendant.failed(call, failure, handled)
        return check.event_id if check is not None else None

    def succeeded(self, call: Call) -> str | None:
        """It worked; whether anybody has to hear of that is not told."""
        self._attendant.worked(call)
        return None

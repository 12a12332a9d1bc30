"""What a service role sees of the documents in force: the rulebook of now, looked at anew each time."""

from typing import Protocol

from agrajag.documents.rulebook import Rulebook


class Documents(Protocol):
    """Whoever keeps a rulebook equal to its documents, such as `LiveDocuments`."""

    @property
    def rulebook(self) -> Rulebook:
        """What is in force now."""

"""Stands where a source is not set up: its tool is there all the same, and says so."""

from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds
from agrajag.investigation.frozen_model import FrozenModel
from agrajag.investigation.source_codes import SourceCode


class NoSource:
    """No source at all."""

    async def look(self, ids: CallIds, asked: FrozenModel) -> Failed:
        """Always Failed SOURCE_NOT_SET_UP: that there is no evidence could not be said truly."""
        return Failed(SourceCode.SOURCE_NOT_SET_UP)

"""The answer of an investigation: what is concluded, from which calls, and what is missing (spec single-react: Draft).

The schema that the model is given and the check of what it gives back come from these types, and from nowhere else.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from agrajag.investigation.frozen_model import FrozenModel

_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000, pattern=r"\S")]
_CallId = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Texts = Annotated[tuple[_Text, ...], Field(max_length=20)]


class AnalysisType(StrEnum):
    """OBSERVATION is something that was seen; NEGATIVE_OBSERVATION is that within a scope there was nothing."""

    OBSERVATION = "OBSERVATION"
    NEGATIVE_OBSERVATION = "NEGATIVE_OBSERVATION"


class Conclusion(FrozenModel):
    """What is the matter. A root cause is not owed: null where the evidence shows none."""

    summary: _Text
    root_cause: _Text | None


class AnalysisItem(FrozenModel):
    """One statement and the calls of this run that it stands on, by their exact ids."""

    type: AnalysisType
    statement: _Text
    tool_call_ids: Annotated[tuple[_CallId, ...], Field(min_length=1, max_length=20)]
    scope: _Text | None


class Limitations(FrozenModel):
    """What is not known, and what was looked at."""

    missing_info: Texts
    checked_scope: Texts


class DiagnosisDraft(FrozenModel):
    """The answer as a whole. Every field is always there."""

    conclusion: Conclusion | None
    analysis: Annotated[tuple[AnalysisItem, ...], Field(max_length=20)]
    action_plan: Texts
    recommendations: Texts
    limitations: Limitations

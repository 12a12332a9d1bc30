"""What goes into a decision about one error and what comes out of it, as values."""

from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from agrajag.core.rules import Rule
from agrajag.model.enums import Outcome, Scope
from agrajag.model.jobs import DiagnosisJob

E = TypeVar("E")


class Arrival(NamedTuple, Generic[E]):
    """One event as it came: with its id, where its producer's record first stood, and when the broker appended it."""

    event: E
    event_id: str
    origin: str
    offset: int
    appended_at: datetime
    appended_ms: int


class Verdict(NamedTuple):
    """What the checker decided about one error. `job` is set where a job is to be sent now, new or once more.

    `undiagnosed` and `unmarked` say what would have begun if the policy did not switch it off.
    """

    outcome: Outcome
    rule: Rule | None
    scope: Scope
    scope_id: str
    key: str
    user_id: str | None
    now: datetime
    cooldown_until: datetime | None = None
    job_id: str | None = None
    job: DiagnosisJob | None = None
    undiagnosed: bool = False
    unmarked: bool = False


class Repeat(NamedTuple):
    """The record was applied before: `keys` are the documents to publish again, `job` the event's own, if it
    still runs."""

    keys: tuple[str, ...]
    job: DiagnosisJob | None

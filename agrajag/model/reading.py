"""A health document as people and programs are shown it: with what follows from it at the moment of reading.

The API, its events and the command line show documents in this form alone, so that they never disagree.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import MAX_COOLDOWNS, ToolHealth
from agrajag.model.wire_model import Count, Id, Note, Signature, Time, WireModel

MAX_WORDS = 400

Key = Annotated[str, StringConstraints(max_length=4_096)]
"""The key of a health document: `tenant|scope|scopeId|tool`."""

Annotation = Annotated[str, StringConstraints(max_length=1_024)]
"""What a model's manifest adds to the description of a tool."""

Words = Annotated[str, StringConstraints(min_length=1, max_length=MAX_WORDS)]
"""One printable line for people, whatever the texts in it held."""


class Cooling(WireModel):
    """A cooldown that lasts: until then the same failure of the same users begins no new diagnosis."""

    user_id: Id | None = None
    """Whom it is about; without one, all whom the document covers."""
    error_signature: Signature
    classification: Classification | None = None
    since: Time | None = None
    """When the pause began; missing where release 0.1.0 wrote it."""
    until: Time
    last_triggered_at: Time
    """The newest failure that began it or met it."""
    hits: Count
    """How many cooldowns in a row this one makes."""
    note: Note | None = None
    in_flight: bool
    """Whether a diagnosis runs that it waits for."""
    job_id: Id | None = None
    """That diagnosis."""
    words: Words
    """All this for people."""


class HealthReading(WireModel):
    """One health document as of one moment."""

    key: Key
    status: Status
    """What counts for a call now: OK where a promised recovery has passed or nothing has confirmed the trouble for
    long, while `health.status` is what stood at the last change."""
    words: Words
    """How the tool is, for people."""
    annotation: Annotation | None = None
    """Missing where nothing is wrong."""
    unconfirmed_since: Time | None = None
    """The last evidence of a trouble that is believed no longer."""
    calling: Annotated[tuple[Cooling, ...], Field(max_length=MAX_COOLDOWNS)] = ()
    """What whoever calls the tool should know: the cooldowns that last, the one that ends last in front."""
    health: ToolHealth
    """The document itself."""


class CascadeReading(WireModel):
    """How a tool is for one caller: what the documents that apply to them say together."""

    status: Status
    words: Words
    annotation: Annotation | None = None
    speaking: Key | None = None
    """The key of the document that speaks for the caller; missing where none says that anything is wrong."""
    documents: Annotated[tuple[HealthReading, ...], Field(max_length=len(Scope))] = ()
    """Those that there are, narrowest first."""

"""What a service engine is, and what it is given for one attempt at one job.

Everything that differs between engines is in these few members; nothing in this package knows an engine by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, TypeVar

from agrajag.clock import Clock
from agrajag.documents.recipes import Recipe
from agrajag.harness import Audit
from agrajag.model.enums import ServiceFailure
from agrajag.model.jobs import ServiceJob
from agrajag.model.processes import RunUsage
from agrajag.model.wire_model import WireModel
from agrajag.wire.topics import Topic

J = TypeVar("J", bound=ServiceJob, contravariant=True)
R = TypeVar("R", bound=WireModel)


class Role(StrEnum):
    """What an engine may do; a tool is visible to an engine that has all the roles it asks for (spec agrajag §6)."""

    TOOL_PROBER = "tool-prober"
    TOOL_HEALTH_WRITER = "tool-health-writer"
    TOOL_HEALTH_READER = "tool-health-reader"
    REPAIR_ACTOR = "repair-actor"
    AUDIT_READER = "audit-reader"
    AUDIT_WRITER = "audit-writer"
    FAILURE_TRACKER = "failure-tracker"


class Budget(StrEnum):
    """What a tenant may use of a day: the label of what was used up."""

    RUNS = "runs"
    TOKENS = "tokens"
    MONEY = "money"


@dataclass(frozen=True, slots=True)
class ServiceRun:
    """One attempt at a job. `deadline` is in the event loop's time: the engine must have ended by then.

    `identity` is the originating user: the only one, beside the system, that the run may act as (spec agrajag §7).
    `over_budget` says what the tenant has used up today; an engine that has a way without a model takes it. `used` is
    to be called once for what the attempt has used, before `run` returns; the model's tokens are lost to the budgets
    otherwise.
    """

    process_id: str
    session_id: str
    attempt: int
    recipe: Recipe
    started_at: datetime
    deadline: float
    identity: str | None
    over_budget: Budget | None
    audit: Audit
    used: Callable[[RunUsage], None]
    clock: Clock = field(repr=False)


class ServiceEngine(Protocol[J, R]):
    """An engine. It keeps nothing of a job: two attempts at one are two calls, maybe in two processes."""

    @property
    def name(self) -> str:
        """Its `serviceType`, and the name of its recipe."""

    @property
    def roles(self) -> frozenset[Role]:
        """What it may do at most; its recipe may only take from it."""

    @property
    def input_model(self) -> type[ServiceJob]:
        """What its jobs are read as."""

    @property
    def output_model(self) -> type[R]:
        """What it answers with."""

    @property
    def output_topic(self) -> Topic:
        """Where its answers go."""

    @property
    def closes_itself(self) -> bool:
        """Whether an answer is all there is to do: its processes are CLOSED when it is on the topic.

        Otherwise whoever applies the answer writes CLOSED (spec agrajag §5.1).
        """

    def output_key(self, output: R) -> str:
        """The record key of an answer."""

    def output_id(self, output: R) -> str:
        """What names an answer: the same for a repeat."""

    async def run(self, job: J, run: ServiceRun) -> R:
        """The answer to a job. It may be cut at any await.

        Raises TransientError for what may pass: the job is tried again. PermanentError for what will not: it has
        failed. Everything that an engine knows how to answer is an answer, not an error.
        """

    def failed(self, job: J, run: ServiceRun, why: ServiceFailure) -> R:
        """The honest answer to a job that ended without one. Makes no calls."""


AnyEngine: TypeAlias = ServiceEngine[Any, Any]

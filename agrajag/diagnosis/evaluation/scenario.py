"""What a scenario says: the job, the tool and how it behaves, and which verdicts about it are right, passable, harmful.

The truth of a scenario (`Reality`) decides what is harmful, the same way for all; the expectation decides what is
right.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from agrajag.model.enums import (
    Classification,
    CredentialKind,
    ProbeIdentity,
    Scope,
    Status,
    Transport,
    Trigger,
)
from agrajag.model.events import Locale
from agrajag.model.jobs import MAX_SIGNALS, MAX_USERS
from agrajag.model.wire_model import Duration, Id, Note, Signature

TENANT = "magrathea"
PROJECT = "fjords"
USER = "alice"
SESSION = "session-42"
TRAP_HOST = "evil.example"
"""Where injected text wants people to go: it must stand nowhere in what a user or an agent gets to read."""

Body = str | dict[str, Any] | list[Any] | None
Step = Literal["handshake", "list", "call"]
Text = Annotated[str, StringConstraints(min_length=1)]
Seconds = Annotated[float, Field(gt=0, le=60)]


class Part(BaseModel):
    """A part of a scenario: camelCase, every field known, nothing coerced."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, validate_by_name=False
    )


class Reality(StrEnum):
    """What is true of the tool: who is really hit. It bounds how far a status DOWN may reach."""

    WORKS = "works"
    """Nothing is wrong with it (any more)."""
    CALLER = "caller"
    """It works; the call was wrong, or is not allowed to this user."""
    USER = "user"
    """It works for everybody but the originating user."""
    BROKEN = "broken"
    """It works for nobody of the job's scope."""
    PASSING = "passing"
    """It fails now and then, or for a time that is about to end, by itself."""
    HIDDEN = "hidden"
    """Nothing that can be looked at tells."""

    @property
    def widest_down(self) -> Scope | None:
        """The widest scope at which DOWN would be true; None: at none. For BROKEN it is the job's own."""
        return {Reality.USER: Scope.USER, Reality.BROKEN: Scope.GLOBAL}.get(self)

    @property
    def is_nobodys_outage(self) -> bool:
        """Whether the tool itself is fine."""
        return self in {Reality.WORKS, Reality.CALLER}


class ErrorPart(Part):
    """What the failed call left behind. None of it is to be believed."""

    status: Annotated[int, Field(ge=100, le=599)] | None = None
    headers: dict[str, str] = {}
    body: Body = None
    exception: Text | None = None
    message: Text | None = None
    code: Text | None = None


class JobPart(Part):
    """How the question arose: `errors` failed calls of `users` users, or one user's wish to know.

    Layer 1 makes the job of it, by the bundled rules; so a scenario whose error it would decide by itself is none.
    `others` are the errors of the users after the first, in turn; without them they all met the same one.
    """

    tool: Id
    trigger: Literal[Trigger.TOOL_CALL_ERROR, Trigger.USER_REQUEST] = Trigger.TOOL_CALL_ERROR
    scope: Scope | None = None
    """What a user asks about; errors have the scope that Layer 1 gives them."""
    project: Id | None = PROJECT
    user: Id | None = USER
    transport: Transport | None = None
    credentials: CredentialKind | None = None
    locale: Locale | None = None
    error: ErrorPart | None = None
    others: Annotated[tuple[ErrorPart, ...], Field(max_length=MAX_SIGNALS)] = ()
    errors: Annotated[int, Field(ge=1)] = 1
    users: Annotated[int, Field(ge=0, le=MAX_USERS)] = 1

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.error is None) != (self.trigger is Trigger.USER_REQUEST):
            raise ValueError("error: an error needs one, and a user request has none")
        if self.scope is not None and self.error is not None:
            raise ValueError("scope: an error has that which Layer 1 gives it")
        if self.users > self.errors or (self.users == 0) != (self.user is None):
            raise ValueError("users: each has at least one error, and there is none only without a user")
        return self


class Before(Part):
    """One change of status that the history remembers."""

    ago: Duration
    status: Status
    classification: Classification | None = None
    note: Note | None = None
    lasted: Duration = timedelta(0)
    """Until when it was seen again, from `ago` on."""
    count: Annotated[int, Field(ge=1)] = 1


class CooldownPart(Part):
    """A cooldown beside that of the job itself."""

    signature: Signature
    user: Id | None = None
    remains: Duration
    hits: Annotated[int, Field(ge=1)] = 1


class HealthPart(Part):
    """A health document as it stood before the job; times are told from the moment of the diagnosis."""

    scope: Scope = Scope.PROJECT
    status: Status = Status.OK
    classification: Classification | None = None
    note: Note | None = None
    since: Duration | None = None
    recovers_in: Duration | None = None
    last_success: Duration | None = None
    history: tuple[Before, ...] = ()
    cooldowns: tuple[CooldownPart, ...] = ()


class Answer(Part):
    """What the tool does with one call: a response, or what happens instead of one.

    `after_seconds` is real time. An MCP tool answers with `text` as the result of the tool, and with `status` before
    there is any result, at the step `at`.
    """

    status: Annotated[int, Field(ge=200, le=599)] | None = None
    headers: dict[str, str] = {}
    body: Body = None
    after_seconds: Seconds | None = None
    instead: Literal["hang", "reset", "cut", "flood"] | None = None
    text: str | None = None
    is_error: bool = False
    at: Step | None = None

    @property
    def of_mcp(self) -> bool:
        """Whether it says something that only an MCP tool can do."""
        return self.text is not None or self.is_error or self.at is not None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if sum(said is not None for said in (self.text, self.status or self.instead)) != 1:
            raise ValueError("needs one of status, instead and text")
        if self.at is not None and self.text is not None:
            raise ValueError("at: a text comes from the tool itself")
        return self


Answers = tuple[Answer, ...]
"""The answers to the first call, the second, …; the last one stays."""

NOBODY = (Answer(status=401, body="authentication required"),)
"""What a tool says to a caller for whom nothing is scripted."""


class ToolPart(Part):
    """The tool server: how it behaves to whom. Who has no list of their own is answered as `anyone`.

    `listens: false` is a port at which nobody listens; `tls` one that is asked by HTTPS and does not speak it.
    """

    kind: Literal["http", "mcp"] = "http"
    listens: bool = True
    lists: tuple[Id, ...] = ()
    """The tools that an MCP server lists; none: the one that is asked for."""
    user: Answers | None = None
    system: Answers | None = None
    anyone: Answers | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        answers = self._all
        if self.listens != bool(answers):
            raise ValueError("needs answers, or listens: false and none")
        if self.kind == "http" and (self.lists or any(answer.of_mcp for answer in answers)):
            raise ValueError("lists, text, isError and at are for kind: mcp")
        return self

    @property
    def hangs(self) -> bool:
        """Whether any call is never answered."""
        return any(answer.instead == "hang" for answer in self._all)

    @property
    def _all(self) -> list[Answer]:
        return [answer for given in (self.user, self.system, self.anyone) for answer in given or ()]

    def answers_to(self, identity: ProbeIdentity | None) -> Answers:
        """The answers to whoever has this credential; None: to whoever has none."""
        own = {ProbeIdentity.USER: self.user, ProbeIdentity.SYSTEM: self.system}
        return (own.get(identity) if identity else None) or self.anyone or NOBODY


class CredentialsPart(Part):
    """Whose credential is found where the declaration names it."""

    user: bool = True
    system: bool = True


class Expectation(Part):
    """The right verdict, and what stands in the documents afterwards.

    `scope` is where a status is written; without one nothing is. `recovers_in` bounds the recovery time, both ends
    included; without it any is right that the guards let through.
    """

    classification: Classification
    scope: Scope | None = None
    recovers_in: tuple[Duration, Duration] | None = None
    hint: bool = False
    """Whether the user is to be told in the inbox."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        writes = self.classification in WRITES
        if writes and self.scope is None:
            raise ValueError(f"{self.classification} writes a status: scope must say where")
        if not writes and (self.scope or self.recovers_in):
            raise ValueError(f"{self.classification} promises no status: scope and recoversIn must be absent")
        return self


WRITES = {
    Classification.TECHNICALLY_BROKEN: Status.DOWN,
    Classification.USER_SPECIFIC_TECHNICAL: Status.DOWN,
    Classification.INTERMITTENT: Status.DEGRADED,
}
"""The status that a classification writes (spec agrajag §5.2 step 5). UNCLEAR may write DEGRADED for a while; WORKING
heals what was not OK."""


class Scenario(Part):
    """One case. `target` is the entry of `_vance/tools.yaml`, in which `$url` and `$address` are the tool server's."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
    about: Text
    reality: Reality
    job: JobPart
    health: tuple[HealthPart, ...] = ()
    target: dict[str, Any] | None = None
    server: ToolPart | None = None
    credentials: CredentialsPart = CredentialsPart()
    expect: Expectation
    acceptable: tuple[Classification, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.expect.classification in self.acceptable:
            raise ValueError("acceptable: names what is expected")
        if self.server is not None and self.target is None:
            raise ValueError("server: nothing would call it without a target")
        for verdict in (self.expect.classification, *self.acceptable):
            if WRITES.get(verdict) is Status.DOWN and self.reality.widest_down is None:
                raise ValueError(f"{verdict} would do harm where the reality is {self.reality}")
        scopes = [part.scope for part in self.health]
        if len(set(scopes)) < len(scopes):
            raise ValueError("health: two documents of one scope")
        return self

"""The health document of one tool at one scope, and what the table keeps beside it.

A document has three facets: `link` (open connections), `verdict` (what errors and diagnoses say) and `override` (what a
person says). Its status is computed from them at the time of reading, the override first; it is never stored apart from
them, so the facets cannot disagree with it. How documents change is the business of `core.health`.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints, computed_field

from agrajag.model.answers import InboxItem
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.wire_model import Cause, Count, Id, Note, ScopeId, Signature, Time, WireModel

MAX_HISTORY = 100
MAX_COOLDOWNS = 64
MAX_JOBS = 16
MAX_CONNECTIONS = 100
MAX_CLOSED = 8
RECENT_IDS = 8
MAX_INBOX = 8
MAX_TOPIC_PARTITION = 260  # Kafka allows 249 characters for the name of a topic
MAX_ORIGINS = 65_536  # more than fit into one record of the changelog

TopicPartition = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TOPIC_PARTITION)]


class Connection(WireModel):
    """The newest that is known of one connection: `seq` orders its events, `at` is when that one happened.

    `was_open`: it was heard to come up. The close of one that was not is remembered and says nothing, in case its
    beginning is only late.
    """

    link_id: Id
    connection_id: Id
    seq: Count
    at: Time
    is_open: bool
    was_open: bool
    cause: Cause | None = None


class LinkFacet(WireModel):
    """Which connections carry the tool: it is down when the last one that it had was closed.

    `connections` are the open ones and the last few that were closed. There is no `down_since` while a connection is
    open, nor for a tool that never had one; `cause` is why the last one was closed.
    """

    connections: Annotated[tuple[Connection, ...], Field(max_length=MAX_CONNECTIONS + MAX_CLOSED)] = ()
    down_since: Time | None = None
    cause: Cause | None = None


class VerdictFacet(WireModel):
    """What errors and diagnoses say. `evidence_at` is the time of the newest error or probe behind it."""

    status: Status = Status.OK
    since: Time | None = None
    expected_recovery_at: Time | None = None
    classification: Classification | None = None
    note: Note | None = None
    by: Id | None = None
    evidence_at: Time | None = None


class OverrideFacet(WireModel):
    """What a person says, until they lift it or `until` has passed."""

    status: Status
    reason: Note
    by: Id
    at: Time
    until: Time | None = None


class LastDiagnosis(WireModel):
    """The newest diagnosis of this tool and scope; what a fresh error is compared with before a new job.

    `user_id` is set where it was about one user's credential: then it answers for nobody else.
    """

    classification: Classification
    note: Note | None = None
    by: Id
    at: Time
    error_signature: Signature
    job_id: Id
    user_id: Id | None = None


class HistoryEntry(WireModel):
    """One change of status. Equal repeats share an entry: `count` of them, the newest at `last_at`."""

    at: Time
    last_at: Time
    count: Count = 1
    status: Status
    classification: Classification | None = None
    note: Note | None = None
    by: Id
    expected_recovery_at: Time | None = None


class Cooldown(WireModel):
    """A cooldown per signature and user, and at the same time the claim on its diagnosis.

    Without `user_id` it covers everybody. `since` is when the pause began, unknown where release 0.1.0 wrote it;
    `next_spawn_allowed_at` is the deadline; equal to now is over. `hits` grows with each cooldown that follows another
    within an hour of its end. `last_triggered_at` is the newest failure that began it or met it. While `job_id` is set
    and `lease_until` has not passed, a diagnosis is in flight for it, claimed by the event `claimed_by`.
    """

    error_signature: Signature
    user_id: Id | None = None
    since: Time | None = None
    next_spawn_allowed_at: Time
    hits: Count = 1
    last_classification: Classification | None = None
    last_triggered_at: Time
    note: Note | None = None
    claimed_by: Id | None = None
    job_id: Id | None = None
    lease_until: Time | None = None


class HealthCounters(WireModel):
    """What stands behind a document: errors seen, and what became of them."""

    errors: Count = 0
    suppressed: Count = 0
    coalesced: Count = 0
    jobs: Count = 0


class ToolHealth(WireModel):
    """The health of one tool for everybody in one scope: the document on `health-changed` and in the store.

    A higher `revision` is the newer document, whatever arrived last. `scope_id` is empty for GLOBAL. Lists are bounded:
    cooldowns by 64, history by the tenant's setting (20), newest first.
    """

    revision: Count
    tenant_id: Id
    scope: Scope
    scope_id: ScopeId
    tool_name: Id
    link: LinkFacet = LinkFacet()
    verdict: VerdictFacet = VerdictFacet()
    override: OverrideFacet | None = None
    last_diagnosis: LastDiagnosis | None = None
    last_checked_at: Time | None = None
    last_success_at: Time | None = None
    cooldowns: Annotated[tuple[Cooldown, ...], Field(max_length=MAX_COOLDOWNS)] = ()
    history: Annotated[tuple[HistoryEntry, ...], Field(max_length=MAX_HISTORY)] = ()
    counters: HealthCounters = HealthCounters()
    created_at: Time
    updated_at: Time

    def active_override(self, now: datetime) -> OverrideFacet | None:
        """The override, unless its `until` has passed."""
        override = self.override
        return override if override is not None and (override.until is None or now < override.until) else None

    @property
    def is_undisputed(self) -> bool:
        """Whether nothing of the document has ever to say but that the tool is OK: the usual case, told at once."""
        return self.override is None and self.verdict.status is Status.OK and self.link.down_since is None

    def status_at(self, now: datetime) -> Status:
        """The status at `now`: an unexpired override, else DOWN for a closed link, else the verdict's."""
        if (override := self.active_override(now)) is not None:
            return override.status
        if self.link.down_since is not None:
            return Status.DOWN
        return self.verdict.status

    @computed_field  # type: ignore[prop-decorator]
    @property
    def status(self) -> Status:
        """The status at the time of the last change, for readers that compute nothing themselves."""
        return self.status_at(self.updated_at)


class HealthEntry(WireModel):
    """What the table holds under one key: the public document and what only its owner needs.

    `health` is null once the document is gone; the entry then stays for a day, so that repeats and late records do not
    bring the document back. `applied` maps each origin `topic-partition` to the last offset that was applied here.
    `jobs` are the jobs in flight, kept whole because a job is sent again when more signals join it; `handled_job_ids`
    and `handled_process_ids` are the jobs that were answered lately and by whom. `inbox` holds the user's open items
    and the last few that were closed. `ended_at` is when the session of a SESSION document ended: nobody will ask for
    it again. `commanded_at` is the time of the newest command that was carried out: an older one comes too late.
    """

    revision: Count
    health: ToolHealth | None = None
    applied: Annotated[dict[TopicPartition, Count], Field(max_length=MAX_ORIGINS)] = Field(
        default_factory=dict
    )
    jobs: Annotated[tuple[DiagnosisJob, ...], Field(max_length=MAX_JOBS)] = ()
    handled_job_ids: Annotated[tuple[Id, ...], Field(max_length=RECENT_IDS)] = ()
    handled_process_ids: Annotated[tuple[Id, ...], Field(max_length=RECENT_IDS)] = ()
    inbox: Annotated[tuple[InboxItem, ...], Field(max_length=MAX_INBOX)] = ()
    handled_command_ids: Annotated[tuple[Id, ...], Field(max_length=RECENT_IDS)] = ()
    ended_at: Time | None = None
    commanded_at: Time | None = None

"""Health documents as Hypothesis sees them: every field, hostile names, times to the millisecond."""

from datetime import UTC, datetime
from typing import Any, TypeVar

from hypothesis import strategies as st

from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import (
    Connection,
    Cooldown,
    HealthCounters,
    HistoryEntry,
    LastDiagnosis,
    LinkFacet,
    OverrideFacet,
    ToolHealth,
    VerdictFacet,
)
from agrajag.model.wire_model import WireModel

Model = TypeVar("Model", bound=WireModel)

_HOSTILE_IDS = (
    "$where",
    "a.b",
    "$",
    ".",
    "a|b",
    "100%",
    "%7C",
    "ä",
    "\U0001f600",
    "$set.x",
    "x" * 256,
    "｜",
    "__proto__",
)
_SPECIAL_TEXT = ("", "\x00", "$$NOW", "a\x00b", "\ud7ff", "{'$gt': ''}")

ids = st.sampled_from(_HOSTILE_IDS) | st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12
)
notes = st.sampled_from(_SPECIAL_TEXT) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
signatures = st.sampled_from(("http-5xx", "$sig", "a.b"))
counts = st.integers(0, 2**53)
times = st.builds(
    lambda moment, ms: moment.replace(microsecond=ms * 1000, tzinfo=UTC),
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),  # noqa: DTZ001 - the zone comes with the milliseconds
    st.integers(0, 999),
)


def _built(model: type[Model], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Model]:
    # st.builds would read the camelCase aliases as further required arguments.
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


statuses = st.sampled_from(Status)
classifications = st.sampled_from(Classification)

_connections = _built(
    Connection,
    link_id=ids,
    connection_id=ids,
    seq=counts,
    at=times,
    is_open=st.booleans(),
    was_open=st.booleans(),
    cause=st.none() | notes,
)
_links = _built(
    LinkFacet,
    connections=st.lists(_connections, max_size=3).map(tuple),
    down_since=st.none() | times,
    cause=st.none() | notes,
)
_verdicts = _built(
    VerdictFacet,
    status=statuses,
    since=st.none() | times,
    expected_recovery_at=st.none() | times,
    classification=st.none() | classifications,
    note=st.none() | notes,
    by=st.none() | ids,
    evidence_at=st.none() | times,
)
overrides = _built(OverrideFacet, status=statuses, reason=notes, by=ids, at=times, until=st.none() | times)
_diagnoses = _built(
    LastDiagnosis,
    classification=classifications,
    note=notes,
    by=ids,
    at=times,
    error_signature=signatures,
    job_id=ids,
)
_cooldowns = _built(
    Cooldown,
    error_signature=signatures,
    user_id=st.none() | ids,
    next_spawn_allowed_at=times,
    hits=counts,
    last_classification=st.none() | classifications,
    last_triggered_at=times,
    note=st.none() | notes,
    claimed_by=st.none() | ids,
    job_id=st.none() | ids,
    lease_until=st.none() | times,
)
_history = _built(
    HistoryEntry, at=times, last_at=times, count=counts, status=statuses, note=st.none() | notes, by=ids
)
_counters = _built(HealthCounters, errors=counts, suppressed=counts, coalesced=counts, jobs=counts)

healths = _built(
    ToolHealth,
    revision=counts,
    tenant_id=ids,
    scope=st.sampled_from(Scope),
    scope_id=ids | st.just(""),
    tool_name=ids,
    link=_links,
    verdict=_verdicts,
    override=st.none() | overrides,
    last_diagnosis=st.none() | _diagnoses,
    last_checked_at=st.none() | times,
    last_success_at=st.none() | times,
    cooldowns=st.lists(_cooldowns, max_size=3).map(tuple),
    history=st.lists(_history, max_size=3).map(tuple),
    counters=_counters,
    created_at=times,
    updated_at=times,
)

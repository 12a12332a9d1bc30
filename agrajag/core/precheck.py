"""What Layer 1 would tell about an error, for whoever cannot wait for its answer: it claims nothing and writes nothing.

The decision is `core.triage` itself, on documents that are thrown away afterwards. What stands in the public documents
is all that is known here: a diagnosis that would begin has no id yet, for another error may claim it first.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import cast

from agrajag.core.check import check_result
from agrajag.core.drafts import Drafts
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.times import EPOCH
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Verdict
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Outcome, Trigger
from agrajag.model.events import ToolCallError
from agrajag.model.health import Cooldown, HealthEntry, ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key

_MILLISECOND = timedelta(milliseconds=1)


def precheck(
    event: ToolCallError,
    event_id: str,
    documents: Iterable[ToolHealth],
    rules: RuleSet,
    policy: Policy,
    now: datetime,
) -> CheckResult:
    """The answer to an error that is reported at `now`, given the documents that apply to its caller.

    It is the worker's own, if that reads the same documents; but for the id of a diagnosis that would begin.
    """
    arrival = Arrival(event, event_id, "unsent", 0, now, (now - EPOCH) // _MILLISECOND)
    entries = {_key(document): _entry(document) for document in documents}
    drafts = Drafts(entries.get)
    verdict = cast(Verdict, triage(arrival, drafts, rules, policy, now))  # a repeat needs what was applied
    for draft in drafts.touched():
        entries[draft.key] = draft.frozen()
    found = (entries.get(key) for key in Caller.of(event).keys(event.tool_name))
    standing = [entry.health for entry in found if entry is not None and entry.health is not None]
    result = check_result(arrival, verdict, rules.hash, standing, policy)
    return result.with_changes(job_id=None) if verdict.outcome is Outcome.ENQUEUED else result


def _key(document: ToolHealth) -> str:
    return health_key(document.tenant_id, document.scope, document.scope_id, document.tool_name)


def _entry(document: ToolHealth) -> HealthEntry:
    """The document as the table would hold it, as far as it tells: with the diagnoses that its cooldowns name."""
    jobs = tuple(
        _job(document, entry, entry.job_id, entry.lease_until)
        for entry in document.cooldowns
        if entry.job_id is not None and entry.lease_until is not None
    )
    return HealthEntry(revision=document.revision, health=document, jobs=jobs)


def _job(document: ToolHealth, entry: Cooldown, job_id: str, lease_until: datetime) -> DiagnosisJob:
    return DiagnosisJob(
        job_id=job_id,
        tenant_id=document.tenant_id,
        scope=document.scope,
        scope_id=document.scope_id,
        tool_name=document.tool_name,
        trigger=Trigger.TOOL_CALL_ERROR,
        error_signature=entry.error_signature,
        claimed_by=entry.claimed_by or job_id,
        created_at=entry.last_triggered_at,
        lease_until=lease_until,
    )

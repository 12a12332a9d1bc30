"""Success heals: what one successful call takes back (spec agrajag §4.2, §9).

A call that worked speaks for those scopes that its caller belongs to, and for the time at which it happened. It ends
every cooldown that covers the caller, and the narrowest verdict that is not OK; the wider ones wait for a further
success. What the caller was asked to mend is archived. What was seen failing later stands, and so does what a
connection or a person says.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from agrajag.core.cooldown import covers
from agrajag.core.draft import Draft
from agrajag.core.drafts import Drafts
from agrajag.core.health import Marking
from agrajag.core.lookup import Caller
from agrajag.core.policy import Policy
from agrajag.core.repeats import repeat_of
from agrajag.core.times import event_time
from agrajag.core.verdicts import Arrival, Repeat
from agrajag.model.enums import Classification, Status
from agrajag.model.events import ToolCallSucceeded

AUTO_CLEAR = "auto-clear"
_WORKING = Marking(Status.OK, Classification.WORKING, None, None, AUTO_CLEAR)


class Recovery(StrEnum):
    """What a success did.

    HEALED: a verdict became OK. CLEARED: cooldowns ended, no verdict changed. NOTED: there was nothing to take back.
    UNKNOWN_TOOL: no document applies to the caller, and none is made. PROBE: a probe heals nothing.
    """

    HEALED = "HEALED"
    CLEARED = "CLEARED"
    NOTED = "NOTED"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    PROBE = "PROBE"


def recover(arrival: Arrival[ToolCallSucceeded], drafts: Drafts, policy: Policy) -> Recovery | Repeat:
    """Take back what the success disproves, in the documents of its caller that exist.

    The same arrival a second time moves nothing and gives a `Repeat`. Jobs in flight go on: their result is judged when
    it comes, by `last_success_at`.
    """
    event = arrival.event
    if event.probe:
        return Recovery.PROBE
    present = drafts.present(Caller.of(event).keys(event.tool_name))
    if (repeat := repeat_of(arrival, present)) is not None:
        return repeat
    standing = [draft for draft in present if draft.stands]
    if not standing:
        return Recovery.UNKNOWN_TOOL
    now = event_time(event.occurred_at, arrival.appended_at)
    healed = _healed(standing, now, policy)
    ended = [draft.end_cooldowns(now, lambda entry: covers(entry, None, event.user_id)) for draft in standing]
    for draft in standing:
        draft.inbox.archive_until(now)
        draft.succeed(now)
        draft.touch(arrival.origin, arrival.offset, now, arrival.appended_ms)
    if healed:
        return Recovery.HEALED
    return Recovery.CLEARED if any(ended) else Recovery.NOTED


def _healed(standing: Iterable[Draft], now: datetime, policy: Policy) -> bool:
    """Make the narrowest verdict OK that is not, unless its newest evidence is newer than the success."""
    for draft in standing:
        verdict = draft.verdict
        if verdict.status is Status.OK:
            continue
        if verdict.evidence_at is not None and now < verdict.evidence_at:
            return False
        draft.write(_WORKING, now, policy)
        return True
    return False

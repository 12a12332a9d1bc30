"""The room that a document has for cooldowns, and one that somebody states beside those that stand there."""

from datetime import datetime

from agrajag.core.cooldown import in_flight, is_remembered, joined
from agrajag.core.draft import Draft
from agrajag.core.policy import Policy
from agrajag.model.health import MAX_COOLDOWNS, Cooldown


def has_room(
    draft: Draft, signature: str, user_id: str | None, now: datetime, policy: Policy, clock: datetime
) -> bool:
    """Whether the document can hold a cooldown of this key; those that are over and forgotten make room."""
    if draft.cooldown(signature, user_id) is not None or len(draft.cooldowns) < MAX_COOLDOWNS:
        return True
    draft.forget_cooldowns(lambda entry: is_remembered(entry, now, policy) or in_flight(entry, clock))
    return len(draft.cooldowns) < MAX_COOLDOWNS


def put_stated(draft: Draft, stated: Cooldown, now: datetime, policy: Policy, clock: datetime) -> bool:
    """Set a cooldown that a person or a diagnosis states; False where there is no room.

    The later deadline wins, and a claim that stands there stays.
    """
    if not has_room(draft, stated.error_signature, stated.user_id, now, policy, clock):
        return False
    known = draft.cooldown(stated.error_signature, stated.user_id)
    if known is not None:
        claim = {"claimed_by": known.claimed_by, "job_id": known.job_id, "lease_until": known.lease_until}
        stated = joined(known, stated.with_changes(**claim), now)
    draft.put_cooldown(stated)
    return True

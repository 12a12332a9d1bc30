"""Errors and successes commute: two topics are read side by side, and which is ahead must not matter.

What is compared is what anybody sees afterwards: whether the tool is well, and whether a cooldown covers whom. It may
end at another time, since an error that a success disproves begins none. Claimed jobs are left out, for a success ends
none, and so is what is one user's own where no user was named: nobody's success speaks for it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.cooldown import active_cover
from agrajag.core.match import RuleSet
from agrajag.model.enums import Classification, HealthAction, Scope, Status
from tests.builders import NOW, a_health, a_rule, a_success, an_error
from tests.core.triaging import Triage, after

RULES = RuleSet(
    [
        a_rule(
            "down", http_statuses=(502, 502), classification=Classification.TECHNICALLY_BROKEN,
            health_action=HealthAction.MARK_UNAVAILABLE,
        ),
        a_rule("busy", http_statuses=(429, 429), classification=Classification.INTERMITTENT),
        a_rule("forbidden", http_statuses=(403, 403), classification=Classification.USER_PERMISSION),
    ]
)  # fmt: skip
STATUSES = {"down": 502, "busy": 429, "forbidden": 403}
USERS = ("alice", "bob", None)
moments = st.integers(0, 900).map(lambda seconds: after(seconds=seconds))
calls = st.tuples(moments, st.sampled_from(USERS), st.sampled_from([*STATUSES.values(), None])).filter(
    lambda call: call[1:] != (None, 403)
)
"""A call at a moment: it failed with a status, or, without one, succeeded."""


def played(sequence: Sequence[tuple[datetime, str | None, int | None]]) -> Triage:
    """A tool whose documents exist, after these calls in the order in which they were read."""
    tools = Triage(RULES)
    tools.put(a_health())
    for user in ("alice", "bob"):
        tools.put(a_health(scope=Scope.USER, scope_id=user))
    read_at = after(seconds=900)
    for number, (at, user_id, http_status) in enumerate(sequence):
        if http_status is None:
            tools.recover([(a_success(user_id=user_id, occurred_at=at), number)], read_at)
        else:
            error = an_error(http_status=http_status, user_id=user_id, occurred_at=at)
            tools.step([tools.arrival(error, read_at)])
    return tools


def seen(tools: Triage, newest: dict[str, datetime]) -> dict[str, Any]:
    """Whether the tool is well, and whether a cooldown covers whom, for each signature at its newest call."""
    documents = [entry.health for entry in tools.table.values() if entry.health is not None]
    well = {document.scope_id: document.verdict.status is Status.OK for document in documents}
    covers = {
        f"{document.scope_id}: {signature} of {user}": cover is not None
        for document in documents
        for signature, at in newest.items()
        for user in USERS
        for cover in [active_cover(document.cooldowns, signature, user, at)]
    }
    return well | covers


@given(st.lists(calls, min_size=1, max_size=12), st.data())
def test_errors_and_successes_commute(sequence: list[Any], data: st.DataObject) -> None:
    by_time = sorted(sequence, key=lambda call: call[0])
    errors = [call for call in by_time if call[2] is not None]
    successes = [call for call in by_time if call[2] is None]
    interleaved = []
    while errors or successes:
        of_errors = data.draw(st.booleans()) if errors and successes else bool(errors)
        interleaved.append((errors if of_errors else successes).pop(0))
    newest = {
        signature: max([at for at, _, found in by_time if found in {None, status}], default=NOW)
        for signature, status in STATUSES.items()
    }
    assert seen(played(interleaved), newest) == seen(played(by_time), newest)

"""Which status a rule writes about one error, where nothing covers it (spec agrajag §4.1)."""

from typing import NamedTuple

from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.model.enums import Classification, HealthAction, Status
from agrajag.model.events import ToolCallError

_STATUS_OF = {HealthAction.MARK_UNAVAILABLE: Status.DOWN, HealthAction.MARK_DEGRADED: Status.DEGRADED}
_NEVER_MARKS = frozenset({Classification.USER_PERMISSION, Classification.USER_INPUT})


class RuleStatus(NamedTuple):
    """The status that the rule asks for, and the one that it may write; None for none."""

    asked_for: Status | None
    written: Status | None

    @property
    def is_held_back(self) -> bool:
        """Whether the policy keeps the rule from what it asks for."""
        return self.written is not self.asked_for


def rule_status(rule: Rule, event: ToolCallError, policy: Policy) -> RuleStatus:
    """The status of the rule's `healthAction`, if its class may write one; no DOWN where the policy switches that off.

    What is a user's own is only ever written on that user, whatever a rule says: without a user it writes nothing.
    """
    asked_for = _asked_for(rule, event)
    is_kept_up = asked_for is Status.DOWN and event.tool_name in policy.never_down
    return RuleStatus(asked_for, None if is_kept_up else asked_for)


def _asked_for(rule: Rule, event: ToolCallError) -> Status | None:
    if rule.classification in _NEVER_MARKS:
        return None
    if rule.classification is Classification.USER_SPECIFIC_TECHNICAL and event.user_id is None:
        return None
    return _STATUS_OF.get(rule.health_action)

"""Finds selectors of one rule that exclude each other, so that no error ever fits all of them.

Only what is certain counts; a rule may be impossible for reasons that are not looked for.
"""

from itertools import combinations

from agrajag.core.call_conditions import CredentialIs, TargetIs, TransportIs
from agrajag.core.condition import Condition
from agrajag.core.hiding import SUCCESS, conjuncts, covers, statuses_left
from agrajag.core.response_conditions import HeaderIs, NoSuccess
from agrajag.core.selectors import AnyOf, NotThese, Selectors

_ONE_OF = (TransportIs, CredentialIs, TargetIs)


def conflict_in(match: Selectors) -> str | None:
    """Why no error fits the selectors; None where one may."""
    parts = conjuncts(match)
    conditions = [condition for part in parts for condition in part.conditions]
    statuses = statuses_left(match)
    if statuses is not None and not statuses:
        return "its statuses exclude each other"
    is_success = statuses is not None and all(status in SUCCESS for status in statuses)
    if is_success and any(isinstance(condition, NoSuccess) for condition in conditions):
        return "it asks for a status of success without `successBody: true`"
    for condition in conditions:
        if isinstance(condition, NotThese) and _excludes(condition, match):
            return "what it must not fit is all that it can fit"
        if isinstance(condition, AnyOf) and all(
            _is_impossible(branch, match) for branch in condition.branches
        ):
            return "none of its `any` can fit together with the rest"
    for one, other in combinations(conditions, 2):
        if _exclude_each_other(one, other):
            return f"two of its selectors {one.selector} exclude each other"
    return None


def _excludes(condition: NotThese, match: Selectors) -> bool:
    """Whether all that fits the rest of `match` is what must not fit."""
    return covers(condition.inner, match)


def _is_impossible(branch: Selectors, match: Selectors) -> bool:
    left, wanted = statuses_left(match), statuses_left(branch)
    if left is not None and wanted is not None and not any(status in wanted for status in left):
        return True
    return conflict_in(branch) is not None


def _exclude_each_other(one: Condition, other: Condition) -> bool:
    if isinstance(one, _ONE_OF) and type(one) is type(other) and isinstance(other, _ONE_OF):
        return not set(one.values) & set(other.values)
    if not (isinstance(one, HeaderIs) and isinstance(other, HeaderIs)) or one.name != other.name:
        return False
    if one.is_absent or other.is_absent:
        return one.is_absent is not other.is_absent
    first, second = sorted((one, other), key=lambda header: header.text is None)
    if first.text is None:
        return False
    return first.text != second.text if second.text is not None else (second.contains or "") not in first.text

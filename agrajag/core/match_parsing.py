"""Checks what a rule's `match` says: the specification's selectors, ours, and how they combine.

An unknown selector or a value that is wrong rejects the rule; neither is ever left out, for that would widen it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from agrajag.core.checked_values import Rejected, code, flag, one_or_more, texts, whole_number
from agrajag.core.condition import Condition
from agrajag.core.condition_parsing import CONDITIONS, header_conditions
from agrajag.core.response_conditions import BodyMatches, NoSuccess, StatusIs
from agrajag.core.selectors import AllOf, AnyOf, NotThese, Selectors
from agrajag.core.shown import field_name

MAX_DEPTH = 5
MAX_BRANCHES = 50


def parse_match(given: object, *, of_pack: bool = False) -> Selectors:
    """The selectors of a rule. Raises Rejected.

    A rule `of_pack` never looks at a response with a status of success, unless it says `successBody: true`, nor at what
    stands in quotation marks, unless it says `quotedText: true`: what a pack knows by its words alone may stand in
    anything that a tool brings, and in what a caller asked for.
    """
    selectors = _selectors(given, "match", MAX_DEPTH, _Room())
    said = given if isinstance(given, Mapping) else {}
    looks_at_success = looks_at_quotes = not of_pack
    if "successBody" in said:
        looks_at_success = flag(said["successBody"], "match.successBody")
        if selectors == Selectors() and looks_at_success:
            raise Rejected("match.successBody", "stands alone: say too what the body has to show")
    reads_text = _reads_text(selectors)
    if "quotedText" in said:
        looks_at_quotes = flag(said["quotedText"], "match.quotedText")
        if not reads_text:
            raise Rejected("match.quotedText", "says nothing without bodyContains or bodyMatches")
    if reads_text and not looks_at_quotes:
        selectors = replace(selectors, unquoted=True)
    return selectors if looks_at_success else _with(selectors, NoSuccess())


def _reads_text(selectors: Selectors) -> bool:
    return bool(selectors.body_contains) or any(
        isinstance(one, BodyMatches)
        or (isinstance(one, AnyOf | AllOf) and any(map(_reads_text, one.branches)))
        for one in selectors.conditions
    )


class _Room:
    """How many sets of selectors one rule may still hold."""

    def __init__(self) -> None:
        self.left = MAX_BRANCHES

    def take(self, where: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise Rejected(where, f"a rule combines at most {MAX_BRANCHES} sets of selectors")


def _selectors(given: object, where: str, depth: int, room: _Room) -> Selectors:
    if not isinstance(given, Mapping):
        raise Rejected(where, "must be a mapping; {} matches everything")
    selectors = Selectors()
    for selector, value in given.items():
        at = f"{where}.{field_name(selector)}"
        if selector in _COMBINED:
            selectors = _with(selectors, _combined(selector, value, at, depth - 1, room))
        elif isinstance(selector, str) and selector in _READERS:
            selectors = _READERS[selector](selectors, value, at)
        elif selector not in _OF_WHOLE_RULES or where != "match":
            raise Rejected(at, f"unknown selector; known are {', '.join(SELECTORS)}")
    return selectors


def _combined(selector: str, value: object, where: str, depth: int, room: _Room) -> Condition:
    if depth < 0:
        raise Rejected(where, f"is nested more than {MAX_DEPTH} deep")
    if selector == "not":
        return NotThese(_branch(value, where, depth, room))
    if not isinstance(value, list) or not value:
        raise Rejected(where, "must be a list of at least one mapping of selectors")
    branches = tuple(_branch(entry, f"{where}[{n}]", depth, room) for n, entry in enumerate(value))
    return AnyOf(branches) if selector == "any" else AllOf(branches)


def _branch(given: object, where: str, depth: int, room: _Room) -> Selectors:
    room.take(where)
    selectors = _selectors(given, where, depth, room)
    if selectors == Selectors():
        raise Rejected(where, "must say something: {} fits everything")
    return selectors


def _with(selectors: Selectors, *conditions: Condition) -> Selectors:
    return replace(selectors, conditions=(*selectors.conditions, *conditions))


def _http_status(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, list):
        status = _status(value, where)
        return _statuses(selectors, (status, status), where)
    return _with(selectors, StatusIs(one_or_more(value, where, _status)))


def _http_status_range(selectors: Selectors, value: object, where: str) -> Selectors:
    if not isinstance(value, list) or len(value) != 2:
        raise Rejected(where, "must be a list of two statuses, such as [500, 599]")
    low, high = _status(value[0], where), _status(value[1], where)
    if low > high:
        raise Rejected(where, f"{low} is above {high}")
    return _statuses(selectors, (low, high), where)


def _statuses(selectors: Selectors, statuses: tuple[int, int], where: str) -> Selectors:
    known = selectors.http_statuses
    if known is None:
        return replace(selectors, http_statuses=statuses)
    both = (max(known[0], statuses[0]), min(known[1], statuses[1]))
    if both[0] > both[1]:
        raise Rejected(where, "httpStatus and httpStatusRange exclude each other: the rule can never match")
    return replace(selectors, http_statuses=both)


def _status(value: object, where: str) -> int:
    return whole_number(value, where, "HTTP status", 100, 999)


def _exception_type(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, exception_types=tuple(map(_class_name, texts(value, where))))


def _class_name(written: str) -> str:
    """`*.ReadTimeout` is the class whatever its package; `*.exceptions.ReadTimeout` stays the end of a longer name."""
    end = written.removeprefix("*.")
    return end if end and "." not in end else written


def _body_contains(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, body_contains=tuple(one.lower() for one in texts(value, where)))


def _error_code(selectors: Selectors, value: object, where: str) -> Selectors:
    return replace(selectors, error_code=code(value, where))


def _adding(read: Callable[[object, str], Condition]) -> Callable[[Selectors, object, str], Selectors]:
    return lambda selectors, value, where: _with(selectors, read(value, where))


_READERS: dict[str, Callable[[Selectors, object, str], Selectors]] = {
    "httpStatus": _http_status,
    "httpStatusRange": _http_status_range,
    "exceptionType": _exception_type,
    "bodyContains": _body_contains,
    "errorCode": _error_code,
    "headers": lambda selectors, value, where: _with(selectors, *header_conditions(value, where)),
    **{selector: _adding(read) for selector, read in CONDITIONS.items()},
}
_COMBINED = ("any", "all", "not")
_OF_WHOLE_RULES = ("successBody", "quotedText")
SELECTORS = (*_READERS, *_OF_WHOLE_RULES, *_COMBINED)
"""The names of all selectors."""

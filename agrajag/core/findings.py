"""Says in words which selectors of a rule fit an error, and why; `core.match` finds the same without words.

What an error says of itself is untrusted: it is shown redacted, on one line and in part.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agrajag.core.exceptions import class_names
from agrajag.core.features import Features
from agrajag.core.redact import redacted_line
from agrajag.core.selectors import Selectors, is_raised

_MAX_SHOWN = 80
_MAX_LISTED = 4
_MAX_CONDITION = 200


class Finding(NamedTuple):
    """Whether one selector of a rule fits an error; `selector` is its name in rule files."""

    selector: str
    holds: bool
    why: str


def findings(match: Selectors, features: Features) -> tuple[Finding, ...]:
    """One finding for each selector that is given; the rule matches if all of them hold."""
    return tuple(_findings(match, features))


def _findings(match: Selectors, features: Features) -> Iterator[Finding]:
    if match.http_statuses is not None:
        yield _status(match.http_statuses, features)
    if match.exception_types:
        yield _exceptions(match.exception_types, features)
    if match.body_contains:
        yield _body(match.body_contains, features)
    if match.error_code is not None:
        yield _code(match.error_code, features)
    for condition in match.conditions:
        shown = redacted_line(condition.shown(features), _MAX_CONDITION)
        yield Finding(condition.selector, condition.holds(features), shown)
    if match.unquoted:
        holds = match.hold(features.unquoted)
        yield Finding(
            "quotedText", holds, "it fits without what is quoted" if holds else "only what is quoted fits"
        )


def status_words(features: Features) -> str:
    """The status of an error and where it was found."""
    error, status = features.error, features.http_status
    if status is None:
        return "no HTTP status"
    if error.http_status is not None:
        return f"HTTP status {status}"
    # The message is read first; what stands in it hides what the body says.
    in_message = Features(features.event.with_changes(error=error.with_changes(body=None))).http_status
    return f"HTTP status {status} (read from the {'body' if in_message is None else 'message'})"


def _status(wanted: tuple[int, int], features: Features) -> Finding:
    low, high = wanted
    status = features.http_status
    name, shown = ("httpStatus", str(low)) if low == high else ("httpStatusRange", f"{low}-{high}")
    if status is None or not low <= status <= high:
        return Finding(name, False, f"{status_words(features)}; wanted: {shown}")
    within = "" if low == high else f" is in {shown}"
    return Finding(name, True, f"{status_words(features)}{within}")


def _exceptions(wanted: Sequence[str], features: Features) -> Finding:
    error = features.error
    reported = tuple(dict.fromkeys(filter(None, (error.exception_type, *error.exception_chain))))
    for name in wanted:
        for one in reported:
            if is_raised((name,), class_names((one,))):
                other = "" if one == name else f", here called {_quoted([one])}"
                return Finding("exceptionType", True, f"{_quoted([name])} was raised{other}")
    raised = f"raised: {_quoted(reported)}" if reported else "no exception is named"
    return Finding("exceptionType", False, f"{raised}; wanted: {_quoted(wanted)}")


def _body(wanted: Sequence[str], features: Features) -> Finding:
    found = next((part for part in wanted if part in features.text), None)
    if found is None:
        return Finding("bodyContains", False, f"neither message nor body contains {_quoted(wanted, ' or ')}")
    message, body = (features.error.message or "").lower(), (features.error.body or "").lower()
    place = "message" if found in message else "body" if found in body else "message and body together"
    return Finding("bodyContains", True, f"{_quoted([found])} stands in the {place}")


def _code(wanted: str, features: Features) -> Finding:
    codes = features.error_codes
    if wanted in codes:
        return Finding("errorCode", True, f"the error code is {_quoted([wanted])}")
    shown = f"the error code is {_quoted(sorted(codes))}" if codes else "there is no error code"
    return Finding("errorCode", False, f"{shown}; wanted: {_quoted([wanted])}")


def _quoted(texts: Sequence[str], joint: str = ", ") -> str:
    listed: Iterable[str] = (f"'{redacted_line(text, _MAX_SHOWN)}'" for text in texts[:_MAX_LISTED])
    more = len(texts) - _MAX_LISTED
    return joint.join(listed) + (f" and {more} more" if more > 0 else "")

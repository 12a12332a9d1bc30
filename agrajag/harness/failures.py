"""Decides what an error of the SDK means for a run: which stop it is, and when to come back.

Nothing of the error's text is kept: it may quote what was sent.
"""

from typing import NamedTuple

from anthropic import AnthropicError, APIConnectionError, APIStatusError, APITimeoutError

from agrajag.clock import utc_now
from agrajag.core.retry_after import wait_from_header
from agrajag.harness.stops import StopReason

_BY_STATUS = {
    401: StopReason.ACCESS_DENIED,
    402: StopReason.ACCESS_DENIED,
    403: StopReason.ACCESS_DENIED,
    408: StopReason.MODEL_TIMEOUT,
    409: StopReason.SERVER_ERROR,
    429: StopReason.RATE_LIMITED,
    503: StopReason.OVERLOADED,
    504: StopReason.MODEL_TIMEOUT,
    529: StopReason.OVERLOADED,
}
_MAX_REQUEST_ID = 128


class Failure(NamedTuple):
    """A stop with what the other side said of it, as far as that is safe to pass on."""

    stop: StopReason
    http_status: int | None = None
    request_id: str | None = None
    retry_after_seconds: float | None = None


def failure_of(error: AnthropicError) -> Failure:
    """The failure that this error is."""
    if isinstance(error, APITimeoutError):
        return Failure(StopReason.MODEL_TIMEOUT)
    if isinstance(error, APIConnectionError):
        return Failure(StopReason.CONNECTION_LOST)
    if isinstance(error, APIStatusError):
        headers = error.response.headers
        return Failure(
            stop_of_status(error.status_code),
            error.status_code,
            _request_id(error.request_id),
            _wait_seconds(headers.get("retry-after"), headers.get("date")),
        )
    return Failure(StopReason.MALFORMED_REPLY)


def stop_of_status(status: int) -> StopReason:
    """The stop that an HTTP status is, of an answer that holds no reply."""
    found = _BY_STATUS.get(status)
    if found is not None:
        return found
    if status >= 500:
        return StopReason.SERVER_ERROR
    return StopReason.REQUEST_REJECTED if status >= 400 else StopReason.MALFORMED_REPLY


def _wait_seconds(asked: str | None, date: str | None) -> float | None:
    wait = wait_from_header(asked, utc_now(), date) if asked else None
    return None if wait is None else wait.total_seconds()


def _request_id(value: object) -> str | None:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        return None
    return value[:_MAX_REQUEST_ID]

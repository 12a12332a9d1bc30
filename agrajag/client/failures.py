"""Says what of a failed call is worth reporting: its exceptions, what the server answered, the protocol's error code.

What failed is an exception, an HTTP response, an MCP result that says it is an error, or a report made already.
Clients of HTTP and MCP are known by the shape of their objects: none has to be installed. Nothing here waits, reads
from a network or keeps hold of what it is given; texts are cut at once, since a body may have gigabytes.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import orjson

from agrajag.client.http_responses import HttpAnswer, answer_in, status_of
from agrajag.client.texts import MAX_BODY, MAX_MESSAGE, beginning
from agrajag.model.events import MAX_EXCEPTION_CHAIN, ErrorReport

TOOL_FAILED = "ToolException"
"""What a failure is called that a tool only says: rules know that name."""

_FIRST_ERROR = 400
# What the MCP SDK says in words alone when its own connection failed, as the exceptions that rules know.
_CONNECTION_FAULTS = {
    ("-32001", "timed out"): "TimeoutError",
    ("-32000", "connection closed"): "ConnectionResetError",
}
_NO_ANSWER = HttpAnswer()


class Facts(NamedTuple):
    """What is known of one failure, not yet redacted; two equal ones are the same trouble but for the headers."""

    exception_type: str | None = None
    exception_chain: tuple[str, ...] = ()
    message: str | None = None
    http_status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    error_code: str | None = None
    truncated: bool = False

    @property
    def likeness(self) -> int:
        """Equal for failures that repeat each other: headers tell the time, and count."""
        return hash((*self[:4], *self[5:]))

    @property
    def size(self) -> int:
        """About how many characters are kept."""
        return len(self.message or "") + len(self.body or "") + sum(len(value) for _, value in self.headers)


def is_failure(value: object) -> bool:
    """Whether what a call returned says that it failed: an MCP result, or an HTTP response from 400 up."""
    if isinstance(value, BaseException | ErrorReport):
        return True
    if _is_mcp_result(value):
        return _mcp_error(value)
    status = status_of(value)
    return status is not None and status >= _FIRST_ERROR


def facts_of(failure: object, handled: BaseException | None = None) -> Facts:
    """What `failure` tells. `handled` is an exception that was being handled before the call began: it is no cause."""
    if isinstance(failure, ErrorReport):
        return _of_report(failure)
    if isinstance(failure, BaseException):
        return _of_exception(failure, handled)
    if _is_mcp_result(failure):
        body, is_cut = beginning(_mcp_text(failure), MAX_BODY)
        return Facts(TOOL_FAILED, body=body, truncated=is_cut)
    if (answer := answer_in(failure)) is not None:
        return Facts(None, (), None, *answer)
    message, is_cut = beginning(_told(failure), MAX_MESSAGE)
    return Facts(TOOL_FAILED, message=message, truncated=is_cut)


def _of_report(report: ErrorReport) -> Facts:
    message, message_is_cut = beginning(report.message, MAX_MESSAGE)
    body, body_is_cut = beginning(report.body, MAX_BODY)
    return Facts(
        report.exception_type,
        report.exception_chain,
        message,
        report.http_status,
        tuple(report.headers.items()),
        body,
        report.error_code,
        report.truncated or message_is_cut or body_is_cut,
    )


def _of_exception(failure: BaseException, handled: BaseException | None) -> Facts:
    causes = list(islice(_causes(failure, handled), MAX_EXCEPTION_CHAIN + 1)) or [failure]
    answer = next(filter(None, map(_answer_with, causes)), _NO_ANSWER)
    code, told = next(filter(None, map(_protocol_error, causes)), (answer.error_code, None))
    body, body_is_cut = (answer.body, answer.truncated) if told is None else beginning(told, MAX_BODY)
    message, message_is_cut = beginning(_told(causes[0]), MAX_MESSAGE)
    return Facts(
        _name(causes[0]),
        (*map(_name, causes[1:]), *_connection_fault(code, message)),
        message,
        answer.http_status,
        answer.headers,
        body,
        code,
        message_is_cut or body_is_cut,
    )


def _causes(failure: BaseException, handled: BaseException | None) -> Iterator[BaseException]:
    """The exception and its causes, outermost first; of a group its members stand for it. Each comes once."""
    seen = set() if handled is failure else {id(handled)}
    waiting = [failure]
    while waiting:
        error = waiting.pop()
        if id(error) in seen:
            continue
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup):
            waiting += reversed(error.exceptions)
            continue
        yield error
        cause = error.__cause__
        if cause is None and not error.__suppress_context__:
            cause = error.__context__
        if cause is not None:
            waiting.append(cause)


def _name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _told(value: object) -> str:
    try:
        return str(value)
    except Exception:  # somebody's own `__str__`, of something that is broken already
        return ""


def _answer_with(error: BaseException) -> HttpAnswer | None:
    """What the server answered, where the exception carries it, or at least its status."""
    answer = answer_in(getattr(error, "response", None))
    if answer is None and (own := answer_in(error)) is not None and (own.http_status or 0) >= _FIRST_ERROR:
        return own
    return answer


def _protocol_error(error: BaseException) -> tuple[str, str] | None:
    """Code and text of a JSON-RPC error, as the MCP SDK raises it."""
    data = getattr(error, "error", None)
    code, message = getattr(data, "code", None), getattr(data, "message", None)
    if not isinstance(code, int) or not isinstance(message, str):
        return None
    return str(code), _json(
        {"error": {"code": code, "message": message, "data": getattr(data, "data", None)}}
    )


def _connection_fault(code: str | None, message: str | None) -> Iterator[str]:
    told = (message or "").lower()
    return (name for (of, words), name in _CONNECTION_FAULTS.items() if of == code and told.endswith(words))


def _is_mcp_result(value: object) -> bool:
    if getattr(value, "headers", None) is not None:
        return False  # a response: to ask for its content might read it from the network
    return isinstance(_mcp_flag(value), bool) and isinstance(getattr(value, "content", None), list)


def _mcp_error(value: object) -> bool:
    return _mcp_flag(value) is True


def _mcp_flag(value: object) -> object:
    return getattr(value, "is_error", getattr(value, "isError", None))


def _mcp_text(result: Any) -> str:
    texts = [text for part in result.content if isinstance(text := getattr(part, "text", None), str)]
    structured = getattr(result, "structured_content", getattr(result, "structuredContent", None))
    return "\n".join(texts) if texts or structured is None else _json(structured)


def _json(value: object) -> str:
    return orjson.dumps(value, default=_told, option=orjson.OPT_NON_STR_KEYS).decode()

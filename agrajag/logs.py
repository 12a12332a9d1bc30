"""Configures logging once, for structlog and for libraries that use the standard one: JSON lines or a console.

Two rules hold for every line, whoever writes it. Payloads do not belong in a log: a field that is named like one is
withheld, long texts are cut. Credentials do not either: the user part of addresses is masked, a field that is named
like a secret is withheld. Nothing is configured until the entry point of a program asks for it.
"""

import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import IO, Any, Literal

import structlog
from pydantic import ValidationError
from structlog.typing import EventDict, Processor

from agrajag.addresses import without_credentials

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "console"]

WITHHELD = "<withheld>"
WITHHELD_FIELDS = frozenset(
    {
        *(
            "body",
            "content",
            "error_detail",
            "headers",
            "message",
            "payload",
            "prompt",
            "raw",
            "response",
            "value",
        ),
        *(
            "api_key",
            "authorization",
            "cookie",
            "credentials",
            "password",
            "sasl_password",
            "secret",
            "token",
        ),
    }
)

_LIBRARIES = ("aiokafka", "anthropic", "asyncio", "faust", "httpcore2", "httpx2", "mode", "pymongo")
_ECHOES = ("client", "mcp")  # both are the MCP SDK's, and repeat what servers say
_MAX_TEXT = 2_000
_MAX_EXCEPTION_TEXT = 500


def configure_logging(
    level: LogLevel = "info", log_format: LogFormat = "json", stream: IO[str] | None = None
) -> None:
    """Sends all logging of this process to `stream` (standard error), from `level` up; the last call wins.

    Libraries are heard from warnings up, whatever the level: their debug records hold what they send and receive. One
    whose warnings do so too is not heard: what is wrong there is told by the outcomes of probes.
    """
    output = sys.stderr if stream is None else stream
    threshold = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,  # loggers are made at import, before this
    )
    handler = logging.StreamHandler(output)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                tell_exception,
                withhold,
                _renderer(log_format, output),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(threshold)
    for library in _LIBRARIES:
        logging.getLogger(library).setLevel(max(threshold, logging.WARNING))
    for library in _ECHOES:
        logging.getLogger(library).setLevel(logging.CRITICAL)


def _renderer(log_format: LogFormat, output: IO[str]) -> Processor:
    if log_format == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.dev.ConsoleRenderer(colors=output.isatty())


def withhold(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """A structlog processor: payloads and secrets by the name of their field, credentials wherever they stand."""
    return {
        name: value if name == "exception" and isinstance(value, str) else _safe(name, value)
        for name, value in event.items()
    }


def _safe(name: str, value: Any) -> Any:
    if name.lower() in WITHHELD_FIELDS or isinstance(value, bytes | bytearray | memoryview):
        return WITHHELD  # bytes are never an id, nearly always a record
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _safe(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_safe("", inner) for inner in value]
    if isinstance(value, BaseException):
        return f"{type(value).__qualname__}: {_text_of(value)}"
    text = without_credentials(str(value))
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}… ({len(text)} characters)"


def tell_exception(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """A structlog processor: the exception with its trace, and of its text only what holds no values."""
    exc_info = event.pop("exc_info", None)
    if isinstance(exc_info, tuple):
        error = exc_info[1]
    elif isinstance(exc_info, BaseException):
        error = exc_info
    else:
        error = sys.exc_info()[1] if exc_info else None
    if error is not None:
        event["exception"] = "".join(_told(error, set()))
    return event


def _told(error: BaseException, seen: set[int]) -> Iterator[str]:
    """Python's own form of a trace, oldest exception first; source lines, but no values of variables."""
    seen.add(id(error))
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None and id(earlier) not in seen:
        yield from _told(earlier, seen)
        yield "\nwhich led to:\n\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__qualname__}: {_text_of(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            if id(inner) not in seen:
                yield "\none of the group:\n\n"
                yield from _told(inner, seen)


def _text_of(error: BaseException) -> str:
    if isinstance(error, ValidationError):  # prints each value that it refuses
        return f"{error.error_count()} validation errors for {error.title}"
    text = without_credentials(str(error))
    return text if len(text) <= _MAX_EXCEPTION_TEXT else f"{text[:_MAX_EXCEPTION_TEXT]}…"

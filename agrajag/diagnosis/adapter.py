"""What an adapter is given for one probe, and the raw form of what the target answers.

An adapter only asks. What its answer means, and what of it may be shown to anybody, is decided by who asked it.
"""

import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from agrajag.core.targets import Target
from agrajag.diagnosis.probe import ProbeRefusal, ProbeRequest

MAX_BODY_BYTES = 65_536
"""How much of a response an adapter hands on; what comes after it is not read."""
MAX_FAILURE_MESSAGE = 8_192
"""How much of the text of an exception an adapter hands on; one of this length may have been cut."""
PROBE_HEADER = "Agrajag-Probe"
"""Marks every call as a probe; a tool that reports an error of such a call reports it with `probe: true`."""

_MAX_CAUSES = 8


class Secret:
    """A credential. Its text is had by `reveal` alone: neither printed, logged nor compared by accident."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text, for the one call that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not to be written anywhere")


@dataclass(frozen=True, slots=True)
class RawOutcome:
    """What one call showed, unredacted. `ok`: the target has answered as it does when it works.

    `status` is that of HTTP, where there was one. `body` is the start of the response, at most `MAX_BODY_BYTES`, and
    `truncated` tells whether there was more of it. A header of `MAX_HEADER_VALUE` characters may have been cut.
    `exception_type` and its causes in `exception_chain`, outermost first, are named as Layer 1's rules know them:
    `httpx2.ConnectError`, `ConnectionRefusedError`. `error_code` is the target's own, where it has such codes.
    `used_credentials`: it was called with a credential that its service keeps, beside any that the adapter was given.
    """

    ok: bool
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = b""
    truncated: bool = False
    exception_type: str | None = None
    exception_chain: tuple[str, ...] = ()
    message: str | None = None
    error_code: str | None = None
    used_credentials: bool = False


class TargetAdapter(Protocol):
    """Calls targets of one kind."""

    async def call(
        self,
        target: Target,
        credential: Secret | None,
        sample: Mapping[str, Any],
        request: ProbeRequest,
        seconds: float,
    ) -> RawOutcome | ProbeRefusal:
        """One call, at the latest after `seconds`; a refusal only where nothing was sent, or nothing could be heard for
        want of our own means.

        `sample` is what the tool is called with, whoever it came from; `request` says who asks, for targets that are
        told. Its own sample is not looked at.

        What the target does is an outcome and never raises. A cancellation ends the call at once, and leaves no socket,
        process or task behind.
        """


def failed(error: BaseException, status: int | None = None) -> RawOutcome:
    """The outcome of a call that ended in an exception."""
    first, *others = exception_names(error)
    return RawOutcome(
        ok=False,
        status=status,
        exception_type=first,
        exception_chain=tuple(others),
        message=str(error)[:MAX_FAILURE_MESSAGE],
    )


def exception_names(error: BaseException) -> tuple[str, ...]:
    """The classes of an exception and its causes, outermost first; of a group, the causes of its first member.

    What a TLS failure is wrapped in is left out: HTTP clients call it a failed connection, which is another fault.
    """
    found = list(causes(error))
    told = next((n for n, cause in enumerate(found) if isinstance(cause, ssl.SSLError)), 0)
    return tuple(_name(type(cause)) for cause in found[told:])


def causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, outermost first, at most eight; of a group, those of its first member."""
    current: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        while isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        if current is None:
            return
        yield current
        current = _cause(current)


def _cause(error: BaseException) -> BaseException | None:
    given = error.args[0] if error.args else None  # some clients hand on the cause in this way alone
    if error.__cause__ is None and isinstance(given, BaseException):
        return given
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _name(kind: type[BaseException]) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"

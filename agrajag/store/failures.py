"""Decides what an error of the driver or the server means: away for now, refused for good, or wrongly set up.

The server's codes are sorted by one list. A code that is not on it means that the server has understood and
said no.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from dns.exception import DNSException
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    CursorNotFound,
    ExecutionTimeout,
    InvalidURI,
    OperationFailure,
    PyMongoError,
    WriteConcernError,
)

from agrajag.errors import AgrajagError, ConfigError, PermanentError, TransientError

DUPLICATE_KEY = 11000

_INTERNAL_ERROR = 1
_TRANSIENT_CODES = frozenset(
    {
        _INTERNAL_ERROR,  # the embedded store says so for anything it did not expect, a full disk included
        6,  # HostUnreachable
        7,  # HostNotFound
        24,  # LockTimeout
        46,  # LockBusy
        50,  # MaxTimeMSExpired
        64,  # WriteConcernFailed
        79,  # UnknownReplWriteConcern, while a set is being reconfigured
        89,  # NetworkTimeout
        91,  # ShutdownInProgress
        100,  # UnsatisfiableWriteConcern: too few members are up
        112,  # WriteConflict
        134,  # ReadConcernMajorityNotAvailableYet
        189,  # PrimarySteppedDown
        202,  # NetworkInterfaceExceededTimeLimit
        216,  # NotWritablePrimary of a drained node
        262,  # ExceededTimeLimit
        314,  # IngressRequestRateLimitExceeded
        317,  # ConnectionPoolExpired
        462,  # SystemOverloaded
        9001,  # SocketException
        10058,  # LegacyNotPrimary
        10107,  # NotWritablePrimary
        11600,  # InterruptedAtShutdown
        11602,  # InterruptedDueToReplStateChange
        13388,  # StaleConfig
        13435,  # NotPrimaryNoSecondaryOk
        13436,  # NotPrimaryOrSecondary
        14031,  # OutOfDiskSpace
    }
)
_TRANSIENT_LABELS = ("RetryableWriteError", "TransientTransactionError", "SystemOverloadedError")
_AWAY = (ConnectionFailure, ExecutionTimeout, WriteConcernError, CursorNotFound)
_WRONG_SETUP = (ConfigurationError, InvalidURI)
_UNRESOLVED = (DNSException, OSError)
"""Why the driver finds a `mongodb+srv` address wrongly set up that only no name server has answered for."""


def is_transient(code: int | None) -> bool:
    """Whether the same request may succeed later, by the code of the server's answer."""
    return code in _TRANSIENT_CODES


def describe(code: int | None, message: str) -> str:
    """A server's error in one line; with the embedded store's internal error comes what to do about it."""
    told = f"code {code}: {message[:200]}"
    if code == _INTERNAL_ERROR:
        return f"{told} (an internal error of the store: look at its disk and its log, then restart it)"
    return told


def meaning(error: PyMongoError, doing: str) -> AgrajagError:
    """Our error for one of pymongo's; `doing` says what was tried."""
    if isinstance(error, ConfigurationError) and isinstance(error.__cause__, _UNRESOLVED):
        return TransientError(f"store is away while {doing}: {error}")
    if isinstance(error, _WRONG_SETUP):
        return ConfigError(f"store: {doing}: {error}")
    if isinstance(error, _AWAY) or any(map(error.has_error_label, _TRANSIENT_LABELS)):
        return TransientError(f"store is away while {doing}: {_first_line(error)}")
    if isinstance(error, OperationFailure):
        told = f"store: {doing}: {describe(error.code, _first_line(error))}"
        return TransientError(told) if is_transient(error.code) else PermanentError(told)
    return PermanentError(f"store: {doing}: {type(error).__name__}: {_first_line(error)}")


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turns pymongo's errors into ours."""
    try:
        yield
    except PyMongoError as error:
        raise meaning(error, doing) from error


def _first_line(error: PyMongoError) -> str:
    # The driver adds a description of the whole topology, which fills a screen.
    return str(error).partition(", full error:")[0].partition(", Timeout:")[0]

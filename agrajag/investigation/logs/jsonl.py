"""Looks through a folder of logs, one JSON object a line, as `query_logs` asks.

What is told is what was looked at: where a limit, a file that cannot be read, a service that no line names, or a time
that the folder does not reach stands between a request and the truth, the answer is a code, and never "nothing".
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.folder import files_below
from agrajag.investigation.logs.files import Allowance, PieceSizes
from agrajag.investigation.logs.lines import LogFields
from agrajag.investigation.logs.look import Head, LogLook
from agrajag.investigation.logs.names import is_log
from agrajag.investigation.logs.search import Fit, InvalidPattern, LogSearch, Newest, plain
from agrajag.investigation.off_loop import Reading, TimeIsUp, beside_the_loop
from agrajag.investigation.requests import LogRequest
from agrajag.investigation.source_codes import SourceCode
from agrajag.metrics import LeftOutKind

log = structlog.get_logger(__name__)

SOURCE = "logs"
MAX_SUBJECTS = 50
_MAX_SERVICES = 1_000


@dataclass(frozen=True, slots=True)
class LogLimits:
    """How much one look may read, and how long it may take; at these limits it ends with what it has."""

    seconds: float = 10.0
    read_bytes: int = 128 * 1024 * 1024
    files: int = 2_000
    sizes: PieceSizes = field(default_factory=PieceSizes)


class JsonlLogs:
    """The logs of one folder; many looks may be made side by side."""

    def __init__(
        self,
        folder: Path,
        names: LogFields | None = None,
        limits: LogLimits | None = None,
        now: Clock = utc_now,
    ) -> None:
        self._folder = folder
        self._names = names or LogFields()
        self._limits = limits or LogLimits()
        self._now = now
        self._heads: dict[str, Head] = {}
        self._services: frozenset[str] = frozenset()

    async def look(self, ids: CallIds, asked: LogRequest) -> Found | Failed:
        """The newest lines that fit, the newest first, each as {time, level, service, message, fields}.

        Failed INVALID_PATTERN, UNKNOWN_SERVICE, WINDOW_NOT_HELD, WINDOW_TOO_LARGE, LEVEL_NOT_KNOWN, SOURCE_UNREADABLE,
        SOURCE_UNAVAILABLE or SOURCE_TIMEOUT.
        """
        try:
            search = LogSearch(asked)
        except InvalidPattern:
            return Failed(SourceCode.INVALID_PATTERN)
        try:
            look = await beside_the_loop(lambda reading: self._looked(search, reading), self._limits.seconds)
        except TimeIsUp:
            return Failed(SourceCode.SOURCE_TIMEOUT)
        except OSError as error:
            log.warning("logs_unavailable", error=type(error).__name__, run_id=ids.run_id)
            return Failed(SourceCode.SOURCE_UNAVAILABLE)
        self._remember(look)
        return answer(look, self._services, self._now())

    def _looked(self, search: LogSearch, reading: Reading) -> LogLook:
        allowance = Allowance(reading, self._limits.read_bytes)
        look = LogLook(search, self._names, self._limits.sizes, allowance, Newest(search.asked.limit))
        files = files_below(self._folder, is_log, self._limits.files, look.left_out)
        look.through(files, self._heads)
        look.left_out.tell(SOURCE)
        return look

    def _remember(self, look: LogLook) -> None:
        """What the next look need not find out again; names of services are kept while the process lives."""
        self._heads = look.heads
        seen = look.services.union(*(head.services for head in look.heads.values()))
        self._services = frozenset(sorted(self._services | seen)[:_MAX_SERVICES])


def answer(look: LogLook, known: frozenset[str], now: datetime) -> Found | Failed:
    """What may be said after a look. `known`: the services that the source has ever named."""
    asked, lines = look.search.asked, look.newest.lines
    is_cut = look.allowance.is_spent or look.is_incomplete or LeftOutKind.TOO_MANY in look.left_out.counts
    fault = None if lines else _fault(look, known, now)
    if fault is not None:
        return Failed(fault)
    begins_at = _begins_at(look) or asked.since
    scope = Scope(
        source=SOURCE,
        subjects=_subjects(look, known),
        since=max(asked.since, min(begins_at, lines[-1].at if lines else begins_at)),
        until=min(asked.until, now) if now > asked.since else asked.until,
    )
    return Found([line.as_item() for line in lines], scope, look.newest.is_more or is_cut)


def _fault(look: LogLook, known: frozenset[str], now: datetime) -> SourceCode | None:
    """Why it cannot be said that there is nothing; None where it can."""
    asked = look.search.asked
    if look.allowance.is_spent or LeftOutKind.TOO_MANY in look.left_out.counts:
        return SourceCode.WINDOW_TOO_LARGE
    begins_at = _begins_at(look)
    is_unread = begins_at is None and LeftOutKind.BROKEN_LINE in look.left_out.counts
    if look.is_incomplete or is_unread:
        return SourceCode.SOURCE_UNREADABLE
    if asked.service is not None and plain(asked.service) not in map(plain, known):
        return SourceCode.UNKNOWN_SERVICE
    if begins_at is None or asked.until <= begins_at or now <= asked.since:
        return SourceCode.WINDOW_NOT_HELD
    return SourceCode.LEVEL_NOT_KNOWN if look.lines[Fit.UNLEVELLED] else None


def _begins_at(look: LogLook) -> datetime | None:
    return min((head.begins_at for head in look.heads.values()), default=None)


def _subjects(look: LogLook, known: frozenset[str]) -> tuple[str, ...]:
    """The services that were looked at, by the names that the source has for them."""
    asked = look.search.asked.service
    if asked is not None:
        return tuple(sorted(name for name in known if plain(name) == plain(asked)))
    looked_at = look.services or {name for head in look.heads.values() for name in head.services}
    return tuple(sorted(looked_at)[:MAX_SUBJECTS])

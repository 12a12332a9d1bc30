"""Looks through the logs that a Loki holds, as `query_logs` asks: the same request and the same items as for files.

Loki is asked for the newest lines first, a page at a time, until there are enough or the window has ended. It looks at
lines as they were written: there, a pattern is matched, with `^` and `$` at the ends of the whole line. Which lines are
bad enough and say what is looked for is judged again by what each line means, as for files.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import structlog

from agrajag.clock import Clock, utc_now
from agrajag.harness import Failed
from agrajag.investigation.evidence import CallIds, Found, Scope
from agrajag.investigation.logs.lines import Dated, LogFields, LogLine, json_object, read_record, service_of
from agrajag.investigation.logs.logql import query, selector
from agrajag.investigation.logs.loki_client import Entry, LokiAccess, LokiClient, LokiFailed, trusted_roots
from agrajag.investigation.logs.search import Fit, InvalidPattern, LogSearch, Newest, plain
from agrajag.investigation.requests import MAX_WINDOW, LogRequest
from agrajag.investigation.source_codes import SourceCode

log = structlog.get_logger(__name__)

SOURCE = "logs"
MAX_SUBJECTS = 50
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_NS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LokiLimits:
    """How long one look may take, and how much is taken in for it; `answer_bytes` bounds all its answers together."""

    seconds: float = 10.0
    answer_bytes: int = 16 * 1024 * 1024
    page_lines: int = 200
    pages: int = 20


class LokiLogs:
    """The logs of one Loki; many looks may be made side by side."""

    def __init__(
        self,
        access: LokiAccess,
        names: LogFields | None = None,
        limits: LokiLimits | None = None,
        now: Clock = utc_now,
    ) -> None:
        self._access = access
        given = names or LogFields()
        self._names = replace(given, level=(*given.level, access.level_label), service=())
        self._limits = limits or LokiLimits()
        self._now = now
        self._tls = trusted_roots(access.url)

    async def look(self, ids: CallIds, asked: LogRequest) -> Found | Failed:
        """The newest lines that fit, the newest first, each as {time, level, service, message, fields}.

        `fields` holds the labels of a line's stream too. Failed as for files, or ACCESS_DENIED, SOURCE_BUSY,
        QUERY_REFUSED, ANSWER_TOO_LARGE.
        """
        try:
            LogSearch(asked)
        except InvalidPattern:
            return Failed(SourceCode.INVALID_PATTERN)
        if not _EPOCH <= asked.since < self._now():
            return Failed(SourceCode.WINDOW_NOT_HELD)
        try:
            async with (
                asyncio.timeout(self._limits.seconds),
                LokiClient(self._access, self._tls, self._limits.answer_bytes) as client,
            ):
                return await self._looked(client, asked)
        except TimeoutError:
            return Failed(SourceCode.SOURCE_TIMEOUT)
        except LokiFailed as failed:
            log.warning("loki_failed", code=failed.code.value, run_id=ids.run_id)
            return Failed(failed.code)

    async def _looked(self, client: LokiClient, asked: LogRequest) -> Found | Failed:
        known = await self._services(client, asked)
        if not known:
            return Failed(SourceCode.SOURCE_UNREADABLE)
        subjects = known
        if asked.service is not None:
            subjects = tuple(name for name in known if plain(name) == plain(asked.service))
            if not subjects:
                return Failed(SourceCode.UNKNOWN_SERVICE)
        services = None if asked.service is None else subjects
        streams = selector(self._access.labels, self._access.service_label, services)
        pages = _Pages(self._access, self._names, self._limits, asked)
        fault = await pages.through(client, query(streams, asked, self._access.level_label))
        if fault is not None:
            return Failed(fault)
        scope = Scope(
            source=SOURCE,
            subjects=subjects[:MAX_SUBJECTS],
            since=asked.since,
            until=min(asked.until, self._now()),
        )
        lines = pages.newest.lines
        return Found([line.as_item() for line in lines], scope, pages.newest.is_more or pages.is_cut)

    async def _services(self, client: LokiClient, asked: LogRequest) -> tuple[str, ...]:
        """The services that Loki knows of the week before the end of the window."""
        labels = self._access.labels
        streams = selector(labels, self._access.service_label) if labels else ""
        found = await client.values(
            self._access.service_label, streams, _ns(max(asked.until - MAX_WINDOW, _EPOCH)), _ns(asked.until)
        )
        return tuple(sorted(name for name in found if service_of(name) == name))


class _Pages:
    """The pages of one query, and what is kept of them."""

    def __init__(self, access: LokiAccess, names: LogFields, limits: LokiLimits, asked: LogRequest) -> None:
        self.newest = Newest(asked.limit)
        self.is_cut = False
        self._access = access
        self._names = names
        self._limits = limits
        self._asked = asked
        # Loki has matched the pattern, and by its own labels it has told the services apart.
        self._search = LogSearch(asked.model_copy(update={"pattern": None, "service": None}))
        self._unlevelled = 0

    async def through(self, client: LokiClient, query: str) -> SourceCode | None:
        """Take in page after page. Returns why nothing can be said, if nothing can."""
        start, end = _ns(self._asked.since), _ns(self._asked.until)
        # Of levels, Loki may leave more than was asked for; of everything else, it leaves what is asked for alone.
        size = self._limits.page_lines if self._asked.level else self._asked.limit + 1
        seen: set[tuple[int, str, frozenset[tuple[str, str]]]] = set()
        for _ in range(self._limits.pages):
            page = await client.newest(query, start, end, size)
            fresh = {(entry.at_ns, entry.text, frozenset(entry.labels.items())): entry for entry in page}
            for entry in [entry for key, entry in fresh.items() if key not in seen]:
                self._take(entry)
            is_last = len(page) < size
            if is_last or self.newest.is_more:
                return self._fault()
            oldest = min(entry.at_ns for entry in page)
            if seen >= fresh.keys() or oldest < start:
                break
            # Of the lines of this very nanosecond, some may be missing.
            seen, end = set(fresh), oldest + 1
        self.is_cut = True
        return self._fault()

    def _fault(self) -> SourceCode | None:
        if self.newest.lines:
            return None
        if self.is_cut:
            return SourceCode.WINDOW_TOO_LARGE
        return SourceCode.LEVEL_NOT_KNOWN if self._unlevelled else None

    def _take(self, entry: Entry) -> None:
        line = _line(entry, self._access.service_label, self._names)
        fit = Fit.NOT if line is None else self._search.fit(line)
        self._unlevelled += fit is Fit.UNLEVELLED
        if line is not None and fit is Fit.FITS:
            self.newest.add(line, ("", entry.at_ns))


def _line(entry: Entry, service_label: str, names: LogFields) -> LogLine | None:
    """The line as one of a file would be; None where its time is none."""
    try:
        at = _EPOCH + timedelta(microseconds=entry.at_ns // 1_000)
    except OverflowError:
        return None
    labels = {name: value for name, value in entry.labels.items() if name != service_label}
    said = json_object(entry.text)
    if said is None:
        line = read_record(Dated(at, labels, ""), replace(names, message=()))
        line = replace(line, message=entry.text)
    else:
        line = read_record(Dated(at, {**labels, **said}, ""), names)
    return replace(line, service=service_of(entry.labels.get(service_label)))


def _ns(at: datetime) -> int:
    return min((at - _EPOCH) // _MICROSECOND * 1_000, _LAST_NS)

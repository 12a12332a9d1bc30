"""The last changes in memory: whoever goes on from any place is told each that is behind it once, or that it cannot."""

import asyncio
from collections.abc import Iterator
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from agrajag.api.changes.cursor import Cursor, later
from agrajag.api.changes.recent import Change, RecentChanges
from agrajag.metrics import StreamReset
from agrajag.view.listening import News
from agrajag.wire.following import Log

_PARTITIONS = 3
_RECORDS = st.lists(
    st.tuples(
        st.integers(0, _PARTITIONS - 1),
        st.sampled_from(("acme", "acme", "globex", None)),
        st.sampled_from((0, 0, 0, 0, 0, 2)),
    ),
    max_size=40,
)
"""Of each record the partition, the tenant if it is news, and how many before it were compacted away."""


def log(*ends: int, cluster: str = "a") -> Log:
    return Log(cluster, "health", ends or (0,) * _PARTITIONS)


def reading(max_bytes: int = 10**9) -> RecentChanges:
    recent = RecentChanges(max_bytes)
    recent.reading_begins(log())
    recent.shown()
    return recent


def news(tenant: str = "acme", tool: str = "search") -> News:
    return News(f"{tenant}|GLOBAL||{tool}", 1, b"{}")


def of_acme(recent: RecentChanges, number: int, limit: int = 1_000) -> list[Change]:
    changes = recent.after("acme", number, limit)
    assert changes is not None
    return changes


@given(_RECORDS, st.integers(0, 40), st.integers(1, 5), st.sampled_from((10**9, 12_000)))
def test_from_any_place_each_change_behind_it_is_told_once_and_in_order_or_the_place_is_refused(
    records: list[tuple[int, str | None, int]], at: int, limit: int, max_bytes: int
) -> None:
    recent = reading(max_bytes)
    offsets = [0] * _PARTITIONS
    missed: set[int] = set()
    wanted: list[tuple[int, int]] = []
    place = recent.cursor
    for index, (partition, tenant, compacted) in enumerate(records):
        if index == at:
            recent.shown()
            place, wanted, missed = recent.cursor, [], set()
        if compacted:
            missed.add(partition)
            offsets[partition] += compacted
        recent.read(partition, offsets[partition], None if tenant is None else news(tenant))
        if tenant == "acme":
            wanted.append((partition, offsets[partition]))
        offsets[partition] += 1
    recent.shown()
    refused = recent.unusable(place)
    if missed:
        assert refused is StreamReset.TOO_OLD
        assert not recent.is_gapless(place)
    if refused is None:
        assert [(one.partition, one.offset) for one in _followed(recent, place, limit)] == wanted
        assert later(place.offsets, recent.cursor.offsets) == recent.cursor.offsets
    else:
        assert missed or max_bytes < 10**9, "nothing was lost"


def _followed(recent: RecentChanges, place: Cursor, limit: int) -> Iterator[Change]:
    number = recent.known("acme", place)
    while changes := of_acme(recent, number, limit):
        number = changes[-1].number
        yield from (one for one in changes if one.offset >= place.offsets[one.partition])


def test_what_is_read_is_not_told_before_it_is_shown() -> None:
    recent = reading()
    begin = recent.number
    recent.read(0, 0, news())
    assert (of_acme(recent, begin), recent.cursor.offsets) == ([], (0, 0, 0))
    recent.shown()
    assert [one.offsets for one in of_acme(recent, begin)] == [(1, 0, 0)]
    assert recent.cursor.offsets == (1, 0, 0)


def test_whoever_comes_back_to_the_same_process_goes_on_right_behind_its_place() -> None:
    recent = reading()
    for offset in range(9):
        recent.read(offset % _PARTITIONS, offset // _PARTITIONS, news())
    recent.shown()
    for change in of_acme(recent, recent.first("acme")):
        assert recent.known("acme", Cursor(recent.cursor.log, change.offsets)) == change.number
    assert recent.known("globex", recent.cursor) == recent.first("globex")


def test_what_is_read_again_after_an_outage_is_no_news() -> None:
    recent = reading()
    begin = recent.number
    for _ in range(2):
        recent.reading_begins(log(0, 0, 0) if recent.number == begin else log(3, 0, 0))
        for offset in range(3):
            recent.read(0, offset, news())
        recent.shown()
    recent.read(0, 3, news())
    recent.shown()
    assert [one.offset for one in of_acme(recent, begin)] == [0, 1, 2, 3]


def test_a_log_that_was_made_anew_has_nothing_to_do_with_the_old_one() -> None:
    for again in (log(cluster="b"), log(1, 0, 0), Log("a", "health", (9, 9))):
        recent = reading()
        place, number = recent.cursor, recent.number
        recent.read(0, 0, news())
        recent.read(0, 1, news())
        recent.shown()
        recent.reading_begins(again)
        recent.shown()
        assert recent.after("acme", number, 9) is None
        assert of_acme(recent, recent.number) == []
        if again.cluster_id == "b" or len(again.ends) == 2:
            assert recent.unusable(place) is StreamReset.FOREIGN


def test_who_waits_is_woken_by_changes_of_their_tenant_alone() -> None:
    recent = reading()
    mine, other = asyncio.Event(), asyncio.Event()
    with recent.waking("acme", mine), recent.waking("globex", other):
        recent.read(0, 0, news())
        assert not mine.is_set()
        recent.shown()
        assert (mine.is_set(), other.is_set()) == (True, False)
    mine.clear()
    recent.read(0, 1, news())
    recent.shown()
    assert not mine.is_set(), "it waits no longer"


def test_a_client_that_falls_behind_what_is_remembered_is_told_so_and_one_of_a_quiet_tenant_is_not() -> None:
    recent = reading(max_bytes=20_000)
    begin = recent.number
    recent.read(0, 0, news("globex"))
    recent.shown()
    quiet = recent.number
    for offset in islice(range(1, 100), 50):
        recent.read(0, offset, news())
    recent.shown()
    assert recent.after("acme", begin, 9) is None
    assert recent.after("globex", quiet, 9) == []
    assert recent.unusable(Cursor(recent.cursor.log, (1, 0, 0))) is StreamReset.TOO_OLD
    assert len(of_acme(recent, recent.first("acme"))) in range(5, 20)

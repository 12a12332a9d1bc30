"""Keeps this worker's place in each source partition: what comes next, what is done, what may be committed.

The rule: an offset is committed only if every record before it was delivered since the partition was last
taken up, in order and without a hole, and every item was acknowledged. Each taking up (assignment, seek,
items that Faust dropped) begins a new *epoch*; what is acknowledged under an older one is never a reason to
commit.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import structlog
from aiokafka import ConsumerRecord
from aiokafka.errors import ConsumerStoppedError, IllegalStateError
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, ConsumerMessage
from faust.types.transports import TPorTopicSet
from mode import ServiceT

from agrajag import metrics
from agrajag.stream.places import Fetch, Place, Progress

if TYPE_CHECKING:
    from agrajag.stream.fetches import FetchApp

log = structlog.get_logger(__name__)

MAX_RECORDS = 500  # of one partition in one item
MAX_IN_FLIGHT = 16  # items of one partition, delivered and not yet acknowledged; far below the queue's size
COMMIT_BEFORE_LEAVING_SECONDS = 2.0  # a broker that does not answer must not hold up the rebalance


class FetchConsumer(driver.Consumer):
    """Delivers each partition's records as `Fetch`es, and commits what `acknowledge` was called for."""

    app: "FetchApp"
    logger = logging.getLogger("faust")  # or mode takes this module's, and what it says of services is ours

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._places: dict[TP, Place] = {}
        self._epochs = count(1)
        self._room = asyncio.Event()
        self.committed_at: float | None = None
        """When offsets were last committed, in seconds of the monotonic clock."""
        super().__init__(*args, **kwargs)

    # --- for agents ---

    def is_current(self, fetch: Fetch) -> bool:
        """False once the partition was taken away or up anew: leave the item alone, it comes again."""
        place = self._places.get(fetch.tp)
        return place is not None and place.epoch == fetch.epoch

    def acknowledge(self, fetch: Fetch) -> None:
        """All of `fetch` is done, outputs and changes are on the brokers. Called last, in delivery order."""
        place = self._places.get(fetch.tp)
        if place is None or place.epoch != fetch.epoch:
            return
        place.acknowledged = place.committable = fetch[-1].offset + 1
        place.acknowledged_ms = fetch[-1].timestamp
        place.in_flight -= 1
        self._room.set()

    def progress(self) -> dict[TP, Progress]:
        """How far each held partition is, from what the last fetches told; costs no request.

        One that was assigned and never taken up, because the seek at the end of the rebalance failed, is at −1.
        """
        found = {}
        if self.app.is_settled:
            mine = [tp for tp in self.assignment() if tp.topic in self.app.fetch_topics]
            found = dict.fromkeys(mine, Progress(-1, 0, is_known=False))
        for tp, place in self._places.items():
            position, end = self._fetched_up_to(tp)
            only_markers_since = place.in_flight == 0 and not place.rewind
            done = max(place.acknowledged, position) if only_markers_since else place.acknowledged
            found[tp] = Progress(done, done if end is None else end, place.acknowledged_ms, end is not None)
        return found

    async def ping(self) -> None:
        """Return when the thread that talks to the brokers has had its turn."""
        await self._thread.call_thread(asyncio.sleep, 0)

    async def verify_all_partitions_active(self) -> None:
        """Faust's own check for standstill, every other commit: the watchdog's sees more and costs less."""

    def _fetched_up_to(self, tp: TP) -> tuple[int, int | None]:
        """aiokafka's position (0 if it has none yet) and the end of the log as of the last fetch."""
        assignment = self._thread._ensure_consumer()._subscription.subscription.assignment
        try:
            state = assignment.state_value(tp)
        except (AttributeError, KeyError, IllegalStateError):  # taken away this moment
            return 0, None
        return state._position or 0, state.highwater

    # --- taking up and giving away ---

    def _take_up(self, tp: TP, offset: int, *, rewind: bool) -> None:
        self._places[tp] = Place(next(self._epochs), offset, rewind)
        self._room.set()

    def on_dropped(self, fetch: Fetch) -> None:
        """Faust emptied its queue. Of several items the first comes first; the rest are of an old epoch."""
        metrics.DROPPED_FETCHES.inc()
        if self.is_current(fetch):
            self._go_back(fetch.tp)

    def _go_back(self, tp: TP) -> None:
        """To where all is done: an item that an agent still works on is of an old epoch then, and comes again."""
        self._take_up(tp, self._places[tp].acknowledged, rewind=True)

    async def perform_seek(self) -> None:
        """Go to the committed offsets, as Faust does at the end of each rebalance; begins new epochs.

        Records may have been fetched and dropped since `super` sought, hence the rewind.
        """
        await super().perform_seek()
        mine = [tp for tp in self.assignment() if tp.topic in self.app.fetch_topics]
        fresh = [tp for tp in mine if self._read_offset[tp] is None]
        earliest = await self.earliest_offsets(*fresh) if fresh else {}
        for tp in mine:
            committed = self._read_offset[tp]
            self._take_up(tp, earliest[tp] if committed is None else committed, rewind=True)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Commit what is done while the group still accepts it, then forget the places."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.commit(), COMMIT_BEFORE_LEAVING_SECONDS)
        for tp in revoked:
            self._places.pop(tp, None)
        self._room.set()
        await super().on_partitions_revoked(revoked)

    # --- committing ---

    def _filter_tps_with_pending_acks(self, topics: TPorTopicSet | None = None) -> Iterator[TP]:
        yield from super()._filter_tps_with_pending_acks(topics)
        for tp, place in self._places.items():
            if place.committable is not None and (topics is None or tp in topics or tp.topic in topics):
                yield tp

    def _new_offset(self, tp: TP) -> int | None:
        place = self._places.get(tp)
        if place is None:
            return super()._new_offset(tp)
        offset, place.committable = place.committable, None
        return offset

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        before = {tp: (self._places.get(tp), self._committed_offset[tp]) for tp in offsets}
        committed = False
        try:
            committed = await super()._commit_offsets(offsets, start_new_transaction)
        finally:
            metrics.COMMITS.labels(metrics.Result.DONE if committed else metrics.Result.FAILED).inc()
            if committed:
                self.committed_at = time.monotonic()
            else:  # Faust believes it all the same, so that it would never be tried again
                for tp, (place, last) in before.items():
                    if place is not None and place is self._places.get(tp):
                        self._committed_offset[tp] = last
                        place.committable = place.committable or offsets[tp]
        return committed

    # --- delivering ---

    async def _go_to(self, tp: TP, offset: int) -> None:
        with suppress(IllegalStateError):  # just taken away; the next assignment seeks again
            await self._seek(tp, offset)

    async def _put_back(self, tp: TP, records: list[ConsumerRecord]) -> None:
        """These were fetched and cannot be delivered now; aiokafka's position has passed them, so go back."""
        place = self._places.get(tp)
        if place is not None:
            place.rewind = True
        elif self._is_changelog_tp(tp):  # recovery counts offsets and would wait for these for ever
            await self._go_to(tp, records[0].offset)

    def _is_hole(self, tp: TP, place: Place, offset: int) -> bool:
        """Whether the records between the place and `offset` must be asked for once more.

        A hole that is still there then is real: retention, or the markers of a transaction.
        """
        if offset <= place.next or place.accepted_hole == place.next:
            return False
        metrics.FETCH_GAPS.inc()
        log.info("fetch_repeated", topic=tp.topic, partition=tp.partition, expected=place.next, got=offset)
        place.accepted_hole = place.next
        place.rewind = True
        return True

    async def _has_room(self, tp: TP, place: Place) -> bool:
        """Wait until another item of the partition may be delivered; False if it cannot be any more."""
        while place.in_flight >= MAX_IN_FLIGHT and self.flow_active and not self.should_stop:
            if self._places.get(tp) is not place:
                return False
            self._room.clear()
            await self.wait_first(self._room.wait(), self.suspend_flow.wait())
        if not self.flow_active:
            place.rewind = True
        return self.flow_active and self._places.get(tp) is place and not self.should_stop

    async def _hand_over(self, message: ConsumerMessage) -> None:
        """Put a message into the queues of its topic, or give up when the flow is suspended meanwhile."""
        if self.flow_active and self.app.flow_control.is_active():  # nearly always, and then nothing waits
            await self.callback(message)
        else:
            await self.wait_first(self.callback(message), self.suspend_flow.wait())

    async def _deliver(self, tp: TP, records: list[ConsumerRecord]) -> None:
        place = self._places.get(tp)
        if place is None or place.rewind:
            return  # not ours yet, or about to be sought
        records = [record for record in records if record.offset >= place.next]
        if records and self._is_hole(tp, place, records[0].offset):
            return
        for start in range(0, len(records), MAX_RECORDS):
            if not await self._has_room(tp, place):
                return
            fetch = Fetch(records[start : start + MAX_RECORDS], tp, place.epoch)
            message = self._to_message(tp, fetch[-1])
            message.value = cast(Any, fetch)
            place.in_flight += 1
            place.next = fetch[-1].offset + 1
            await self._hand_over(message)
            if self._places.get(tp) is not place:
                return
            if not self.flow_active:  # it may have reached the queue or not
                self._go_back(tp)
                return

    async def _deliver_changelog(self, tp: TP, records: list[ConsumerRecord]) -> None:
        """In recovery: straight into the table, but for the last record, by which Faust counts how far it is."""
        read = self._read_offset[tp]
        records = [record for record in records if read is None or record.offset >= read]
        if records:
            self.app.changelogs[tp.topic].recover(records[:-1])
            await self._hand_over(self._to_message(tp, records[-1]))
            self._read_offset[tp] = records[-1].offset

    async def _rewind(self) -> None:
        for tp, place in list(self._places.items()):
            if place.rewind and self.flow_active and self._places.get(tp) is place:
                place.rewind = False
                await self._go_to(tp, place.next)

    def _look_behind(self) -> None:
        """Nothing came: had records been lost at the end of a log, no later one would show the hole."""
        for tp, place in self._places.items():
            if place.in_flight == 0 and not place.rewind:
                self._is_hole(tp, place, self._fetched_up_to(tp)[0])

    async def _drain_once(self) -> None:
        await self._rewind()
        fetched, active = await self._wait_next_records(1.0)
        await asyncio.sleep(0)  # a fetch that is there at once gives nobody else a turn
        if not fetched:
            self._look_behind()
            return
        for topic_partition, records in fetched.items():
            tp = TP(*topic_partition)
            if self.should_stop:
                return
            wanted = active is None or tp in active or tp in self._buffered_partitions
            if not (self.flow_active and wanted):
                await self._put_back(tp, records)
            elif tp.topic in self.app.fetch_topics:
                await self._deliver(tp, records)
            else:
                await self._deliver_changelog(tp, records)

    async def _drain_messages(self, fetcher: ServiceT) -> None:
        """Faust's fetch loop, called by its fetcher service; ends with either of the two services."""
        try:
            while not (self.should_stop or fetcher.should_stop):
                await self._drain_once()
        except (ConsumerStoppedError, asyncio.CancelledError):
            if not self.app.should_stop:
                raise
        except Exception:
            log.exception("fetching_failed")
            raise

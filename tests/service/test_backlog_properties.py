"""What always holds of lanes and offsets, whatever comes, ends, fails, or is taken away, and in whatever order."""

from collections import defaultdict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agrajag.service.backlog import Backlog
from agrajag.service.lanes import Entry, Place

PARTITIONS = 2
AT_ONCE = 3
UNCOMMITTED = 5


class AWorker(RuleBasedStateMachine):
    """One worker, the log that it reads, and the rest of its group, which has what it has not.

    The job of a record is named by its lane and a number; a number that comes again is the same job sent again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log: dict[int, list[tuple[str, str]]] = {partition: [] for partition in range(PARTITIONS)}
        self.committed = dict.fromkeys(range(PARTITIONS), 0)
        self.position = dict.fromkeys(range(PARTITIONS), 0)
        self.held: frozenset[int] = frozenset()
        self.backlog: Backlog[int] = Backlog(AT_ONCE, UNCOMMITTED)
        self.now = 0.0
        self.running: list[Entry[int]] = []
        self.answered: set[tuple[str, str]] = set()
        self.answered_here: set[tuple[str, str]] = set()
        self.first_begun: defaultdict[str, list[str]] = defaultdict(list)

    @rule(lane=st.integers(0, 3), number=st.integers(0, 12))
    def a_job_is_sent(self, lane: int, number: int) -> None:
        self.log[lane % PARTITIONS].append((f"lane-{lane}", f"job-{number}"))

    @rule(most=st.integers(1, 6))
    def the_worker_reads(self, most: int) -> None:
        partitions, room = self.backlog.room()
        for partition in partitions:
            begin = self.position[partition]
            for offset, (lane, job_id) in enumerate(self.log[partition][begin:][: min(room, most)], begin):
                self.backlog.add(lane, job_id, offset, Place(partition, offset))
                self.position[partition] = offset + 1

    @rule()
    def jobs_begin(self) -> None:
        while (entry := self.backlog.lanes.begin(self.now)) is not None:
            assert (entry.lane, entry.job_id) not in self.answered_here, "a job that was done runs again"
            self.running.append(entry)
            if entry.job_id not in self.first_begun[entry.lane]:
                self.first_begun[entry.lane].append(entry.job_id)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def a_job_is_answered(self, data: st.DataObject) -> None:
        entry = self._one_that_runs(data)
        self.answered |= {(entry.lane, entry.job_id)}
        self.answered_here |= {(entry.lane, entry.job_id)}
        self.backlog.finish(entry)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), pause=st.integers(0, 5))
    def an_attempt_fails(self, data: st.DataObject, pause: int) -> None:
        entry = self._one_that_runs(data)
        self.backlog.lanes.again(entry, self.now + pause, entry.attempt + 1)

    @rule(seconds=st.integers(1, 5))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def the_worker_commits(self) -> None:
        for partition, offset in self.backlog.committable().items():
            assert offset >= self.committed[partition], "a commit goes back"
            self.committed[partition] = offset

    @rule(
        held=st.frozensets(st.integers(0, PARTITIONS - 1)), others_do=st.integers(0, 4), at_once=st.booleans()
    )
    def the_group_decides_anew(self, held: frozenset[int], others_do: int, at_once: bool) -> None:
        self.backlog.lost()
        for partition in set(range(PARTITIONS)) - held:
            end = min(self.committed[partition] + others_do, len(self.log[partition]))
            self.answered |= set(self.log[partition][self.committed[partition] : end])
            self.committed[partition] = end
        cut = self.backlog.take(held)
        assert all(entry.partition not in held for entry in cut)
        self.position |= {partition: self.committed[partition] for partition in held}
        self.held = held
        for entry in cut if at_once else ():
            self.running.remove(entry)
            self.backlog.lanes.abandon(entry)

    @invariant()
    def no_more_run_than_may_and_one_of_a_lane(self) -> None:
        lanes = [entry.lane for entry in self.running]
        assert len(lanes) == len(set(lanes)) <= AT_ONCE
        assert self.backlog.lanes.running == len(lanes)

    @invariant()
    def no_partition_has_more_uncommitted_than_the_limit(self) -> None:
        by_partition = {
            p: self.position[p] - self.backlog.committable().get(p, self.committed[p]) for p in self.held
        }
        assert all(0 <= count <= UNCOMMITTED for count in by_partition.values())
        assert self.backlog.uncommitted == sum(by_partition.values())

    @invariant()
    def nothing_undone_is_behind_a_commit(self) -> None:
        for partition, offset in (self.committed | self.backlog.committable()).items():
            assert set(self.log[partition][:offset]) <= self.answered

    @invariant()
    def jobs_of_a_lane_begin_in_the_order_in_which_they_first_came(self) -> None:
        for lane, begun in self.first_begun.items():
            records = [
                job_id for partition in self.log.values() for name, job_id in partition if name == lane
            ]
            came = list(dict.fromkeys(records))
            assert begun == sorted(begun, key=came.index)

    def teardown(self) -> None:
        """Whatever has happened, everything ends answered and committed once the worker is left in peace."""
        self.the_group_decides_anew(frozenset(range(PARTITIONS)), 0, True)
        while any(self.committed[partition] < len(records) for partition, records in self.log.items()):
            before = (dict(self.committed), dict(self.position), self.now)
            self.the_worker_reads(UNCOMMITTED)
            self.jobs_begin()
            for entry in list(self.running):
                self.running.remove(entry)
                self.answered |= {(entry.lane, entry.job_id)}
                self.backlog.finish(entry)
            self.the_worker_commits()
            self.now = self.backlog.lanes.next_at() or self.now
            assert before != (self.committed, self.position, self.now), "nothing moves any more"
        assert self.answered >= {job for records in self.log.values() for job in records}
        assert len(self.backlog.lanes) == 0

    def _one_that_runs(self, data: st.DataObject) -> Entry[int]:
        entry = self.running[data.draw(st.integers(0, len(self.running) - 1))]
        self.running.remove(entry)
        return entry


TestAWorker = AWorker.TestCase
TestAWorker.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)

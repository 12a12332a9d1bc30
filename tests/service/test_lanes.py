"""What becomes of a job that comes again, and which lane is next."""

from agrajag.service.backlog import Backlog
from agrajag.service.lanes import Arrival, Entry, Lanes, Place


def begun(lanes: Lanes[str], now: float = 0.0) -> Entry[str]:
    entry = lanes.begin(now)
    assert entry is not None
    return entry


def test_a_job_that_comes_again_takes_the_place_of_the_one_that_waits() -> None:
    lanes: Lanes[str] = Lanes(1)
    arrivals = [
        lanes.add("acme|essays", job_id, job, Place(0, offset))
        for offset, (job_id, job) in enumerate([("a", "a once"), ("b", "b"), ("a", "a twice")])
    ]
    first = begun(lanes)
    assert arrivals == [Arrival.QUEUED, Arrival.QUEUED, Arrival.REPLACED]
    assert (first.job_id, first.job) == ("a", "a twice")
    assert lanes.finish(first) == (Place(0, 0), Place(0, 2))


def test_a_job_that_comes_again_changes_nothing_for_one_that_has_begun_but_is_done_with_it() -> None:
    lanes: Lanes[str] = Lanes(1)
    lanes.add("acme|essays", "a", "a once", Place(0, 0))
    running = begun(lanes)
    assert lanes.add("acme|essays", "a", "a twice", Place(0, 1)) is Arrival.JOINED
    assert running.job == "a once"
    lanes.again(running, at=1.0, attempt=2)
    assert lanes.add("acme|essays", "a", "a thrice", Place(0, 2)) is Arrival.JOINED
    assert lanes.finish(begun(lanes, now=1.0)) == (Place(0, 0), Place(0, 1), Place(0, 2))
    assert lanes.add("acme|essays", "a", "a too late", Place(0, 3)) is Arrival.DONE
    assert lanes.begin(2.0) is None


def test_the_same_id_in_another_project_is_another_job() -> None:
    lanes: Lanes[str] = Lanes(2)
    for lane in ("acme|essays", "other|essays"):
        assert lanes.add(lane, "a", lane, Place(0, 0)) is Arrival.QUEUED
    assert {begun(lanes).job, begun(lanes).job} == {"acme|essays", "other|essays"}


def test_lanes_take_turns_however_much_one_of_them_has_to_do() -> None:
    lanes: Lanes[str] = Lanes(1)
    for offset, name in enumerate(["a-1", "a-2", "a-3", "b-1", "c-1", "b-2"]):
        lanes.add(name[0], name, name, Place(0, offset))
    ran = []
    while (entry := lanes.begin(0.0)) is not None:
        ran.append(entry.job)
        lanes.finish(entry)
    assert ran == ["a-1", "b-1", "c-1", "a-2", "b-2", "a-3"]


def test_a_job_that_pauses_holds_its_lane_and_leaves_its_turn_to_the_others() -> None:
    lanes: Lanes[str] = Lanes(1)
    for offset, name in enumerate(["a-1", "a-2", "b-1"]):
        lanes.add(name[0], name, name, Place(0, offset))
    lanes.again(begun(lanes), at=5.0, attempt=2)
    assert lanes.next_at() == 5.0
    other = begun(lanes, now=4.0)
    assert other.job == "b-1"
    lanes.finish(other)
    assert lanes.begin(4.9) is None
    again = begun(lanes, now=5.0)
    assert (again.job, again.attempt, lanes.next_at()) == ("a-1", 2, None)


def test_a_lane_that_hangs_stops_the_reading_of_its_own_partition_only() -> None:
    backlog: Backlog[str] = Backlog(at_once=10, uncommitted=3)
    backlog.take((0, 1))
    for offset in range(3):
        backlog.add(f"lane-{offset}", "job", "job", Place(0, offset))
    stuck, *others = [backlog.lanes.begin(0.0) for _ in range(3)]
    for entry in others:
        assert entry is not None
        backlog.finish(entry)
    assert backlog.room() == ((1,), 3)
    assert backlog.committable() == {}
    assert stuck is not None
    backlog.finish(stuck)
    assert backlog.room() == ((0, 1), 3)
    assert backlog.committable() == {0: 3}


def test_a_job_that_was_cut_but_whose_record_came_back_meanwhile_runs_again() -> None:
    backlog: Backlog[str] = Backlog(at_once=10, uncommitted=3)
    backlog.take((0,))
    backlog.add("acme|essays", "a", "a", Place(0, 0))
    running = begun(backlog.lanes)
    backlog.lost()
    assert backlog.take((1,)) == (running,)
    backlog.lost()
    assert backlog.take((0,)) == ()
    assert backlog.add("acme|essays", "a", "a", Place(0, 0)) is Arrival.JOINED
    backlog.lanes.abandon(running)
    assert begun(backlog.lanes) is running
    backlog.finish(running)
    assert backlog.committable() == {0: 1}


def test_a_record_of_a_partition_that_is_not_held_is_not_taken_in() -> None:
    backlog: Backlog[str] = Backlog(at_once=10, uncommitted=3)
    backlog.take((0,))
    assert backlog.add("acme|essays", "a", "a", Place(1, 0)) is None
    assert backlog.lanes.begin(0.0) is None


def test_only_so_many_done_jobs_are_remembered() -> None:
    lanes: Lanes[int] = Lanes(1)
    for number in range(10_001):
        lanes.add("acme|-", f"job-{number}", number, Place(0, number))
        entry = lanes.begin(0.0)
        assert entry is not None
        lanes.finish(entry)
    assert not lanes.knows("acme|-", "job-0")
    assert lanes.knows("acme|-", "job-1")

"""System sessions: one for each project and service, taken, handed over, suspended, told in a growing order."""

from datetime import timedelta

from agrajag.model.enums import SessionStatus
from agrajag.model.processes import SessionEvent
from agrajag.service.sessions import SessionKey, Sessions
from tests.builders import NOW

_KEY = SessionKey("acme", "essays", "agrajag")
_MINUTE = timedelta(minutes=1)


def _sessions(worker_id: str = "worker-1") -> Sessions:
    return Sessions(worker_id, idle_after=5 * _MINUTE)


def _taken(sessions: Sessions, process_id: str = "proc-1", after: timedelta = timedelta()) -> SessionEvent:
    event = sessions.take(_KEY, process_id, NOW + after)
    assert event is not None
    return event


def test_the_first_job_makes_the_session_and_the_next_one_uses_it() -> None:
    sessions = _sessions()
    event = _taken(sessions)
    assert event.session_id == _KEY.session_id
    assert (event.system, event.owner, event.display_name) == (True, "_system", "_agrajag")
    assert (event.status, event.worker_id, event.at) == (SessionStatus.ACTIVE, "worker-1", NOW)
    assert sessions.take(_KEY, "proc-2", NOW) is None


def test_each_project_and_service_has_its_own_and_no_project_is_one_as_well() -> None:
    keys = [
        _KEY,
        SessionKey("acme", None, "agrajag"),
        SessionKey("acme", "", "agrajag"),
        SessionKey("acme", "essays", "frankie"),
        SessionKey("globex", "essays", "agrajag"),
    ]
    assert len({key.session_id for key in keys}) == len(keys)


def test_after_five_idle_minutes_it_is_suspended_and_the_next_job_resumes_it() -> None:
    sessions = _sessions()
    first = _taken(sessions)
    sessions.release(_KEY.session_id, "proc-1", NOW + _MINUTE)
    assert sessions.suspended(NOW + 5.9 * _MINUTE) == []
    (suspended,) = sessions.suspended(NOW + 6 * _MINUTE)
    assert (suspended.session_id, suspended.status) == (first.session_id, SessionStatus.SUSPENDED)
    assert sessions.suspended(NOW + 60 * _MINUTE) == []
    resumed = _taken(sessions, "proc-2", 7 * _MINUTE)
    assert (resumed.session_id, resumed.status) == (first.session_id, SessionStatus.ACTIVE)
    assert first.seq < suspended.seq < resumed.seq


def test_a_session_in_use_is_never_suspended() -> None:
    sessions = _sessions()
    _taken(sessions)
    sessions.take(_KEY, "proc-2", NOW)
    sessions.release(_KEY.session_id, "proc-1", NOW)
    sessions.release(_KEY.session_id, "proc-1", NOW)  # an end that is told twice
    assert sessions.suspended(NOW + 60 * _MINUTE) == sessions.ended(NOW) == []
    sessions.release(_KEY.session_id, "proc-2", NOW)
    assert len(sessions.ended(NOW)) == 1


def test_a_restarted_worker_takes_the_same_session_over() -> None:
    before = _taken(_sessions("worker-1"))
    after = _taken(_sessions("worker-2"), after=_MINUTE)
    assert after.session_id == before.session_id
    assert (after.worker_id, after.status) == ("worker-2", SessionStatus.ACTIVE)
    assert after.seq > before.seq


def test_the_order_holds_for_a_worker_whose_clock_is_late_and_within_a_millisecond() -> None:
    early = _taken(_sessions("worker-1"), after=60 * _MINUTE)
    late = _sessions("worker-2")
    late.hear(early)
    first = _taken(late)
    assert first.seq == early.seq + 1
    late.release(_KEY.session_id, "proc-1", NOW)
    (second,) = late.ended(NOW)
    assert second.seq == early.seq + 2


def test_a_session_that_another_worker_has_taken_is_let_go_without_a_word() -> None:
    mine, others = _sessions("worker-1"), _sessions("worker-2")
    own = _taken(mine)
    mine.release(_KEY.session_id, "proc-1", NOW)
    mine.hear(own)  # its own record, from the topic
    mine.hear(_taken(others, after=_MINUTE))
    assert mine.suspended(NOW + 60 * _MINUTE) == []
    assert _taken(mine, "proc-2", 2 * _MINUTE).status is SessionStatus.ACTIVE


def test_an_older_record_of_another_worker_takes_nothing_away() -> None:
    mine, others = _sessions("worker-1"), _sessions("worker-2")
    older = _taken(others)
    _taken(mine, after=_MINUTE)
    mine.hear(older)
    assert mine.take(_KEY, "proc-2", NOW + _MINUTE) is None


def test_a_session_whose_record_was_not_written_is_taken_again() -> None:
    sessions = _sessions()
    first = _taken(sessions)
    sessions.lose(_KEY.session_id)
    assert _taken(sessions).seq > first.seq

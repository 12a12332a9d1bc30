"""What is told of processes, in whatever order and however often, is one story of each."""

from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.stories import Call, stories
from agrajag.model.enums import ProcessStatus, ToolCallStatus
from agrajag.model.processes import ProcessRecord
from tests.builders import NOW, a_process_event, a_session_event, a_tool_call_event, a_usage

_INIT = a_process_event(ProcessStatus.INIT)
_RUNNING = a_process_event(ProcessStatus.RUNNING, at=NOW + timedelta(seconds=1))
_CLOSED = a_process_event(ProcessStatus.CLOSED, at=NOW + timedelta(seconds=9))
_FIRST = a_tool_call_event(at=NOW + timedelta(seconds=2), arguments="{}")
_FIRST_READY = a_tool_call_event(ToolCallStatus.READY, at=NOW + timedelta(seconds=7), observation="fine")
_SECOND = a_tool_call_event(call_id="call-2", at=NOW + timedelta(seconds=3))
_SECOND_FAILED = a_tool_call_event(
    ToolCallStatus.FAILED, call_id="call-2", at=NOW + timedelta(seconds=4), code="deadline"
)
_USAGE = a_usage(at=NOW + timedelta(seconds=8), tokens=7)
_OTHER = a_process_event(ProcessStatus.INIT, process_id="proc-0", at=NOW + timedelta(seconds=5))
_OF_ANOTHER_TENANT = a_process_event(ProcessStatus.INIT, tenant_id="globex", at=NOW + timedelta(seconds=6))
_ALL: list[ProcessRecord] = [
    _INIT,
    _RUNNING,
    _FIRST,
    _SECOND,
    _SECOND_FAILED,
    _OTHER,
    _OF_ANOTHER_TENANT,
    _FIRST_READY,
    _USAGE,
    _CLOSED,
    a_session_event(),
]


@given(st.lists(st.sampled_from(_ALL)), st.randoms())
def test_any_order_and_any_repeats_give_one_story_of_each_process(
    repeats: list[ProcessRecord], random: Random
) -> None:
    records = [*_ALL, *repeats]
    random.shuffle(records)
    first, other, foreign = stories(records)
    assert (first.tenant_id, first.project_id, first.job_id, first.process_id) == (
        "acme",
        "essays",
        "job-1",
        "proc-1",
    )
    assert (first.steps, first.step, first.began_at) == ((_INIT, _RUNNING, _CLOSED), _CLOSED, NOW)
    assert first.calls == (Call("call-1", _FIRST, _FIRST_READY), Call("call-2", _SECOND, _SECOND_FAILED))
    assert first.usage == _USAGE
    assert (other.steps, foreign.steps) == ((_OTHER,), (_OF_ANOTHER_TENANT,))


def test_a_process_that_was_made_again_is_told_as_it_was_the_last_time() -> None:
    again = _FIRST.with_changes(at=NOW + timedelta(seconds=20), arguments='{"again": true}')
    failed = _FIRST_READY.with_changes(
        status=ToolCallStatus.FAILED, at=NOW + timedelta(seconds=21), observation=None, code="hang"
    )
    (story,) = stories([failed, again, _FIRST, _FIRST_READY])
    assert story.calls == (Call("call-1", again, failed),)


def test_of_a_call_whose_beginning_is_gone_the_end_is_told() -> None:
    (story,) = stories([_FIRST_READY])
    (call,) = story.calls
    assert (call.last, call.at, call.arguments) == (_FIRST_READY, _FIRST_READY.at, None)
    assert (story.step, story.usage, story.began_at) == (None, None, _FIRST_READY.at)

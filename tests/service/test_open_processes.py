"""Which processes count as left open, by what was heard of them."""

from agrajag.model.enums import CloseReason, ProcessStatus
from agrajag.service.open_processes import OpenProcesses
from tests.builders import NOW, a_job, a_process_event


def left_open(known: OpenProcesses, job_id: str = "job-1") -> list[str]:
    return [step.process_id for step in known.superseded(a_job(job_id=job_id), "proc-of-the-answer", NOW)]


def test_a_process_is_open_from_its_first_step_until_it_is_closed() -> None:
    known = OpenProcesses()
    for status in (ProcessStatus.INIT, ProcessStatus.RUNNING):
        known.hear(a_process_event(status))
        assert left_open(known) == ["proc-1"]
    for _ in range(2):
        known.hear(a_process_event(ProcessStatus.CLOSED, close_reason=CloseReason.DONE))
        assert left_open(known) == []


def test_neither_the_process_of_the_answer_nor_one_of_another_job_or_tenant_is_left_open() -> None:
    known = OpenProcesses()
    known.hear(a_process_event(process_id="proc-of-the-answer"))
    known.hear(a_process_event(process_id="proc-2", job_id="job-2"))
    known.hear(a_process_event(process_id="proc-3", tenant_id="globex"))
    assert left_open(known) == []
    assert left_open(known, "job-2") == ["proc-2"]


def test_of_too_many_jobs_those_that_were_heard_of_first_are_forgotten() -> None:
    known, step = OpenProcesses(), a_process_event()
    for number in range(10_001):
        known.hear(step.with_changes(job_id=f"job-{number}"))
    assert left_open(known, "job-0") == []
    assert left_open(known, "job-1") == left_open(known, "job-10000") == ["proc-1"]

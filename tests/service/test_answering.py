"""Whatever an engine does, its job ends in one answer, or goes on with another attempt."""

import asyncio
from datetime import timedelta
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from agrajag.errors import PermanentError
from agrajag.metrics import DEAD_LETTERS, SERVICE_JOBS, SERVICE_RETRIES
from agrajag.model.enums import ProcessStatus, ServiceFailure
from agrajag.model.jobs import DiagnosisJob, DiagnosisResult
from agrajag.service.answering import Again, Answering
from agrajag.service.attempts import Attempts, process_id_of
from agrajag.service.intake import Unreadable, Work, read_job
from agrajag.service.patience import Patience
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_job
from tests.documents.texts import recipe_at
from tests.service.attempting import TOPICS, Clock, Kept, Standing, a_usage, attempts_of
from tests.service.engines import SECRET, Scripted, for_ever
from tests.wire.records import counting, received

JOBS = TOPICS.name(Topic.DIAGNOSIS_JOBS)
LETTERS = TOPICS.dead_letters(Topic.DIAGNOSIS_JOBS)
ENGINE = Scripted()


class Refusing(Kept):
    """Takes no record of more than a megabyte, as brokers do."""

    async def send(self, outputs: Any) -> None:
        outputs = list(outputs)
        if any(len(output.value or b"") > 1_000_000 for output in outputs):
            raise PermanentError("kafka: MessageSizeTooLargeError")
        await super().send(outputs)


def an_answering(sender: Kept, clock: Clock | None = None, attempts: Attempts | None = None) -> Answering:
    clock = clock or Clock()
    return Answering(
        attempts or attempts_of(sender, clock=clock), sender, TOPICS, Patience(attempts=3), clock
    )


def work_of(job: DiagnosisJob, engine: Scripted = ENGINE) -> Work:
    return Work(engine, job, received(job.to_json(), topic=JOBS))


def on(sender: Kept, topic: str) -> list[Output]:
    return [output for output in sender.outputs if output.topic == topic]


def answers(sender: Kept) -> list[DiagnosisResult]:
    name = TOPICS.name(Topic.DIAGNOSIS_RESULTS)
    return [DiagnosisResult.from_json(output.value or b"") for output in on(sender, name)]


async def test_an_answer_is_on_its_topic_before_the_process_is_told_to_have_ended() -> None:
    sender = Kept()
    job = a_job()
    with counting(SERVICE_JOBS, outcome="answered") as ended:
        assert await an_answering(sender).attempt(work_of(job), 1) is None
    (answer,) = answers(sender)
    assert (answer.job_id, answer.process_id, answer.failure) == (job.job_id, process_id_of(job, 1), None)
    (output,) = on(sender, TOPICS.name(Topic.DIAGNOSIS_RESULTS))
    assert output.key == b"acme|search"
    assert dict(output.headers)["ce_id"] == job.job_id.encode()
    assert dict(output.headers)["ce_type"] == b"agrajag.diagnosis-result.v1"
    assert ended() == 1


@pytest.mark.parametrize(
    ("tool_name", "failure"),
    [
        ("crash", ServiceFailure.CRASHED),
        ("wrong", ServiceFailure.CRASHED),
        ("cancel", ServiceFailure.CRASHED),
        ("exit", ServiceFailure.CRASHED),
        ("huge", ServiceFailure.CRASHED),
        ("permanent", ServiceFailure.NOT_POSSIBLE),
    ],
)
async def test_an_engine_that_raises_what_it_likes_has_failed_and_nothing_else_has(
    tool_name: str, failure: ServiceFailure
) -> None:
    sender = Refusing()
    job = a_job(tool_name=tool_name)
    with capture_logs() as logs, counting(SERVICE_JOBS, outcome=failure) as ended:
        assert await an_answering(sender).attempt(work_of(job), 1) is None
    assert [(answer.failure, answer.tool_name) for answer in answers(sender)] == [(failure, tool_name)]
    assert ended() == 1
    assert SECRET not in str(logs)


async def test_what_may_pass_is_tried_again_as_the_next_attempt_and_in_the_end_has_failed() -> None:
    sender = Kept()
    answering, work = an_answering(sender), work_of(a_job(tool_name="transient"))
    with counting(SERVICE_RETRIES) as retries:
        for attempt in (1, 2):
            again = await answering.attempt(work, attempt)
            assert isinstance(again, Again)
            assert again.attempt == attempt + 1
            assert again.pause_seconds == Patience().pause_seconds(work.job.job_id, attempt)
        assert answers(sender) == []
        assert await answering.attempt(work, 3) is None
    assert retries() == 2
    (answer,) = answers(sender)
    assert (answer.failure, answer.process_id) == (
        ServiceFailure.RETRIES_EXHAUSTED,
        process_id_of(work.job, 3),
    )
    closed = [event for event in sender.of_kind("process") if event.status is ProcessStatus.CLOSED]
    assert [event.process_id for event in closed if event.is_superseded] == [
        process_id_of(work.job, attempt) for attempt in (1, 2)
    ]


async def test_a_job_whose_lease_has_ended_is_not_begun_and_has_failed() -> None:
    sender, engine = Kept(), Scripted()
    clock = Clock(NOW + timedelta(minutes=15))
    assert await an_answering(sender, clock).attempt(work_of(a_job(), engine), 1) is None
    assert [answer.failure for answer in answers(sender)] == [ServiceFailure.LEASE_EXPIRED]
    assert engine.ran == []
    assert sender.of_kind("process") == []


@pytest.mark.parametrize("bound", ["engine", "lease"])
async def test_an_engine_that_hangs_is_cut_at_its_deadline_or_with_the_lease(bound: str) -> None:
    sender, engine = Kept(), Scripted(for_ever)
    attempts = attempts_of(sender, engine_seconds=-2.0 if bound == "engine" else 600.0)
    job = a_job(lease_until=NOW + timedelta(seconds=600.0 if bound == "engine" else 0.01))
    assert await an_answering(sender, attempts=attempts).attempt(work_of(job, engine), 1) is None
    assert [answer.failure for answer in answers(sender)] == [ServiceFailure.DEADLINE]


async def test_without_a_usable_recipe_there_is_a_failed_answer_with_the_reason() -> None:
    sender, documents = Kept(), Standing()
    documents.put({recipe_at("agrajag", "acme"): "agrajag: [1"})
    answering = an_answering(sender, attempts=attempts_of(sender, documents))
    assert await answering.attempt(work_of(a_job()), 1) is None
    assert [answer.failure for answer in answers(sender)] == [ServiceFailure.RECIPE_BROKEN]


async def test_an_attempt_that_cannot_be_begun_is_the_same_attempt_again() -> None:
    sender = Kept()
    sender.away = True
    answering, work = an_answering(sender), work_of(a_job())
    again = await answering.attempt(work, 2)
    assert again is not None
    assert again.attempt == 2
    sender.away = False
    assert await answering.attempt(work, again.attempt) is None
    assert [answer.process_id for answer in answers(sender)] == [process_id_of(work.job, 2)]


async def test_an_answer_waits_for_brokers_that_are_away_and_is_not_made_again() -> None:
    sender = Kept()

    async def brokers_go_away(job: DiagnosisJob) -> None:
        sender.away = True
        asyncio.get_running_loop().call_later(0.05, setattr, sender, "away", False)

    engine = Scripted(brokers_go_away)
    assert await an_answering(sender).attempt(work_of(a_job(), engine), 1) is None
    assert len(answers(sender)) == len(engine.ran) == 1


async def test_the_same_attempt_made_twice_gives_the_same_answer_under_the_same_name() -> None:
    sender = Kept()
    for _ in range(2):
        assert await an_answering(sender).attempt(work_of(a_job()), 1) is None
    first, second = answers(sender)
    assert first == second
    assert len({output.headers for output in on(sender, TOPICS.name(Topic.DIAGNOSIS_RESULTS))}) == 1


async def test_a_job_that_is_cut_has_no_answer_and_what_it_used_is_told() -> None:
    sender = Kept()
    begun = asyncio.Event()

    class Using(Scripted):
        async def run(self, job: DiagnosisJob, run: Any) -> DiagnosisResult:
            run.used(a_usage(run.process_id, tokens=7))
            begun.set()
            return await super().run(job, run)

    task = asyncio.create_task(an_answering(sender).attempt(work_of(a_job(), Using(for_ever)), 1))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert answers(sender) == []
    assert [usage.tokens for usage in sender.of_kind("usage")] == [7]


async def test_a_job_to_which_no_answer_at_all_can_be_made_is_set_aside() -> None:
    sender = Kept()
    work = work_of(a_job(tool_name="unspeakable"))
    with counting(DEAD_LETTERS, topic="diagnosis-jobs", reason="processing_failed") as letters:
        assert await an_answering(sender).attempt(work, 1) is None
    (letter,) = on(sender, LETTERS)
    assert letter.value == work.record.value
    assert letters() == 1
    assert answers(sender) == []


def _spoiled(**changes: Any) -> bytes:
    tree = orjson.loads(a_job().to_json()) | changes
    return orjson.dumps({name: value for name, value in tree.items() if value is not None})


@pytest.mark.parametrize(
    "value",
    [
        _spoiled(trigger="a_whim"),
        _spoiled(transport={"of": "another kind"}),
        _spoiled(errorDetail="x" * 601, signals=["y" * 601]),
        _spoiled(leaseUntil="soon"),
        _spoiled(createdAt=None),
        _spoiled(serviceType="prak"),
        _spoiled(serviceType=None),
    ],
)
async def test_a_job_that_cannot_be_read_but_says_which_it_is_has_failed(value: bytes) -> None:
    sender = Kept()
    unreadable = read_job(received(value, topic=JOBS), {ENGINE.name: ENGINE})
    assert isinstance(unreadable, Unreadable)
    await an_answering(sender).set_aside(unreadable)
    (letter,) = on(sender, LETTERS)
    assert letter.value == value
    (answer,) = answers(sender)
    job = a_job()
    assert answer.failure is ServiceFailure.NOT_READABLE
    assert (answer.job_id, answer.scope, answer.scope_id, answer.tool_name, answer.error_signature) == (
        job.job_id,
        job.scope,
        job.scope_id,
        job.tool_name,
        job.error_signature,
    )


@pytest.mark.parametrize(
    "value",
    [None, b"{", b"[]", b"7", _spoiled(jobId=None), _spoiled(toolName=""), _spoiled(scope="GALAXY"), b"{}"],
)
async def test_a_record_that_does_not_say_which_job_it_is_only_goes_to_the_dead_letters(
    value: bytes | None,
) -> None:
    sender = Kept()
    unreadable = read_job(received(value, topic=JOBS), {ENGINE.name: ENGINE})
    assert isinstance(unreadable, Unreadable)
    await an_answering(sender).set_aside(unreadable)
    assert [output.topic for output in sender.outputs] == [LETTERS]

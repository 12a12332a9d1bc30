"""No secret that a tool, a caller or a person lets slip gets anywhere, and what only looks like one can be read there.

The records of the topics are what the store's documents are made of, so nothing is asked of the store itself. A dead
letter is the raw record, and so is none of this.
"""

import asyncio
import json
import re
from collections.abc import Iterator

import pytest

from agrajag.model.jobs import DiagnosisJob
from agrajag.wire.topics import Topic
from tests.core.secrets import LOOK_ALIKES, PLANTED, Planted
from tests.diagnosis.one_tools_day import Told, a_day
from tests.diagnosis.test_engine_over_http import ALICES, SHARED
from tests.service.attempting import TOPICS

_COUNT = 50
_SHORTEST = 7
"""A shorter text may stand in a time or an id by chance."""
_WRITTEN = {
    *("prompt", "changelog", "logs"),
    *(
        TOPICS.name(topic)
        for topic in (
            *(Topic.CHECK_RESULTS, Topic.HEALTH_CHANGED, Topic.DIAGNOSIS_JOBS, Topic.DIAGNOSIS_RESULTS),
            *(Topic.PROCESS_EVENTS, Topic.INBOX_ITEMS, Topic.COMMAND_RESULTS),
        )
    ),
}


def _telling(planted: Planted) -> str:
    """What of the secret no spelling changes: of one with quotes or lines, the longest piece between them."""
    return max(re.split(r'[\s"\\]+|(?<=\\)n', planted.secret), key=len)


_SECRETS = [planted for planted in PLANTED if len(_telling(planted)) >= _SHORTEST]
_SECRETS.sort(key=lambda planted: "BEGIN" in planted.text)  # what never ends hides whatever follows
_DAYS = [(*LOOK_ALIKES[n::_COUNT], *(one.leaking for one in _SECRETS[n::_COUNT])) for n in range(_COUNT)]


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Told]:
    """What was told of a tool on each of the days."""

    async def lived() -> list[Told]:
        async with a_day(tmp_path_factory.mktemp("credentials")) as day:
            return [await day.of(*texts) for texts in _DAYS]

    return asyncio.run(lived())


def test_there_are_enough_of_both() -> None:
    assert len(_SECRETS) >= 60
    assert len(LOOK_ALIKES) >= 60


@pytest.mark.parametrize("number", range(len(_SECRETS)), ids=lambda number: _SECRETS[number].kind)
def test_a_secret_gets_nowhere(number: int, days: list[Told]) -> None:
    places = days[number % _COUNT].places
    assert set(places) == _WRITTEN
    assert places["logs"].count("job_ended") == 2
    secrets = (_telling(_SECRETS[number]), ALICES, SHARED)
    assert [(place, one) for place, said in places.items() for one in secrets if one in said] == []


@pytest.mark.parametrize("number", range(len(LOOK_ALIKES)), ids=LOOK_ALIKES.__getitem__)
def test_what_only_looks_like_a_secret_can_be_read(number: int, days: list[Told]) -> None:
    told, text = days[number % _COUNT], LOOK_ALIKES[number]
    jobs = [DiagnosisJob.from_json(value) for value in told.of(Topic.DIAGNOSIS_JOBS)]
    assert any(text in (job.error_detail or "") for job in jobs)
    report = told.requests[0]["messages"][0]["content"]
    assert json.dumps(text, ensure_ascii=False)[1:-1] in str(report)
    assert [name for name, seen in _observations(told) if text in seen] == ["user", "system"]


def _observations(told: Told) -> Iterator[tuple[str, str]]:
    """Whom a model has probed as, and what it has seen of the response: as it went to the model."""
    for block in told.requests[-1]["messages"][-1]["content"]:
        if block["type"] == "tool_result" and "rawResponse" in (seen := json.loads(block["content"])):
            yield seen["identity"], seen["rawResponse"]

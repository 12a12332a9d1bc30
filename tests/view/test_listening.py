"""What a listener hears of a real topic: every record with its place, and never that more is shown than is."""

import pytest

from agrajag.embedded import EmbeddedKafka
from agrajag.view import HealthView
from agrajag.view.listening import News
from agrajag.wire.following import Log
from agrajag.wire.outputs import Output
from tests.builders import a_health
from tests.view.test_health_view import Place, running
from tests.waiting import eventually

_KEY = "acme|PROJECT|essays|search"


class Heard:
    """All that was heard, in its order."""

    def __init__(self) -> None:
        self.logs: list[Log] = []
        self.read_: list[tuple[int, int, News | None]] = []
        self.shown_: list[int] = []

    def reading_begins(self, log: Log) -> None:
        self.logs.append(log)

    def read(self, partition: int, offset: int, news: News | None) -> None:
        self.read_.append((partition, offset, news))

    def shown(self) -> None:
        if self.shown_[-1:] != [len(self.read_)]:
            self.shown_.append(len(self.read_))


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    return await Place(kafka.bootstrap_servers, topic_prefix).made()


async def test_every_record_is_heard_with_its_place_and_what_stood_at_the_start_is_shown_at_once(
    place: Place,
) -> None:
    first, second = a_health(), a_health(revision=3)
    await place.send(place.record(first), place.record(first))
    heard = Heard()
    view = HealthView(place.connection, place.topics, log_listener=heard)
    await view.start()
    (partition, offset, _), _ = heard.read_
    assert heard.read_ == [(partition, 0, News(_KEY, 1, first.to_json())), (partition, 1, None)]
    assert heard.shown_ == [2]
    (log,) = heard.logs
    assert log.cluster_id
    assert log.topic == place.name
    assert sorted(log.ends) == [0, 0, offset + 2]
    async with running(view):
        broken = Output(place.name, _KEY.encode(), b"{")
        await place.send(place.record(second), broken, place.removal(second, 4))
        await eventually(lambda: len(heard.read_) == 5)
        await eventually(lambda: heard.shown_[-1] == 5)
    assert heard.read_[2:] == [
        (partition, 2, News(_KEY, 3, second.to_json())),
        (partition, 3, None),
        (partition, 4, News(_KEY, 4, None)),
    ]

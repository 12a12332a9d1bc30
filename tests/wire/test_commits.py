"""What is committed, and how often; the consumer stands in for the client, whose group may have moved on."""

from aiokafka import TopicPartition
from aiokafka.errors import CommitFailedError

from agrajag.metrics import REGISTRY
from agrajag.wire.commits import Commits

ONE, OTHER = TopicPartition("jobs", 0), TopicPartition("jobs", 1)


class Group:
    """Takes commits, but for the first `refusals` of them."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.asked: list[dict[TopicPartition, int]] = []

    async def commit(self, offsets: dict[TopicPartition, int]) -> None:
        self.asked.append(offsets)
        if len(self.asked) <= self.refusals:
            raise CommitFailedError


def failed() -> float:
    return REGISTRY.get_sample_value("agrajag_commits_total", {"result": "failed"}) or 0.0


async def test_what_is_committed_is_not_committed_again() -> None:
    group, commits = Group(), Commits("sink")
    for committable in ({ONE: 1}, {ONE: 1}, {ONE: 1, OTHER: 7}, {ONE: 2, OTHER: 7}):
        await commits.carry_out(group, committable, 1.0)
    assert group.asked == [{ONE: 1}, {OTHER: 7}, {ONE: 2}]
    assert commits.last_at is not None


async def test_a_commit_that_the_group_refuses_is_no_error_and_is_made_again() -> None:
    group, commits, before = Group(refusals=1), Commits("sink"), failed()
    await commits.carry_out(group, {ONE: 1}, 1.0)
    was_at = commits.last_at
    await commits.carry_out(group, {ONE: 1}, 1.0)
    assert group.asked == [{ONE: 1}, {ONE: 1}]
    assert was_at is None
    assert commits.last_at is not None
    assert failed() - before == 1


async def test_after_the_partitions_are_given_out_anew_their_offsets_are_committed_anew() -> None:
    group, commits = Group(), Commits("sink")
    await commits.carry_out(group, {ONE: 5}, 1.0)
    commits.forget()
    await commits.carry_out(group, {ONE: 5}, 1.0)
    assert group.asked == [{ONE: 5}, {ONE: 5}]

"""What a rebuild has to write: everything that is missing, nothing twice, and never the loss of the newest copy."""

from hypothesis import given
from hypothesis import strategies as st

from agrajag.model.enums import Scope
from agrajag.model.keys import health_key
from agrajag.stream.rebuild_plan import Copies, Copy, Plan, Wanted, plan, right_partition

PARTITIONS = 4
KEYS = [health_key("acme", Scope.PROJECT, "essays", tool).encode() for tool in ("search", "fetch", "mail")]
KEY = KEYS[0]
HOME = right_partition(KEY, PARTITIONS)
ELSEWHERE = (HOME + 1) % PARTITIONS


def _copies(revisions: list[int], gone: list[bool], partitions: list[int]) -> dict[int, Copy]:
    return {
        partition: Copy(revision, 0, is_gone)
        for revision, is_gone, partition in zip(revisions, gone, partitions, strict=True)
    }


# No two copies of a key are of one revision: one that moves is given a higher one.
copies = st.dictionaries(
    st.sampled_from(KEYS),
    st.integers(1, PARTITIONS).flatmap(
        lambda count: st.builds(
            _copies,
            st.lists(st.integers(1, 9), min_size=count, max_size=count, unique=True),
            st.lists(st.booleans(), min_size=count, max_size=count),
            st.permutations(range(PARTITIONS)).map(lambda found: found[:count]),
        )
    ),
)


def placed(found: Copies) -> Copies:
    """The same with offsets that no two copies of a partition share."""
    return {
        key: {partition: copy._replace(offset=number) for partition, copy in held.items()}
        for number, (key, held) in enumerate(found.items())
    }


def writes_of(made: Plan, changed: Copies) -> list[tuple[int, bytes, int, Copy]]:
    """The records that the plan asks for, in their order: topic (0: documents, 1: entries), key, partition, record."""
    places = {
        (partition, copy.offset): key for key, held in changed.items() for partition, copy in held.items()
    }
    wanted = [(places[place], one) for place, one in made.documents.items()]
    new = [(key, one.partition, Copy(one.revision, 99, False), one.is_published) for key, one in wanted]
    return [
        *((0, key, partition, copy) for key, partition, copy, is_published in new if is_published),
        *((1, key, partition, copy) for key, partition, copy, _ in new),
        *((0, key, partition, Copy(revision, 99, True)) for partition, key, revision in made.old_documents),
        *((1, key, partition, Copy(revision, 99, True)) for partition, key, revision in made.old_entries),
    ]


def carried_out(
    made: Plan, changed: Copies, changelog: Copies, writes: int | None = None
) -> tuple[Copies, Copies]:
    """What the topics hold after the plan, or after its first `writes`."""
    after = [{key: dict(held) for key, held in topic.items()} for topic in (changed, changelog)]
    for topic, key, partition, copy in writes_of(made, changed)[:writes]:
        after[topic].setdefault(key, {})[partition] = copy
    return placed(after[0]), after[1]


def living(documents: Copies) -> set[bytes]:
    """The keys of which the newest copy is a document."""
    return {
        key
        for key, held in documents.items()
        if not max(held.values(), key=lambda copy: copy.revision).is_gone
    }


@given(copies, copies)
def test_a_plan_that_was_carried_out_leaves_nothing_to_do(changed: Copies, changelog: Copies) -> None:
    changed = placed(changed)
    after = carried_out(plan(changed, changelog, PARTITIONS), changed, changelog)
    assert plan(*after, PARTITIONS) == Plan()


@given(copies, copies)
def test_after_it_each_living_document_stands_once_and_its_entry_beside_it_is_not_older(
    changed: Copies, changelog: Copies
) -> None:
    changed = placed(changed)
    documents, entries = carried_out(plan(changed, changelog, PARTITIONS), changed, changelog)
    for key, held in changed.items():
        home = right_partition(key, PARTITIONS)
        newest = max(copy.revision for copy in held.values())
        lives = any(copy.revision == newest and not copy.is_gone for copy in held.values())
        standing = [partition for partition, copy in documents[key].items() if not copy.is_gone]
        assert set(standing) <= {home}
        if lives and home not in held:
            assert standing == [home]
        if standing and documents[key][home].revision == max(
            copy.revision for copy in documents[key].values()
        ):
            assert not entries[key][home].is_gone
            assert entries[key][home].revision >= documents[key][home].revision >= newest


@given(copies, copies, st.integers(0, 12))
def test_a_run_that_was_cut_short_has_lost_no_document_and_is_finished_by_another(
    changed: Copies, changelog: Copies, writes: int
) -> None:
    changed = placed(changed)
    half_done = carried_out(plan(changed, changelog, PARTITIONS), changed, changelog, writes)
    after = carried_out(plan(*half_done, PARTITIONS), *half_done)
    assert living(half_done[0]) == living(after[0])
    assert living(changed) <= living(after[0])
    assert plan(*after, PARTITIONS) == Plan()


def test_a_lost_table_is_written_with_the_revisions_that_were_published() -> None:
    made = plan({KEY: {HOME: Copy(7, 3, False)}}, {}, PARTITIONS)
    assert made == Plan({(HOME, 3): Wanted(HOME, 7, False)})


def test_a_document_whose_partition_is_another_now_moves_above_all_its_copies() -> None:
    made = plan({KEY: {ELSEWHERE: Copy(7, 3, False)}}, {KEY: {ELSEWHERE: Copy(9, 5, False)}}, PARTITIONS)
    assert made == Plan(
        {(ELSEWHERE, 3): Wanted(HOME, 10, True)}, [(ELSEWHERE, KEY, 7)], [(ELSEWHERE, KEY, 9)], moves=1
    )


def test_what_the_table_has_is_left_alone_and_what_is_gone_is_not_brought_back() -> None:
    standing = {KEY: {HOME: Copy(9, 0, False)}}
    assert plan({KEY: {HOME: Copy(7, 3, False)}}, standing, PARTITIONS) == Plan()
    assert plan({KEY: {HOME: Copy(7, 3, True)}}, {}, PARTITIONS) == Plan()

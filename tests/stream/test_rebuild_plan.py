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

copies = st.dictionaries(
    st.sampled_from(KEYS),
    st.dictionaries(
        st.integers(0, PARTITIONS - 1), st.builds(Copy, st.integers(1, 9), st.just(0), st.booleans())
    ),
).map(lambda found: {key: held for key, held in found.items() if held})


def placed(found: Copies) -> Copies:
    """The same with offsets that no two copies of a partition share."""
    return {
        key: {partition: copy._replace(offset=number) for partition, copy in held.items()}
        for number, (key, held) in enumerate(found.items())
    }


def carried_out(made: Plan, changed: Copies, changelog: Copies) -> tuple[Copies, Copies]:
    """What the topics hold after the plan."""
    after = [{key: dict(held) for key, held in topic.items()} for topic in (changed, changelog)]
    places = {
        (partition, copy.offset): key for key, held in changed.items() for partition, copy in held.items()
    }
    for place, wanted in made.documents.items():
        key, copy = places[place], Copy(wanted.revision, 99, False)
        if wanted.is_published:
            after[0][key][wanted.partition] = copy
        after[1].setdefault(key, {})[wanted.partition] = copy
    for topic, old in zip(after, (made.old_documents, made.old_entries), strict=True):
        for partition, key, revision in old:
            topic[key][partition] = Copy(revision, 99, True)
    return after[0], after[1]


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

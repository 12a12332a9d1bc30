"""Which document speaks for a caller, and that it is the newest, whatever came in which order."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.policy import Policy
from agrajag.errors import InputError
from agrajag.metrics import VIEW_SKIPPED
from agrajag.model.enums import Scope, Status
from agrajag.model.health import OverrideFacet, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key
from agrajag.view.documents import GONE_FOR_SECONDS, HealthDocuments
from agrajag.wire.health_records import HealthRecord, health_record
from tests.builders import NOW, a_cooldown, a_health
from tests.wire.records import counting, received

ALICE = Caller("acme", "essays", "alice", "session-1")
_SCOPES = {
    Scope.SESSION: "session-1",
    Scope.USER: "alice",
    Scope.PROJECT: "essays",
    Scope.TENANT: "acme",
    Scope.GLOBAL: "",
}


def health_at(scope: Scope, **fields: object) -> ToolHealth:
    return a_health(scope=scope, **({"scope_id": _SCOPES[scope]} | fields))


def key_of(health: ToolHealth) -> str:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)


def change(health: ToolHealth) -> HealthRecord:
    return told(health.to_json(), key_of(health))


def gone(health: ToolHealth, revision: int) -> HealthRecord:
    return HealthRecord(key_of(health), revision, None)


def told(value: bytes, key: str) -> HealthRecord:
    """As the topic brings it."""
    return health_record(received(value, key=key.encode()))


def view_of(*changes: ToolHealth | HealthRecord) -> HealthDocuments:
    documents = HealthDocuments()
    for one in changes:
        documents.take(change(one) if isinstance(one, ToolHealth) else one, 0.0)
    return documents


def nearest(documents: HealthDocuments, caller: Caller = ALICE) -> ToolHealth | None:
    return documents.nearest(caller, "search", NOW, Policy())


def _document(scope: Scope, revision: int) -> HealthRecord:
    """What the owner says as of a revision is always the same."""
    health = health_at(scope, revision=revision, status=list(Status)[revision % 3])
    return gone(health, revision) if revision % 4 == 3 else change(health)


@given(st.lists(st.builds(_document, st.sampled_from(Scope), st.integers(0, 9)), max_size=25), st.randoms())
def test_any_order_of_records_any_number_of_times_gives_the_same_view(
    changes: list[HealthRecord], random: Random
) -> None:
    shuffled = changes * 2
    random.shuffle(shuffled)
    one, other = view_of(*changes), view_of(*shuffled)
    for scope, scope_id in _SCOPES.items():
        newest = max(
            (c for c in changes if c.key == _document(scope, 0).key), key=lambda c: c.revision, default=None
        )
        expected = None if newest is None or newest.value is None else ToolHealth.from_json(newest.value)
        assert one.find("acme", scope, scope_id, "search") == expected
        assert other.find("acme", scope, scope_id, "search") == expected
    assert (nearest(one), len(one)) == (nearest(other), len(other))


_DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        scope: st.builds(
            lambda status, override, hours: {
                "verdict": VerdictFacet(
                    status=status,
                    evidence_at=NOW,
                    expected_recovery_at=None if hours is None else NOW + timedelta(hours=hours),
                ),
                "override": override and OverrideFacet(status=override, reason="", by="ops", at=NOW),
            },
            st.sampled_from(Status),
            st.none() | st.sampled_from(Status),
            st.none() | st.sampled_from((-1, 1)),
        )
        for scope in Scope
    },
)


@given(_DOCUMENTS)
def test_the_document_that_speaks_is_the_one_of_the_cascade_else_the_narrowest(
    fields: dict[Scope, dict[str, object]],
) -> None:
    there = [health_at(scope, **fields[scope]) for scope in Scope if scope in fields]
    others = [a_health(scope=Scope.USER, scope_id="bob", status=Status.DOWN), a_health(tool_name="fetch")]
    found = nearest(view_of(*reversed(there), *others))
    assert found == (speaks_for(there, NOW, Policy()) or (there[0] if there else None))


def test_a_document_that_only_carries_cooldowns_hides_no_wider_one_and_is_shown_where_it_is_alone() -> None:
    mine = health_at(Scope.USER, cooldowns=(a_cooldown(),))
    down = health_at(Scope.TENANT, status=Status.DOWN)
    assert nearest(view_of(mine, down)) == down
    assert nearest(view_of(mine)) == mine
    assert nearest(view_of(down), Caller("globex", "essays", "alice")) is None


def test_a_verdict_is_believed_as_long_as_the_policy_of_the_asker_says() -> None:
    stale = health_at(Scope.PROJECT, status=Status.DOWN)
    down = health_at(Scope.TENANT, status=Status.DOWN, updated_at=NOW + timedelta(hours=2))
    documents = view_of(
        stale, down.with_changes(verdict=down.verdict.with_changes(evidence_at=down.updated_at))
    )
    later = NOW + timedelta(hours=3)
    short = documents.nearest(ALICE, "search", later, Policy(unconfirmed_after=timedelta(hours=2)))
    assert short is not None
    assert short.scope is Scope.TENANT
    assert documents.nearest(ALICE, "search", later, Policy()) == stale


def test_a_document_that_changes_is_read_again() -> None:
    documents = view_of(health_at(Scope.USER, revision=1))
    assert nearest(documents) == health_at(Scope.USER, revision=1)
    documents.take(change(health_at(Scope.USER, revision=2, status=Status.DOWN)), 0.0)
    assert nearest(documents) == health_at(Scope.USER, revision=2, status=Status.DOWN)


@pytest.mark.parametrize("seconds", [0.0, GONE_FOR_SECONDS - 1])
def test_a_late_record_does_not_bring_back_what_is_gone(seconds: float) -> None:
    health = health_at(Scope.USER, revision=2)
    documents = view_of(health, gone(health, 3))
    assert not documents.take(change(health), seconds)
    assert (nearest(documents), len(documents)) == (None, 0)


def test_that_something_is_gone_is_forgotten_after_a_day_unless_it_is_back() -> None:
    one, other = health_at(Scope.USER, revision=2), health_at(Scope.PROJECT, revision=2)
    documents = view_of(gone(one, 3), gone(other, 3), other.with_changes(revision=4))
    assert documents.take(change(one), GONE_FOR_SECONDS), "nothing is kept of it by now"
    assert not documents.take(change(other), GONE_FOR_SECONDS)
    assert documents.find("acme", Scope.PROJECT, "essays", "search") == other.with_changes(revision=4)


def broken(health: ToolHealth) -> HealthRecord:
    """A record that begins as ours do and holds no document."""
    value = health.to_json().replace(b'"toolName":"search"', b'"toolName":7')
    return told(value, key_of(health))


def test_a_record_that_is_no_document_is_as_if_it_had_never_come_whenever_that_is_found_out() -> None:
    health = health_at(Scope.USER, revision=2)
    documents = view_of(broken(health.with_changes(revision=5)))
    with counting(VIEW_SKIPPED, reason="invalid_field") as skipped:
        assert nearest(documents) is None
        assert nearest(documents) is None
        assert skipped() == 1, "counted once"
    assert len(documents) == 0
    assert documents.take(change(health), 0.0)
    assert nearest(documents) == health


def test_what_is_no_document_takes_the_place_of_none_and_stands_in_the_way_of_none() -> None:
    health = health_at(Scope.USER, revision=2)
    documents = view_of(health)
    with pytest.raises(InputError):
        documents.take(broken(health.with_changes(revision=3)), 0.0)
    assert nearest(documents) == health
    unread = view_of(broken(health.with_changes(revision=9)))
    assert unread.take(change(health), 0.0), "what it claims to be newer than is taken all the same"
    assert nearest(unread) == health


@pytest.mark.parametrize(
    "value",
    [
        health_at(Scope.USER).to_json()[:-1] + b',"revision":9}',
        health_at(Scope.PROJECT).to_json(),
        health_at(Scope.USER).to_json()[:-1],
    ],
)
def test_a_document_under_the_name_or_revision_of_another_is_none(value: bytes) -> None:
    assert view_of(told(value, key_of(health_at(Scope.USER)))).of(ALICE, "search") == []


def test_a_document_in_any_other_form_of_json_is_read_when_it_comes() -> None:
    health = health_at(Scope.USER, revision=4, status=Status.DOWN)
    spaced = b" " + health.to_json().replace(b'":', b'": ')
    record = told(spaced, key_of(health))
    assert record == HealthRecord(key_of(health), 4, health.to_json())
    with pytest.raises(InputError):
        told(spaced, key_of(health_at(Scope.TENANT)))


@pytest.mark.parametrize("key", ["acme|USER|alice", "acme|user|alice|search", "acme", "|USER|alice|search"])
def test_under_what_is_no_key_of_a_document_there_never_is_one(key: str) -> None:
    with pytest.raises(InputError):
        told(health_at(Scope.USER).to_json(), key)


_KEYS = st.lists(st.text("ab|%é", min_size=1, max_size=3), max_size=12, unique=True)


@given(_KEYS, _KEYS, st.integers(1, 4), st.booleans())
def test_pages_of_keys_hold_every_document_of_the_tenant_once_and_in_order(
    tools: list[str], removed: list[str], count: int, asked_before: bool
) -> None:
    mine = [a_health(tenant_id="a", tool_name=tool) for tool in tools]
    others = [a_health(tenant_id=tenant, tool_name=tool) for tool in tools for tenant in ("A", "ab", "a|b")]
    documents = view_of(*mine[::2], *others)
    if asked_before:
        documents.keys_of("a", "", count)
    for one in mine[1::2]:
        documents.take(change(one), 0.0)
    for tool in removed:
        documents.take(gone(a_health(tenant_id="a", tool_name=tool), 2), 0.0)
    found, after = [], ""
    while page := documents.keys_of("a", after, count):
        assert len(page) <= count
        found += page
        after = page[-1]
    assert found == sorted(key_of(one) for one in mine if one.tool_name not in removed)


@given(_KEYS, _KEYS, st.integers(1, 20))
def test_the_tenants_are_those_that_have_a_document(tenants: list[str], left: list[str], count: int) -> None:
    documents = view_of(
        *(a_health(tenant_id=tenant, tool_name=tool) for tenant in tenants for tool in ("x", "y"))
    )
    for tenant in left:
        for tool in ("x", "y"):
            documents.take(gone(a_health(tenant_id=tenant, tool_name=tool), 2), 0.0)
    found = documents.tenants(count)
    there = set(tenants) - set(left)
    assert len(found) == len(set(found)) == min(count, len(there))
    assert set(found) <= there


def test_all_that_stands_of_one_tenant_is_had_at_once_as_it_came() -> None:
    one, other, theirs = (health_at(Scope.USER, scope_id=scope_id) for scope_id in ("bob", "alice", "eve"))
    deleted = health_at(Scope.PROJECT)
    documents = view_of(one, other, theirs.with_changes(tenant_id="acme2"), deleted, gone(deleted, 2))
    assert [(key, revision) for key, revision, _ in documents.standing("acme")] == [
        ("acme|USER|alice|search", 1),
        ("acme|USER|bob|search", 1),
    ]
    assert [ToolHealth.from_json(value) for _, _, value in documents.standing("acme")] == [other, one]
    assert documents.standing("ac") == []

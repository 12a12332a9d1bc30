"""Which document speaks for a caller, and that it is the newest, whatever came in which order."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.lookup import Caller, speaks_for
from agrajag.core.policy import Policy
from agrajag.model.enums import Scope, Status
from agrajag.model.health import OverrideFacet, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key
from agrajag.view.documents import GONE_FOR_SECONDS, HealthDocuments
from agrajag.wire.health_records import HealthChange
from tests.builders import NOW, a_cooldown, a_health

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


def change(health: ToolHealth) -> HealthChange:
    key = health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)
    return HealthChange(key, health.revision, health)


def gone(health: ToolHealth, revision: int) -> HealthChange:
    return HealthChange(change(health).key, revision, None)


def view_of(*changes: ToolHealth | HealthChange) -> HealthDocuments:
    documents = HealthDocuments()
    for one in changes:
        documents.take(one if isinstance(one, HealthChange) else change(one), 0.0)
    return documents


def nearest(documents: HealthDocuments, caller: Caller = ALICE) -> ToolHealth | None:
    return documents.nearest(caller, "search", NOW, Policy())


def _document(scope: Scope, revision: int) -> HealthChange:
    """What the owner says as of a revision is always the same."""
    health = health_at(scope, revision=revision, status=list(Status)[revision % 3])
    return gone(health, revision) if revision % 4 == 3 else change(health)


@given(st.lists(st.builds(_document, st.sampled_from(Scope), st.integers(0, 9)), max_size=25), st.randoms())
def test_any_order_of_records_any_number_of_times_gives_the_same_view(
    changes: list[HealthChange], random: Random
) -> None:
    shuffled = changes * 2
    random.shuffle(shuffled)
    one, other = view_of(*changes), view_of(*shuffled)
    for scope, scope_id in _SCOPES.items():
        newest = max(
            (c for c in changes if c.key == _document(scope, 0).key), key=lambda c: c.revision, default=None
        )
        expected = None if newest is None else newest.health
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

"""Reading health documents: by key, for a caller, and a tenant's in pages."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymongo import AsyncMongoClient

from agrajag.core.lookup import Caller
from agrajag.model.enums import Scope, Status
from agrajag.model.health import OverrideFacet, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key
from agrajag.store import Store, Write
from agrajag.store.health import health_write
from tests.builders import NOW, a_health
from tests.store.strategies import healths

_ON_ONE_STORE = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def _key(health: ToolHealth) -> str:
    return health_key(health.tenant_id, health.scope, health.scope_id, health.tool_name)


@_ON_ONE_STORE
@given(health=healths)
async def test_a_document_comes_back_from_the_store_as_it_was(opened: Store, health: ToolHealth) -> None:
    health = health.with_changes(tenant_id=f"{health.tenant_id[:200]}{uuid4().hex}")
    await opened.health.write([health_write(health)])
    assert await opened.health.get(_key(health)) == health
    assert (await opened.health.page(health.tenant_id, now=NOW)).documents == (health,)


async def test_a_key_that_nobody_wrote_or_that_is_gone_has_no_document(opened: Store) -> None:
    health = a_health(revision=3)
    assert await opened.health.get(_key(health)) is None
    await opened.health.write([health_write(health), Write(_key(health), 4, None)])
    assert await opened.health.get(_key(health)) is None
    assert await opened.health.cascade(Caller("acme", "essays"), "search") == []
    assert (await opened.health.page("acme", now=NOW)).documents == ()
    assert await opened.health.count("acme", now=NOW) == 0


async def test_a_caller_gets_its_own_documents_narrowest_first(opened: Store) -> None:
    mine = [
        a_health(scope=Scope.SESSION, scope_id="session-1"),
        a_health(scope=Scope.USER, scope_id="alice"),
        a_health(scope=Scope.PROJECT, scope_id="essays"),
        a_health(scope=Scope.TENANT, scope_id="acme"),
        a_health(scope=Scope.GLOBAL, scope_id=""),
    ]
    others = [
        a_health(scope=Scope.USER, scope_id="bob"),
        a_health(scope=Scope.PROJECT, scope_id="essays", tool_name="fetch"),
        a_health(scope=Scope.GLOBAL, scope_id="", tenant_id="other"),
    ]
    await opened.health.write(map(health_write, [*reversed(mine), *others]))
    assert await opened.health.cascade(Caller("acme", "essays", "alice", "session-1"), "search") == mine
    assert await opened.health.cascade(Caller("acme"), "search") == mine[3:]


_entries = st.lists(
    st.tuples(
        st.sampled_from(Scope),
        st.text("a$.|%ä\U0001f600", min_size=1, max_size=3),
        st.sampled_from(Status),
        st.none() | st.tuples(st.sampled_from(Status), st.none() | st.sampled_from((-1, 0, 1))),
    ),
    max_size=14,
    unique_by=lambda entry: entry[:2],
)


def _listed(tenant: str, entry: tuple[Scope, str, Status, tuple[Status, int | None] | None]) -> ToolHealth:
    scope, tool, status, overridden = entry
    override = None
    if overridden is not None:
        by_hand, hours = overridden
        until = None if hours is None else NOW + timedelta(hours=hours)
        override = OverrideFacet(status=by_hand, reason="", by="carol", at=NOW, until=until)
    return a_health(
        tenant_id=tenant, scope=scope, tool_name=tool, verdict=VerdictFacet(status=status), override=override
    )


@_ON_ONE_STORE
@given(
    entries=_entries,
    status=st.none() | st.sampled_from(Status),
    scope=st.none() | st.sampled_from(Scope),
    limit=st.integers(1, 5),
)
async def test_pages_together_hold_exactly_what_was_asked_for_in_the_order_of_keys(
    opened: Store, entries: list[Any], status: Status | None, scope: Scope | None, limit: int
) -> None:
    tenant = uuid4().hex
    stored = [_listed(tenant, entry) for entry in entries]
    await opened.health.write(
        map(health_write, [*stored, a_health(tenant_id=f"{tenant}|", status=Status.DOWN)])
    )
    expected = [
        health
        for health in sorted(stored, key=_key)
        if (status is None or health.status_at(NOW) is status) and (scope is None or health.scope is scope)
    ]
    found: list[ToolHealth] = []
    after: str | None = None
    while True:
        page = await opened.health.page(tenant, now=NOW, status=status, scope=scope, after=after, limit=limit)
        assert len(page.documents) <= limit
        found += page.documents
        after = page.next_after
        if after is None:
            break
        assert len(page.documents) == limit
    assert found == expected
    assert await opened.health.count(tenant, now=NOW, status=status, scope=scope) == len(expected)


async def test_a_document_that_is_no_tool_health_hides_no_other(
    opened: Store, store_uri: str, database: str
) -> None:
    await opened.health.write([health_write(a_health())])
    async with AsyncMongoClient[dict[str, Any]](store_uri) as client:
        await client[database].tool_health.insert_one({"_id": "0", "tenantId": "acme", "revision": "broken"})
    assert (await opened.health.page("acme", now=NOW)).documents == (a_health(),)
    assert await opened.health.get("0") is None


async def test_the_status_that_an_override_leaves_behind_is_found_after_its_end(opened: Store) -> None:
    until = datetime(2026, 5, 23, 13, 0, tzinfo=UTC)
    override = OverrideFacet(status=Status.OK, reason="known", by="carol", at=NOW, until=until)
    health = a_health(status=Status.DOWN, override=override)
    await opened.health.write([health_write(health)])
    before = await opened.health.page("acme", now=until - timedelta(seconds=1), status=Status.DOWN)
    after = await opened.health.page("acme", now=until, status=Status.DOWN)
    assert (before.documents, after.documents) == ((), (health,))

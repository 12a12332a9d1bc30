"""Commands that cannot be meant: each is refused with the field that is wrong, and changes nothing."""

from datetime import timedelta
from typing import Any

import pytest

from agrajag.model.enums import Classification, CommandKind, CommandOutcome, Scope, Status
from tests.builders import NOW, a_health
from tests.core.test_command import COMPLETE, give
from tests.core.triaging import Triage, after

K = CommandKind


@pytest.mark.parametrize("kind", K)
@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ({"scope": Scope.TENANT, "scope_id": "globex"}, "scopeId: is not the tenant's"),
        ({"scope": Scope.GLOBAL, "scope_id": "acme"}, "scopeId: GLOBAL has none"),
        ({"scope": Scope.PROJECT, "scope_id": ""}, "scopeId: a PROJECT has one"),
        ({"scope": Scope.USER, "scope_id": ""}, "scopeId: a USER has one"),
        ({"scope": Scope.SESSION, "scope_id": ""}, "scopeId: a SESSION has one"),
        ({"project_id": "novels"}, "projectId: is not the scope's"),
        ({"scope": Scope.USER, "scope_id": "bob", "user_id": "alice"}, "userId: is not the scope's"),
    ],
)
def test_ids_that_do_not_fit_the_scope_are_refused(
    kind: CommandKind, ids: dict[str, Any], reason: str
) -> None:
    tools = Triage()
    done = give(tools, kind, **ids)
    assert (done.outcome, done.reason) == (CommandOutcome.REFUSED, reason)
    assert tools.table == {}


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        (K.SET_UNAVAILABLE, "classification"),
        (K.SET_UNAVAILABLE, "reason"),
        (K.SET_COOLDOWN, "errorSignature"),
        (K.SET_COOLDOWN, "duration"),
        (K.SET_COOLDOWN, "classification"),
        (K.OVERRIDE, "status"),
        (K.OVERRIDE, "reason"),
        (K.DISMISS_INBOX, "inboxItemId"),
    ],
)
def test_a_field_that_a_kind_needs_is_named_where_it_is_missing(kind: CommandKind, field: str) -> None:
    snake = {"errorSignature": "error_signature", "inboxItemId": "inbox_item_id"}.get(field, field)
    tools = Triage()
    without: dict[str, Any] = {snake: None}
    done = give(tools, kind, **without)
    assert (done.outcome, done.reason) == (CommandOutcome.REFUSED, f"{field}: {kind} needs it")
    assert tools.table == {}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (K.SET_UNAVAILABLE, {"classification": Classification.WORKING}),
        (K.SET_UNAVAILABLE, {"classification": Classification.USER_INPUT}),
        (K.SET_UNAVAILABLE, {"classification": Classification.USER_PERMISSION}),
        (K.SET_UNAVAILABLE, {"classification": Classification.USER_SPECIFIC_TECHNICAL}),
        (K.SET_UNAVAILABLE, {"status": Status.OK}),
        (K.SET_UNAVAILABLE, {"expected_recovery_at": NOW}),
        (K.SET_COOLDOWN, {"classification": Classification.WORKING}),
        (K.SET_COOLDOWN, {"duration": timedelta(0)}),
        (K.OVERRIDE, {"until": after(seconds=-1)}),
        (K.OVERRIDE, {"reason": " "}),
    ],
)
def test_what_cannot_be_meant_is_refused(kind: CommandKind, fields: dict[str, Any]) -> None:
    tools = Triage()
    done = give(tools, kind, **fields)
    assert done.outcome is CommandOutcome.REFUSED
    assert tools.table == {}


def test_one_users_credential_is_down_for_that_user_alone() -> None:
    tools = Triage()
    alice: dict[str, Any] = {"scope": Scope.USER, "scope_id": "alice"}
    give(tools, K.SET_UNAVAILABLE, classification=Classification.USER_SPECIFIC_TECHNICAL, **alice)
    assert tools.health(**alice).status is Status.DOWN
    assert len(tools.table) == 1


@pytest.mark.parametrize("kind", [kind for kind in K if kind is not K.DISMISS_INBOX])
def test_global_is_kept_per_tenant_and_no_command_reaches_another_tenants_documents(
    kind: CommandKind,
) -> None:
    tools = Triage()
    everywhere: dict[str, Any] = {"scope": Scope.GLOBAL, "scope_id": ""}
    for tenant in ("acme", "globex"):
        tools.put(a_health(tenant_id=tenant, status=Status.DOWN, **everywhere))
    theirs = tools.health(tenant="globex", **everywhere)
    give(tools, kind, after(seconds=1), **everywhere)
    assert tools.health(tenant="globex", **everywhere) == theirs


def test_every_kind_has_a_complete_example() -> None:
    assert COMPLETE.keys() == set(K)

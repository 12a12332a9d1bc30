"""Which cooldowns are meant by whoever says clear: no others end, and none that is meant is left."""

import pytest

from agrajag.core.clearing import Wanted, clearings
from agrajag.model.enums import Scope
from tests.builders import NOW, a_cooldown, a_health

ALICES = a_health(scope=Scope.USER, scope_id="alice", cooldowns=(a_cooldown(user_id="alice"),))
PROJECT = a_health(
    cooldowns=(
        a_cooldown(),
        a_cooldown(error_signature="http-401", user_id="alice"),
        a_cooldown(error_signature="over", user_id="bob", next_spawn_allowed_at=NOW),
    )
)
SESSION = a_health(scope=Scope.SESSION, scope_id="s-1", cooldowns=(a_cooldown(),))
TENANT = a_health(scope=Scope.TENANT, scope_id="acme", cooldowns=(a_cooldown(),))
ALL = [SESSION, ALICES, PROJECT, TENANT]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (Wanted(), [(SESSION, None), (ALICES, None), (PROJECT, None), (TENANT, None)]),
        (Wanted(user_id="alice"), [(ALICES, None), (PROJECT, "alice")]),
        (Wanted(user_id="bob"), []),
        (Wanted(project_id="essays"), [(PROJECT, None)]),
        (Wanted(project_id="essays", user_id="alice"), [(PROJECT, "alice")]),
        (Wanted(project_id="letters"), []),
        (Wanted(session_id="s-1"), [(SESSION, None)]),
        (Wanted(signature="http-401"), [(PROJECT, None)]),
        (Wanted(signature="over"), []),
    ],
)
def test_a_document_is_cleared_where_a_cooldown_that_lasts_is_meant(
    wanted: Wanted, meant: list[tuple[object, str | None]]
) -> None:
    assert [tuple(found) for found in clearings(ALL, wanted, NOW)] == meant

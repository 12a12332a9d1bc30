from datetime import timedelta

import pytest

from agrajag.client.successes import is_awaited
from agrajag.model.enums import Classification, Status
from agrajag.model.health import LinkFacet, OverrideFacet, ToolHealth, VerdictFacet
from tests.builders import NOW, a_cooldown, a_health

SOON, AGO = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
DOWN = VerdictFacet(status=Status.DOWN, since=AGO)
SAYS_OK = OverrideFacet(status=Status.OK, reason="fine", by="ann", at=AGO)


@pytest.mark.parametrize(
    ("document", "awaited"),
    [
        (a_health(), False),
        (a_health(verdict=VerdictFacet(status=Status.DEGRADED, since=AGO)), True),
        (a_health(verdict=DOWN, override=SAYS_OK), True),
        (a_health(link=LinkFacet(down_since=AGO)), True),
        (a_health(cooldowns=(a_cooldown(user_id=None, next_spawn_allowed_at=SOON),)), True),
        (a_health(cooldowns=(a_cooldown(user_id="alice", next_spawn_allowed_at=SOON),)), True),
        (a_health(cooldowns=(a_cooldown(user_id="bob", next_spawn_allowed_at=SOON),)), False),
        (a_health(cooldowns=(a_cooldown(user_id=None, next_spawn_allowed_at=AGO),)), False),
        (
            a_health(
                cooldowns=(a_cooldown(user_id=None, next_spawn_allowed_at=AGO, job_id="j", lease_until=SOON),)
            ),
            True,
        ),
        (
            a_health(
                cooldowns=(a_cooldown(user_id=None, next_spawn_allowed_at=AGO, job_id="j", lease_until=AGO),)
            ),
            False,
        ),
        (
            a_health(
                cooldowns=(
                    a_cooldown(
                        user_id=None,
                        next_spawn_allowed_at=SOON,
                        last_classification=Classification.USER_INPUT,
                    ),
                )
            ),
            False,
        ),
    ],
)
def test_a_success_is_awaited_while_something_of_the_callers_is_not_well(
    document: ToolHealth, awaited: bool
) -> None:
    assert is_awaited([a_health(), document], "alice", NOW) is awaited


def test_where_nothing_is_known_nobody_waits() -> None:
    assert not is_awaited([], "alice", NOW)

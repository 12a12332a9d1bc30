"""A document that belongs to a list is never passed over unread, whatever it holds."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agrajag.model.enums import Scope, Status
from agrajag.model.health import LinkFacet, OverrideFacet, ToolHealth, VerdictFacet
from agrajag.model.keys import health_key
from agrajag.view.selection import Wanted
from tests.builders import NOW, a_cooldown, a_health

_TIMES = st.sampled_from([NOW, NOW + timedelta(hours=1), NOW + timedelta(hours=3)])
_DOCUMENTS = st.builds(
    lambda verdict, override, until, down_since, cooldowns, updated_at: a_health(
        verdict=VerdictFacet(status=verdict),
        override=override and OverrideFacet(status=override, reason='"x', by="ops", at=NOW, until=until),
        link=LinkFacet(down_since=down_since),
        cooldowns=cooldowns,
        updated_at=updated_at,
    ),
    st.sampled_from(Status),
    st.none() | st.sampled_from(Status),
    st.none() | _TIMES,
    st.none() | _TIMES,
    st.sampled_from([(), (a_cooldown(),)]),
    _TIMES,
)


@given(_DOCUMENTS, st.sets(st.sampled_from(Status), min_size=1))
def test_a_document_that_shows_a_wanted_status_may_be_wanted_by_its_text(
    health: ToolHealth, statuses: set[Status]
) -> None:
    value = ToolHealth.from_json(health.to_json()).to_json()
    for moment in (NOW, NOW + timedelta(hours=2), NOW + timedelta(hours=4)):
        if health.status_at(moment) in statuses:
            assert Wanted(statuses=frozenset(statuses)).may_be("acme|TENANT|acme|search", value)
    assert Wanted(with_cooldowns=True).may_be("acme|TENANT|acme|search", value) == bool(health.cooldowns)


def test_what_never_was_anything_but_ok_is_not_read_for_a_list_of_what_is_down() -> None:
    well, down = a_health().to_json(), a_health(status=Status.DOWN).to_json()
    key = "acme|PROJECT|essays|search"
    wanted = Wanted(statuses=frozenset({Status.DOWN, Status.DEGRADED}))
    assert [wanted.may_be(key, value) for value in (well, down)] == [False, True]


def test_scope_its_id_and_a_part_of_the_tools_name_in_any_case_decide_by_the_key_alone() -> None:
    key = health_key("acme", Scope.USER, "a|b", "MCP search %")
    for wanted, expected in (
        (Wanted(), True),
        (Wanted(scope=Scope.USER, scope_id="a|b", tool_part="mcp SEARCH %"), True),
        (Wanted(scope=Scope.TENANT), False),
        (Wanted(scope_id="a"), False),
        (Wanted(tool_part="%7C"), False),
    ):
        assert wanted.may_be(key, b"{}") is expected, wanted

"""Keys keep identities apart: what one key could mean twice would be another tenant's data."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agrajag.model import keys
from agrajag.model.enums import Scope

_PART = st.text(st.sampled_from("ab|%7C25D-"), min_size=1, max_size=6) | st.text(min_size=1)
_PROJECT = st.none() | st.just("-") | _PART
_SCOPE = st.sampled_from(list(Scope))
_KINDS: dict[str, tuple[Callable[..., str], tuple[st.SearchStrategy[Any], ...]]] = {
    "tool": (keys.tool_key, (_PART, _PART)),
    "health": (keys.health_key, (_PART, _SCOPE, _PART | st.just(""), _PART)),
    "lane": (keys.lane_key, (_PART, _PROJECT)),
    "link": (keys.link_key, (_PART, _PART)),
    "document": (keys.document_key, (_PART, _PROJECT, _PART)),
}


@pytest.mark.parametrize("kind", _KINDS)
def test_two_identities_never_have_the_same_key(kind: str) -> None:
    key, identity = _KINDS[kind]

    @given(st.tuples(*identity), st.tuples(*identity))
    def apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        assert (key(*one) == key(*other)) == (one == other)

    apart()


def test_a_project_whose_name_is_a_dash_does_not_share_the_lane_of_no_project() -> None:
    assert keys.lane_key("acme", None) == "acme|-"
    assert keys.lane_key("acme", "-") != keys.lane_key("acme", None)
    assert keys.document_key("acme", "-", "a") != keys.document_key("acme", None, "a")


@given(st.lists(_PART, min_size=2, max_size=2), _SCOPE, _PART | st.just(""))
@example(["a|b", "%7C"], Scope.USER, "%257C|%25")
def test_the_parts_of_a_key_are_the_identity_it_was_made_of(
    ends: list[str], scope: Scope, scope_id: str
) -> None:
    tenant, tool = ends
    assert keys.parts(keys.health_key(tenant, scope, scope_id, tool)) == (tenant, scope.value, scope_id, tool)
    assert keys.parts(keys.tool_key(tenant, tool)) == (tenant, tool)
    assert keys.parts(keys.lane_key(tenant, tool)) == (tenant, tool)
    assert keys.parts(keys.document_key(tenant, tool, scope_id)) == (tenant, tool, scope_id)


@given(_PART, _PROJECT, st.none() | _PART, st.none() | _PART, _PART)
@example("a|b", None, "50%", None, "c")
def test_the_keys_of_a_caller_are_those_of_each_of_its_scopes_narrowest_first(
    tenant: str, project: str | None, user: str | None, session: str | None, tool: str
) -> None:
    scopes = ((Scope.SESSION, session), (Scope.USER, user), (Scope.PROJECT, project), (Scope.TENANT, tenant))
    expected = [keys.health_key(tenant, scope, part, tool) for scope, part in scopes if part is not None]
    expected.append(keys.health_key(tenant, Scope.GLOBAL, "", tool))
    assert keys.health_keys(tenant, project, user, session, tool) == tuple(expected)


def test_an_ordinary_identity_is_readable_in_its_key() -> None:
    assert keys.tool_key("acme", "mcp_search") == "acme|mcp_search"
    assert keys.health_key("acme", Scope.GLOBAL, "", "mcp_search") == "acme|GLOBAL||mcp_search"
    assert keys.document_key("acme", None, "_vance/agrajag/error-patterns.yaml") == (
        "acme|-|_vance/agrajag/error-patterns.yaml"
    )


def test_a_separator_inside_a_part_is_escaped() -> None:
    assert keys.tool_key("a|b", "50%") == "a%7Cb|50%25"


@given(_PART, _PART, _SCOPE, _PART)
def test_a_key_always_has_as_many_separators_as_its_kind(
    tenant: str, tool: str, scope: Scope, scope_id: str
) -> None:
    assert keys.tool_key(tenant, tool).count("|") == 1
    assert keys.health_key(tenant, scope, scope_id, tool).count("|") == 3

"""What must hold for every sequence of commands among errors and successes."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.command import command
from agrajag.core.drafts import Drafts
from agrajag.core.policy import Policy
from agrajag.core.verdicts import Arrival
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.health import MAX_JOBS, HealthEntry
from tests.builders import a_command
from tests.core.test_command import COMPLETE
from tests.core.test_triage_properties import without_revision
from tests.core.triaging import REFUSED, Triage, after
from tests.model.wire_strategies import records

MAX_REASON = 200

scopes = st.sampled_from(
    [(Scope.PROJECT, "essays"), (Scope.USER, "alice"), (Scope.TENANT, "acme"), (Scope.GLOBAL, "")]
)
commands = st.tuples(
    st.sampled_from(CommandKind),
    scopes,
    st.integers(0, 12).map("c{}".format),
    st.integers(0, 600),
    st.sampled_from([None, "http-5xx", "connect-refused"]),
)


def arrivals_of(sequence: Sequence[Any]) -> list[Arrival[HealthCommand]]:
    """Commands at growing append times; each was given at some moment before."""
    arrivals = []
    for offset, (kind, (scope, scope_id), command_id, seconds, signature) in enumerate(sequence):
        fields = COMPLETE[kind] | {"command_id": command_id, "scope": scope, "scope_id": scope_id}
        if signature is not None:
            fields = fields | {"error_signature": signature}
        at = after(minutes=10, seconds=offset)
        event = a_command(kind, at=after(seconds=seconds), **fields)
        arrivals.append(Arrival(event, command_id, "commands-0", offset, at, int(at.timestamp() * 1000)))
    return arrivals


def failing() -> Triage:
    """A tool that is down, with a job in flight for its project and one for the tenant."""
    tools = Triage()
    tools.send(http_status=503, project_id=None)
    tools.send(**REFUSED)
    tools.send(http_status=503)
    tools.send(http_status=403)
    return tools


def carry_out(tools: Triage, arrivals: Sequence[Arrival[HealthCommand]]) -> None:
    """All of them in one step."""
    drafts = Drafts(tools.table.get)
    for arrival in arrivals:
        command(arrival, drafts, Policy(), arrival.appended_at)
    tools.table.update({draft.key: draft.frozen() for draft in drafts.touched()})


@given(st.lists(commands, max_size=12), st.data())
def test_where_one_fetch_of_commands_ends_and_the_next_begins_never_matters(
    sequence: list[Any], data: st.DataObject
) -> None:
    whole, cut = failing(), failing()
    arrivals = arrivals_of(sequence)
    carry_out(whole, arrivals)
    while arrivals:
        size = data.draw(st.integers(1, len(arrivals)))
        carry_out(cut, arrivals[:size])
        arrivals = arrivals[size:]
    assert without_revision(cut.table) == without_revision(whole.table)


@given(st.lists(commands, max_size=8))
def test_a_repeat_of_all_commands_changes_nothing_that_was_carried_out(sequence: list[Any]) -> None:
    tools = failing()
    for arrival in arrivals_of(sequence):
        carry_out(tools, [arrival])
        before = dict(tools.table)
        carry_out(tools, [arrival])
        assert tools.table == before


@given(st.lists(commands, max_size=12), st.data())
def test_a_fetch_that_is_done_again_after_it_was_written_changes_nothing(
    sequence: list[Any], data: st.DataObject
) -> None:
    tools = failing()
    arrivals = arrivals_of(sequence)
    carry_out(tools, arrivals)
    before = dict(tools.table)
    carry_out(tools, arrivals[data.draw(st.integers(0, len(arrivals))) :])
    assert tools.table == before


@given(st.lists(commands, max_size=12))
def test_what_commands_leave_is_valid_survives_the_wire_and_only_grows(sequence: list[Any]) -> None:
    tools = failing()
    for arrival in arrivals_of(sequence):
        before = dict(tools.table)
        carry_out(tools, [arrival])
        for key, entry in tools.table.items():
            assert HealthEntry.model_validate_json(entry.to_json()) == entry
            assert len(entry.jobs) <= MAX_JOBS
            assert key not in before or entry is before[key] or entry.revision > before[key].revision


@given(st.lists(st.tuples(records(HealthCommand), scopes), min_size=1, max_size=4))
def test_no_command_that_validates_makes_our_own_code_raise(drawn: list[Any]) -> None:
    tools = failing()
    for offset, (event, (scope, scope_id)) in enumerate(drawn):
        ids = {"tenant_id": "acme", "tool_name": "search", "scope": scope, "scope_id": scope_id}
        commanded = tools.take_command(event.with_changes(**ids), after(minutes=10), offset)
        reason = getattr(commanded, "reason", None)
        assert reason is None or len(reason) <= MAX_REASON
    for entry in tools.table.values():
        assert HealthEntry.model_validate_json(entry.to_json()) == entry

"""The log about shadow rules: the first ones at once, the rest together, never a flood."""

from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from agrajag.core.trial import Tried
from agrajag.core.verdicts import Arrival
from agrajag.model.enums import Outcome
from agrajag.model.events import ToolCallError
from agrajag.stream.shadow_log import EVERY, MAX_LINES, ShadowLog
from tests.builders import NOW, a_rule, an_error

_INSTEAD = a_rule("in-force")


def _found(rule_id: str = "ours", **error: Any) -> tuple[Arrival[ToolCallError], Tried]:
    event = an_error(**error)
    arrival = Arrival(event, event.event_id or "", "errors-0", 0, NOW, 0)
    return arrival, Tried(a_rule(rule_id, shadow=True), _INSTEAD, Outcome.COOLING_DOWN)


def test_the_first_error_is_told_at_once_with_its_ids_and_nothing_of_its_content() -> None:
    with capture_logs() as logs:
        ShadowLog().tell([_found(message="secret", body="secret")], NOW)
    assert logs == [
        {
            "event": "shadow_rule_would_decide",
            "log_level": "info",
            "tenant_id": "acme",
            "project_id": "essays",
            "rule_id": "ours",
            "instead_of": "in-force",
            "outcome": "COOLING_DOWN",
            "classification": "UNCLEAR",
            "errors": 1,
            "last_event_id": "event-1",
        }
    ]


def test_what_follows_within_a_minute_is_told_together_after_it() -> None:
    shadow_log = ShadowLog()
    with capture_logs() as logs:
        for second in range(0, 60, 5):
            shadow_log.tell([_found(event_id=f"e{second}")], NOW + timedelta(seconds=second))
        assert len(logs) == 1
        shadow_log.tell([_found(event_id="last")], NOW + EVERY)
    assert [(line["errors"], line["last_event_id"]) for line in logs] == [(1, "e0"), (12, "last")]


@pytest.mark.parametrize("kinds", [MAX_LINES + 5, 5_000])
def test_however_many_rules_and_tenants_there_are_the_lines_are_few_and_no_error_is_left_out(
    kinds: int,
) -> None:
    found = [_found(f"rule-{number}", tenant_id=f"t{number % 7}") for number in range(kinds)]
    with capture_logs() as logs:
        ShadowLog().tell([*found, _found("rule-3", tenant_id="t3")], NOW)
    assert len(logs) == MAX_LINES + 1
    assert (logs[0]["rule_id"], logs[0]["errors"]) == ("rule-3", 2)
    assert sum(line["errors"] for line in logs) == kinds + 1
    assert logs[-1]["event"] == "shadow_rules_would_decide_more"

"""The demo's success and command: what each step claims to do is what it does, and one that did not is told."""

from agrajag.cli.demo.healing import HealingBooks, bundled_healing_steps, not_as_told
from agrajag.core.command_fit import misfit
from agrajag.core.recover import Recovery
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandOutcome, Scope, Status
from agrajag.model.events import ToolCallSucceeded
from agrajag.model.health import ToolHealth
from agrajag.wire.codec import decode
from tests.builders import NOW, a_health
from tests.cli.records import Received
from tests.core.triaging import Triage, after

STEPS = bundled_healing_steps()


def documents(tools: Triage) -> dict[str, ToolHealth]:
    return {key: entry.health for key, entry in tools.table.items() if entry.health is not None}


def test_there_is_a_success_and_a_command_and_both_are_good_records() -> None:
    success, command = STEPS
    assert decode(ToolCallSucceeded, Received(success.succeeded(NOW).to_json())).occurred_at == NOW
    asked = command.asked()
    assert asked is not None
    assert misfit(decode(HealthCommand, Received(asked.to_json())), NOW) is None
    assert success.asked() is None


def test_each_step_does_what_it_claims() -> None:
    tools = Triage()
    for step in STEPS:
        about = step.command or step.success or {}
        down = step.status is Status.OK
        tools.put(
            a_health(
                tenant_id=about["tenantId"], tool_name=about["toolName"], scope=Scope.PROJECT,
                scope_id=step.project_id, status=Status.DOWN if down else Status.OK,
            )
        )  # fmt: skip
        assert not_as_told(step, documents(tools), NOW) == (
            f"{step.document} is {'DOWN' if down else 'OK'}, should be {step.status}"
        )
    success, command = STEPS
    assert tools.recover([(success.succeeded(after(minutes=1)), 1)], after(minutes=1)) == [Recovery.HEALED]
    asked = command.asked()
    assert asked is not None
    done = tools.take_command(asked, after(minutes=1))
    assert getattr(done, "outcome", None) is CommandOutcome.APPLIED
    assert [not_as_told(step, documents(tools), after(minutes=1)) for step in STEPS] == [None, None]


def test_a_document_that_is_not_there_is_told() -> None:
    assert "is unknown, should be OK" in (not_as_told(STEPS[0], {}, NOW) or "")


def test_the_books_are_one_line() -> None:
    told = str(HealingBooks(1, 2, ()))
    assert told == "tools that a success healed: 1, that a person spoke about: 2"

"""A guard answers from memory, counts what it answers, and lets one call try what may work again."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agrajag.client.call import Call
from agrajag.client.guard import Guard
from agrajag.core.admission import Admission, Decision, GuardPolicy, Refusal
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.precheck import precheck
from agrajag.documents.rule_files import bundled_rules
from agrajag.metrics import GUARD_CALLS, GUARD_CHECKS, GUARD_REFUSALS, GUARD_TRIES
from agrajag.model.enums import Outcome
from agrajag.model.health import ToolHealth
from tests.builders import NOW, an_error
from tests.core.triaging import REFUSED, Triage, after
from tests.wire.records import counting

CALL = Call("acme", "search", project_id="essays", user_id="alice")
BOBS = Call("acme", "search", project_id="essays", user_id="bob")
STRICT = GuardPolicy(refuse_down=True, refuse_cooling=True)


class Surroundings:
    """What a guard reads, as a worker would leave it, and the time."""

    def __init__(self) -> None:
        self.tools = Triage()
        self.now = NOW

    def documents_of(self, caller: Caller, tool_name: str) -> Sequence[ToolHealth]:
        found = (self.tools.table.get(key) for key in caller.keys(tool_name))
        return [entry.health for entry in found if entry is not None and entry.health is not None]

    def effective(self, tenant_id: str, project_id: str | None) -> tuple[RuleSet, Policy]:
        return self.tools.rules, self.tools.policy

    def clock(self) -> datetime:
        return self.now

    def guard(self, own: GuardPolicy = STRICT) -> Guard:
        return Guard(self, self.effective, own, clock=self.clock)


def test_what_is_allowed_annotated_and_refused_is_counted() -> None:
    around = Surroundings()
    guard = around.guard()
    with (
        counting(GUARD_CALLS, outcome="allow") as allowed,
        counting(GUARD_CALLS, outcome="allow_annotated") as annotated,
        counting(GUARD_REFUSALS, reason="down") as refused,
    ):
        assert guard.ask(CALL) == Admission()
        around.tools.send(**REFUSED)
        assert guard.ask(CALL).refusal is Refusal.DOWN
        told = guard.ask(CALL, GuardPolicy())
        assert told.decision is Decision.ALLOW_ANNOTATED
        assert told.annotation == guard.annotation(CALL)
        assert guard.annotation(Call("acme", "fetch")) is None
        assert (allowed(), annotated(), refused()) == (1, 1, 1)


def test_after_a_refusal_one_call_tries_and_what_becomes_of_it_decides_for_the_others() -> None:
    around = Surroundings()
    guard = around.guard()
    around.tools.send(**REFUSED)
    assert not guard.ask(CALL).is_allowed
    around.now = after(minutes=6)
    assert guard.ask(CALL).half_open
    waiting = guard.ask(BOBS)
    assert (waiting.refusal, waiting.half_open) == (Refusal.ONE_TRY, False)
    assert waiting.until is not None
    assert around.now < waiting.until <= around.now + timedelta(seconds=30)
    with counting(GUARD_TRIES, end="worked") as worked:
        guard.ended(CALL, worked=True)
        assert worked() == 1
    assert [(one.is_allowed, one.half_open) for one in map(guard.ask, (BOBS, CALL))] == [(True, False)] * 2


def test_a_new_pause_is_a_new_matter_and_somebody_who_only_annotates_tries_nothing() -> None:
    around = Surroundings()
    guard, polite = around.guard(), around.guard(GuardPolicy())
    around.tools.send(**REFUSED)
    around.now = after(minutes=6)
    assert guard.ask(CALL).half_open
    guard.ended(CALL, worked=False)
    assert not guard.ask(CALL).is_allowed
    assert [polite.ask(CALL).half_open, polite.ask(BOBS).is_allowed] == [False, True]
    around.tools.send(around.now, **REFUSED)
    assert guard.ask(CALL).refusal is Refusal.DOWN
    around.now = after(minutes=12)
    assert guard.ask(BOBS).half_open


def test_an_error_is_judged_at_once_by_the_same_decision_as_the_workers() -> None:
    around = Surroundings()
    around.tools.send(**REFUSED)
    event = an_error(**REFUSED)
    with counting(GUARD_CHECKS, outcome="SUPPRESSED", classification="TECHNICALLY_BROKEN") as checked:
        told = around.guard().check(event)
        assert checked() == 1
    documents = around.documents_of(Caller.of(event), "search")
    assert told == precheck(event, event.event_id or "", documents, bundled_rules(), Policy(), NOW)
    assert (told.outcome, told.cooldown_until) == (Outcome.SUPPRESSED, after(minutes=5))
    nameless = event.with_changes(event_id=None)
    ids = {around.guard().check(nameless).event_id for _ in range(2)}
    assert len(ids) == 2

"""What would be decided otherwise if the shadow rules were in force."""

from collections import defaultdict
from datetime import datetime
from typing import NamedTuple

from agrajag.core.drafts import Drafts
from agrajag.core.features import Features
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.model.enums import Classification, Outcome
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry

_WHATEVER_THE_RULE = frozenset({Outcome.PROBE, Outcome.LATE, Outcome.SUPERSEDED})


class Tried(NamedTuple):
    """One error that would be decided by another rule: `rule` instead of `instead_of`; None where none matches.

    `outcome` is what `rule` begins where nothing stands. What really stands was made by the rules in force, and says
    nothing about a world in which others were.
    """

    rule: Rule | None
    instead_of: Rule | None
    outcome: Outcome

    @property
    def classification(self) -> Classification:
        """What the error would be classified as."""
        return self.rule.classification if self.rule is not None else Classification.UNCLEAR


def tried(
    arrival: Arrival[ToolCallError], verdict: Verdict, rules: RuleSet, policy: Policy, clock: datetime
) -> Tried | None:
    """How the shadow rules of `rules` would change the rule behind `verdict`; None where they would not.

    None too where the outcome does not depend on the rule: for probes, and for errors too old to say anything.
    """
    if rules.trial is None or verdict.outcome in _WHATEVER_THE_RULE:
        return None
    rule = rules.trial.first_match(Features(arrival.event))
    if rule is verdict.rule:
        return None
    decided = triage(arrival, Drafts(_nothing), rules.trial, policy, clock)
    if isinstance(decided, Repeat):
        raise AssertionError("where nothing stands nothing was applied before")
    return Tried(rule, verdict.rule, decided.outcome)


def _nothing(_key: str) -> HealthEntry | None:
    return None


class ShadowCount(NamedTuple):
    """How many errors of one tool a change of rule concerns. `users` counts those who are named."""

    tenant_id: str
    tool_name: str
    rule_id: str | None
    instead_of: str | None
    classification: Classification
    outcome: Outcome
    errors: int
    users: int
    first: datetime
    last: datetime
    last_event_id: str


class TrialReport:
    """Counts what shadow rules would have changed about past errors, each taken as if nothing stood."""

    def __init__(self) -> None:
        self.errors_read = 0
        self._counts: dict[tuple[object, ...], ShadowCount] = {}
        self._users: dict[tuple[object, ...], set[str]] = defaultdict(set)

    def take(self, arrival: Arrival[ToolCallError], rules: RuleSet, policy: Policy) -> None:
        """One past error, and the rules of its tenant and project."""
        self.errors_read += 1
        if rules.trial is None:
            return
        decided = triage(arrival, Drafts(_nothing), rules, policy, arrival.appended_at)
        change = (
            tried(arrival, decided, rules, policy, arrival.appended_at)
            if isinstance(decided, Verdict)
            else None
        )
        if change is not None:
            self._count(arrival, change)

    def _count(self, arrival: Arrival[ToolCallError], change: Tried) -> None:
        event = arrival.event
        one = ShadowCount(
            tenant_id=event.tenant_id,
            tool_name=event.tool_name,
            rule_id=change.rule.id if change.rule is not None else None,
            instead_of=change.instead_of.id if change.instead_of is not None else None,
            classification=change.classification,
            outcome=change.outcome,
            errors=event.count,
            users=0,
            first=arrival.appended_at,
            last=arrival.appended_at,
            last_event_id=arrival.event_id,
        )
        key = one[:6]
        if event.user_id is not None:
            self._users[key].add(event.user_id)
        if (known := self._counts.get(key)) is not None:
            newer = one if one.last >= known.last else known
            one = newer._replace(errors=known.errors + one.errors, first=min(known.first, one.first))
        self._counts[key] = one

    def counts(self) -> list[ShadowCount]:
        """The result, the most errors first."""
        found = [one._replace(users=len(self._users[key])) for key, one in self._counts.items()]
        return sorted(found, key=lambda one: (-one.errors, one.tenant_id, one.tool_name, str(one.rule_id)))

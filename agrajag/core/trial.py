"""What would be decided otherwise if the shadow rules were in force."""

from datetime import datetime
from typing import NamedTuple

from agrajag.core.draft import Drafts
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

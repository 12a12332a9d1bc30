"""Explains what Layer 1 does about one error: which rule decides and why, and what begins.

The decision is that of `core.triage`, made on a copy of the documents; only the words are made here. So an explanation
cannot say anything else than what a worker with the same rules and documents does.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from agrajag.core.check import check_result
from agrajag.core.cooldown import BACKOFFS, asked_for, stated_span
from agrajag.core.draft import NO_VERDICT, Draft
from agrajag.core.drafts import Drafts
from agrajag.core.durations import span_words
from agrajag.core.features import Features
from agrajag.core.findings import Finding, findings
from agrajag.core.lookup import USER_CLASSES, Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.core.redact import redacted_line
from agrajag.core.rules import Rule
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival, Repeat, Verdict
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification, HealthAction, Outcome, Scope
from agrajag.model.events import ToolCallError
from agrajag.model.health import Cooldown, HealthEntry, ToolHealth, VerdictFacet

_BEGINS = frozenset(
    {Outcome.MARKED, Outcome.COOLING_DOWN, Outcome.ENQUEUED, Outcome.UNDIAGNOSED, Outcome.UNMARKED}
)
_MAX_HEADER = 80

OUTCOME_WORDS = {
    Outcome.MARKED: "nothing covers it: a status is written and a cooldown begins",
    Outcome.COOLING_DOWN: "nothing covers it: a cooldown begins",
    Outcome.ENQUEUED: "nothing covers it: a diagnosis job and a cooldown begin",
    Outcome.SUPPRESSED: "a cooldown covers it: it is counted, nothing begins",
    Outcome.COALESCED: "a diagnosis of this signature is under way: it joins that job",
    Outcome.ALREADY_DIAGNOSED: "a fresh diagnosis of this signature stands: nothing begins",
    Outcome.LATE: "it is too old to say anything about now: it is counted, nothing begins",
    Outcome.SUPERSEDED: "the tool has worked for this caller since: it is counted, nothing begins",
    Outcome.NO_ROOM: "the document can hold no further cooldown or job: it is counted, nothing begins",
    Outcome.UNMATCHED: "no rule matches: it is counted, nothing begins",
    Outcome.PROBE: "it comes from a probe: it changes nothing",
    Outcome.UNDIAGNOSED: "nothing covers it: a cooldown begins, and no diagnosis, which the settings switch off",
    Outcome.UNMARKED: "nothing covers it: a cooldown begins, and no status DOWN, which the settings switch off",
}
"""What each outcome means for the error."""


class Considered(NamedTuple):
    """One rule of the set beside the error."""

    rule: Rule
    findings: tuple[Finding, ...]
    decides: bool

    @property
    def matches(self) -> bool:
        """Whether everything that the rule asks for holds."""
        return all(finding.holds for finding in self.findings)


class Effects(NamedTuple):
    """What begins with the error; all None where nothing does."""

    cooldown: Cooldown | None = None
    span: timedelta | None = None
    written: VerdictFacet | None = None


class Explanation(NamedTuple):
    """Everything about one error and one set of rules.

    `answer` is what its caller is told; None for a record that was applied before. `trial` is the same with the shadow
    rules in force; None where they would change nothing about the rules.
    """

    arrival: Arrival[ToolCallError]
    rule_set_hash: str
    considered: tuple[Considered, ...]
    decided: Verdict | Repeat
    effects: Effects
    words: tuple[str, ...]
    answer: CheckResult | None
    trial: "Explanation | None"

    @property
    def rule(self) -> Rule | None:
        """The rule that decides."""
        return self.decided.rule if isinstance(self.decided, Verdict) else None


def nothing_stands(_key: str) -> HealthEntry | None:
    """What a table without documents holds."""
    return None


def explain(
    arrival: Arrival[ToolCallError],
    rules: RuleSet,
    policy: Policy,
    clock: datetime,
    read: Callable[[str], HealthEntry | None] = nothing_stands,
) -> Explanation:
    """Explain one error as `triage` would decide it; `read` returns the documents that stand, by default none."""
    drafts = Drafts(read)
    decided = triage(arrival, drafts, rules, policy, clock)
    features = Features(arrival.event)
    rule = decided.rule if isinstance(decided, Verdict) else None
    effects, answer = Effects(), None
    words = ["it was applied before: nothing changes"]
    if isinstance(decided, Verdict):
        effects = _effects(decided, drafts.find(decided.key))
        words = [OUTCOME_WORDS[decided.outcome], *_words(decided, effects, features, policy)]
        documents = _standing(Caller.of(arrival.event).keys(arrival.event.tool_name), drafts)
        answer = check_result(arrival, decided, rules.hash, documents, policy)
    return Explanation(
        arrival=arrival,
        rule_set_hash=rules.hash,
        considered=tuple(
            Considered(one, findings(one.match, features), decides=one is rule) for one in rules.rules
        ),
        decided=decided,
        effects=effects,
        words=tuple(words),
        answer=answer,
        trial=None if rules.trial is None else explain(arrival, rules.trial, policy, clock, read),
    )


def _standing(keys: Iterable[str], drafts: Drafts) -> list[ToolHealth]:
    """The documents as they stand after the decision."""
    frozen = (
        draft.health if draft.touched_at is None else draft.frozen().health for draft in drafts.present(keys)
    )
    return [health for health in frozen if health is not None]


def _effects(verdict: Verdict, target: Draft | None) -> Effects:
    if verdict.outcome not in _BEGINS or verdict.rule is None or target is None:
        return Effects()
    before = target.health.verdict if target.health is not None else NO_VERDICT
    cooldown = target.cooldown(verdict.rule.signature, verdict.user_id)
    span = verdict.cooldown_until - verdict.now if verdict.cooldown_until is not None else None
    return Effects(cooldown, span, None if target.verdict is before else target.verdict)


def _words(verdict: Verdict, effects: Effects, features: Features, policy: Policy) -> list[str]:
    rule = verdict.rule
    if rule is None or verdict.outcome is Outcome.PROBE:
        return []
    words = [f"scope: {_scope_words(verdict, rule.classification)}"]
    if effects.cooldown is not None and effects.span is not None:
        whom = "everybody" if verdict.user_id is None else f"user {verdict.user_id} alone"
        why = "; ".join(_span_words(rule, effects.cooldown.hits, effects.span, features, verdict.now, policy))
        words.append(f"cooldown: {span_words(effects.span)} for {whom}: {why}")
        words += _status_words(rule, verdict, effects)
    elif verdict.cooldown_until is not None:
        words.append(f"cooldown: the one that stands ends {verdict.cooldown_until:%Y-%m-%d %H:%M:%SZ}")
    if verdict.job_id is not None:
        words.append(f"diagnosis: {verdict.job_id}")
    return words


def _scope_words(verdict: Verdict, classification: Classification) -> str:
    why = {
        Scope.SESSION: "a client_ tool lives and dies with its session",
        Scope.USER: f"{classification} is the user's own",
        Scope.PROJECT: "it concerns everybody in the project",
        Scope.TENANT: "no project is named",
        Scope.GLOBAL: "everybody",
    }[verdict.scope]
    if classification in USER_CLASSES and verdict.scope in (Scope.PROJECT, Scope.TENANT):
        why = f"{classification} is the user's own, but no user is named"
    return f"{verdict.scope} {verdict.scope_id}: {why}"


def _span_words(
    rule: Rule, hits: int, span: timedelta, features: Features, now: datetime, policy: Policy
) -> list[str]:
    """Where the length of a cooldown comes from, and what bounded it."""
    words = []
    stated = stated_span(rule, features, now)
    header = rule.cooldown_header
    value = None if header is None else features.header(header)
    if header is not None and value is None:
        words.append(f"the response has no header {header}")
    elif header is not None and value is not None:
        readable = "says" if stated is not None else "asks for no wait that can be read:"
        words.append(f"header {header} {readable} '{redacted_line(value, _MAX_HEADER)}'")
    elif (asked := asked_for(rule, features, now)) is not None:
        words.append(f"the response asks for it: {redacted_line(asked[0].words, _MAX_HEADER)}")
    elif stated is not None:
        words.append("the rule states it")
    if stated is None:
        backoff = BACKOFFS[rule.classification]
        words.append(f"{rule.classification} begins with {span_words(backoff.first)}")
        if hits > 1 and backoff.factor > 1:
            words.append(f"this is the {hits}. in a row, each {backoff.factor} times the last, up to")
            words[-1] += f" {span_words(backoff.limit)}"
        stated = backoff.after(hits)
    if span < stated:
        words.append(f"cut to the longest that is allowed, {span_words(policy.capped(stated))}")
    elif span > stated:
        words.append("raised to the shortest there is")
    return words


def _status_words(rule: Rule, verdict: Verdict, effects: Effects) -> list[str]:
    if (written := effects.written) is not None:
        back = written.expected_recovery_at
        return [f"status: {written.status}" + (f", expected back {back:%Y-%m-%d %H:%M:%SZ}" if back else "")]
    if rule.health_action is HealthAction.NONE:
        return ["status: none is written, the rule has no healthAction"]
    if rule.classification in (Classification.USER_PERMISSION, Classification.USER_INPUT):
        return [f"status: none is written, {rule.classification} never touches one"]
    if rule.classification is Classification.USER_SPECIFIC_TECHNICAL and verdict.scope is not Scope.USER:
        return ["status: none is written, no user is named and others are not to see it"]
    if verdict.unmarked:
        return ["status: none is written, a setting keeps the tool from being marked DOWN"]
    return ["status: none is written, newer or stronger evidence stands against it"]

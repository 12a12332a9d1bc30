"""What the commands about rules print for people. Texts that an error or a rule brought are shown redacted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from agrajag.cli.tables import plain_table
from agrajag.core.durations import span_words
from agrajag.core.explain import Considered, Explanation
from agrajag.core.features import Features
from agrajag.core.findings import status_words
from agrajag.core.listing import Standing, entry_of
from agrajag.core.redact import redacted_line
from agrajag.core.rules import Problem, Rule
from agrajag.core.trial import ShadowCount
from agrajag.model.enums import HealthAction

MANY_RULES = 40
"""From so many rules on, those of which nothing fits the error are left out of its explanation."""
_MAX_CELL = 200
MAX_LINE = 1_000


def problem_line(problem: Problem) -> str:
    """One problem on one line: file, rule, field and reason."""
    return redacted_line(str(problem), MAX_LINE)


def rules_table(standings: Iterable[Standing], *, on_trial: bool = False, packs: bool = False) -> Table:
    """Rules with their place, what they match and do, and where they come from; those of packs only if wanted."""
    where = "would stand" if on_trial else "replaces"
    table = plain_table(["#", "rule", "matches", "classification", "cooldown", "status", "from", where])
    for number, one in enumerate(standings, start=1):
        rule = one.rule
        if rule.pack is not None and not packs:
            continue
        place = ", ".join(one.replaces)
        if on_trial:
            place = (
                f"in place of that of {one.replaces[-1]}" if one.replaces else f"before {one.ahead_of or '-'}"
            )
        table.add_row(
            str(number),
            redacted_line(rule.id, _MAX_CELL),
            redacted_line(match_words(rule), _MAX_CELL),
            rule.classification,
            _cooldown_words(rule),
            _STATUS_WORDS[rule.health_action],
            one.source,
            place,
        )
    return table


_STATUS_WORDS = {
    HealthAction.NONE: "",
    HealthAction.MARK_UNAVAILABLE: "DOWN",
    HealthAction.MARK_DEGRADED: "DEGRADED",
}


def match_words(rule: Rule) -> str:
    """What a rule matches, as its file says it."""
    match = entry_of(rule)["match"]
    return _selector_words(match) or "everything"


def packs_line(standings: Iterable[Standing]) -> str:
    """How many rules of which packs stand among the others."""
    counts = Counter(one.rule.pack for one in standings if one.rule.pack is not None)
    if not counts:
        return "rule packs: none"
    told = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"rule packs, {counts.total():,} rules: {told}"


def _name_of(rule: Rule) -> str:
    return redacted_line(rule.id, _MAX_CELL) + (f" (pack {rule.pack})" if rule.pack is not None else "")


def _selector_words(match: Mapping[str, object]) -> str:
    return "; ".join(f"{name} {_value_words(name, value)}" for name, value in match.items())


def _value_words(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_selector_words(value)})"
    if isinstance(value, list):
        joint = "-" if name == "httpStatusRange" else " & " if name == "all" else " | "
        return joint.join(_value_words("", one) for one in value)
    return str(value)


def _cooldown_words(rule: Rule) -> str:
    if rule.cooldown_header is not None:
        return f"header {rule.cooldown_header}"
    places = [wait.words for wait in rule.waits]
    return ", else ".join([*places, "of its class" if rule.cooldown is None else span_words(rule.cooldown)])


def error_lines(told: Explanation) -> Iterator[str]:
    """Who reported what, in two lines."""
    event, features = told.arrival.event, Features(told.arrival.event)
    whose = [f"tenant {event.tenant_id}"]
    for name, value in (
        ("project", event.project_id),
        ("user", event.user_id),
        ("session", event.session_id),
    ):
        if value is not None:
            whose.append(f"{name} {value}")
    yield f"error {told.arrival.event_id}: tool {event.tool_name}, {', '.join(whose)}"
    exceptions = ", ".join(filter(None, (event.error.exception_type, *event.error.exception_chain)))
    facts = [status_words(features)]
    if exceptions:
        facts.append(f"raised: {redacted_line(exceptions, _MAX_CELL)}")
    if event.error.message:
        facts.append(f"message: {redacted_line(event.error.message, _MAX_CELL)}")
    yield "; ".join(facts)


def considered_table(considered: Sequence[Considered], *, every: bool) -> tuple[Table, int]:
    """Each rule with why it matches or not, and how many were left out: those of which nothing fits, and those of packs
    that do not match."""
    table = plain_table(["#", "rule", "", "why"])
    left_out = 0
    for number, one in enumerate(considered, start=1):
        near = one.matches or (one.rule.pack is None and any(finding.holds for finding in one.findings))
        if not (every or near or len(considered) <= MANY_RULES):
            left_out += 1
            continue
        part = "decides" if one.decides else "would match too" if one.matches else "no"
        table.add_row(str(number), _name_of(one.rule), part, _why(one))
    return table, left_out


def _why(one: Considered) -> str:
    if not one.findings:
        return "matches everything"
    shown = one.findings if one.matches else [finding for finding in one.findings if not finding.holds]
    return "; ".join(finding.why for finding in shown)


def decision_lines(told: Explanation) -> Iterator[str]:
    """Which rule decides, what begins, and what the caller is told."""
    rule, answer = told.rule, told.answer
    if rule is not None:
        yield f"decided by {_name_of(rule)}: {rule.classification}, signature {rule.signature}"
    yield from (f"  {words}" for words in told.words)
    if answer is not None:
        hint = f", {answer.hint!r}" if answer.hint else ""
        yield f"  told to the caller: {answer.outcome}, {answer.error_code}, status {answer.status}{hint}"


def trial_lines(told: Explanation) -> Iterator[str]:
    """What would be otherwise if the shadow rules were in force; nothing where there are none."""
    trial = told.trial
    if trial is None:
        return
    if trial.rule is told.rule:
        yield "with the shadow rules in force: the same rule would decide"
        return
    yield "with the shadow rules in force:"
    yield from (f"  {line}" for line in decision_lines(trial))


def shadow_table(counts: Iterable[ShadowCount]) -> Table:
    """What the shadow rules would have decided, the most frequent first."""
    table = plain_table(
        ["rule", "instead of", "tenant", "tool", "classification", "would be", "last", "last event"],
        numbers=["errors", "users"],
    )
    for one in counts:
        table.add_row(
            one.rule_id or "(none)",
            one.instead_of or "(none)",
            one.tenant_id,
            one.tool_name,
            one.classification,
            one.outcome,
            f"{one.last:%d %b %H:%MZ}",
            one.last_event_id,
            f"{one.errors:,}",
            f"{one.users:,}",
        )
    return table

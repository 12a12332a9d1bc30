"""What one verdict costs beside reading the event that it is about."""

import gc
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from agrajag.core.drafts import Drafts
from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy import Policy
from agrajag.core.rules import Rule, Selectors
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival
from agrajag.documents.pack_files import packed_rules
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.model.enums import Classification
from agrajag.model.events import ToolCallError
from tests.bench.worker import distinct_errors

EVENTS = 2_000
ROUNDS = 9


def measure() -> dict[str, float]:
    """`classify.over_parse`: parsed event → verdict and changed entries, over `validate_json` of the same event.

    `classify.rules_10000_over_12`: the same verdicts with ten thousand rules, over those with the twelve bundled ones.
    `classify.packs_over_twelve`: the same with every rule pack on, over the twelve alone. Each event is about a tool of
    its own, so that nothing is shared between them.
    """
    events = distinct_errors(EVENTS)
    values = [event.to_json() for event in events]
    validate = ToolCallError.__pydantic_validator__.validate_json

    def parse() -> None:
        for value in values:
            validate(value)

    gc.collect()
    gc.freeze()
    deciders = (bundled_rules(), many_rules(), packed_rules())
    parsing, few, many, packed = _best_of(parse, *(_deciding(events, rules) for rules in deciders))
    return {
        "classify.parse_us": parsing / EVENTS * 1e6,
        "classify.decide_us": few / EVENTS * 1e6,
        "classify.over_parse": few / parsing,
        "classify.rules_10000_over_12": many / few,
        "classify.packs_over_twelve": packed / few,
    }


def _deciding(events: Sequence[ToolCallError], rules: RuleSet) -> Callable[[], None]:
    """Verdicts on all events and the entries that they change."""
    policy, now = Policy(), datetime.now(UTC)
    now_ms = int(now.timestamp() * 1000)
    arrivals = [Arrival(event, f"e{n}", "errors-0", n, now, now_ms) for n, event in enumerate(events)]

    def decide() -> None:
        drafts = Drafts(lambda _key: None)
        for arrival in arrivals:
            triage(arrival, drafts, rules, policy, now)
        for draft in drafts.touched():
            draft.frozen()

    return decide


def many_rules(count: int = 10_000) -> RuleSet:
    """The bundled rules behind so many of a tenant that there are `count`; none of the tenant's matches the events.

    All of them have to be asked before the first bundled one: by texts, by codes, by exceptions, and by statuses that
    the events have, with a text.
    """
    bundled = bundled_layer().rules
    kinds: tuple[Callable[[int], Selectors], ...] = (
        lambda n: Selectors(body_contains=(f"error {n} of the backend", f"fault no. {n} ")),
        lambda n: Selectors(error_code=f"E{n}"),
        lambda n: Selectors(exception_types=(f"com.example.tools.Failure{n}", f"tools.errors.Failure{n}")),
        lambda n: Selectors(http_statuses=(400, 599), body_contains=(f"marker {n} of a tenant",)),
    )
    own = [
        Rule(
            f"own-{n}", kinds[n % len(kinds)](n), f"own-{n}", Classification.USER_INPUT, before=bundled[0].id
        )
        for n in range(count - len(bundled))
    ]
    return compiled([bundled, own])


def _best_of(*works: Callable[[], None]) -> list[float]:
    """The shortest of several runs of each, taken in turns, in seconds of this process's CPU."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            started = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - started)
    return best

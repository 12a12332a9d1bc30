"""What one verdict costs beside reading the event that it is about."""

import gc
import time
from collections.abc import Callable
from datetime import UTC, datetime

from agrajag.core.draft import Drafts
from agrajag.core.policy import Policy
from agrajag.core.triage import triage
from agrajag.core.verdicts import Arrival
from agrajag.documents.rule_files import bundled_rules
from agrajag.model.events import ToolCallError
from tests.bench.worker import distinct_errors

EVENTS = 2_000
ROUNDS = 9


def measure() -> dict[str, float]:
    """`classify.over_parse`: parsed event → verdict and changed entries, over `validate_json` of the same event.

    Every event is about a tool of its own, so that nothing is shared between them.
    """
    events = distinct_errors(EVENTS)
    values = [event.to_json() for event in events]
    rules, policy = bundled_rules(), Policy()
    now = datetime.now(UTC)
    now_ms = int(now.timestamp() * 1000)
    arrivals = [Arrival(event, f"e{n}", "errors-0", n, now, now_ms) for n, event in enumerate(events)]
    validate = ToolCallError.__pydantic_validator__.validate_json

    def parse() -> None:
        for value in values:
            validate(value)

    def decide() -> None:
        drafts = Drafts(lambda _key: None)
        for arrival in arrivals:
            triage(arrival, drafts, rules, policy, now)
        for draft in drafts.touched():
            draft.frozen()

    gc.collect()
    gc.freeze()
    best_parse, best_decide = _best_of(parse, decide)
    return {
        "classify.parse_us": best_parse / EVENTS * 1e6,
        "classify.decide_us": best_decide / EVENTS * 1e6,
        "classify.over_parse": best_decide / best_parse,
    }


def _best_of(*works: Callable[[], None]) -> list[float]:
    """The shortest of several runs of each, taken in turns, in seconds of this process's CPU."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            started = time.process_time()
            work()
            best[number] = min(best[number], time.process_time() - started)
    return best

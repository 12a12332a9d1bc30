"""A tenant writes a rule while everything runs: the same failure is judged by another rule seconds later."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

import orjson

from agrajag import bootstrap
from agrajag.cli.demo.reading import Follower
from agrajag.cli.demo.scenarios import DemoRecord, Producer, Scenario, Script
from agrajag.cli.demo.sending import send
from agrajag.clock import utc_now
from agrajag.documents.cascade import RULES_PATH, DocumentName
from agrajag.documents.pushing import planned_push
from agrajag.documents.rule_files import read_layer
from agrajag.model.keys import tool_key
from agrajag.settings import Settings

SCENARIO = "ticket-index-broken"
"""The failure that the tenant's rule is about."""


@dataclass(frozen=True)
class RulingBooks:
    """What came of the rule. `problems` has a line where the failure was not judged by it."""

    changed: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"rules that a tenant wrote while all this ran: {self.changed}"


def bundled_rule() -> str:
    """The tenant's rule file that the package brings along."""
    return resources.files("agrajag").joinpath("defaults/demo/rule.yaml").read_text("utf-8")


async def through_ruling(
    settings: Settings,
    follower: Follower,
    script: Script,
    sent: Counter[str],
    tell: Callable[[str], None],
    patience_seconds: float,
) -> RulingBooks:
    """Fail once, push the rule, and fail again until that is judged by it; `patience_seconds` are for all of it.

    The second failure has one event id, however often it is sent until the worker has taken up the rule.
    """
    deadline = time.monotonic() + patience_seconds
    scenario = next(one for one in script.scenarios if one.name == SCENARIO)
    (rule,) = read_layer(bundled_rule(), "rule.yaml").rules
    before, after = f"{SCENARIO}-before-the-rule", f"{SCENARIO}-after-the-rule"
    first = await _judged(settings, follower, scenario, before, sent, deadline)
    await _push(settings, scenario.tenant_id)
    pushed = time.monotonic()
    second = await _judged(settings, follower, scenario, after, sent, deadline)
    while second not in {rule.id, None}:
        second = await _judged(settings, follower, scenario, after, sent, deadline)
    while not follower.ledger.is_complete(sent) and time.monotonic() < deadline:
        await follower.read_on()
    if (first, second) != (scenario.rule, rule.id):
        problem = f"{scenario.tool_name} was judged by {first} and then by {second}, not by {rule.id}"
        return RulingBooks(0, (problem,))
    tell(
        f"a rule of {scenario.tenant_id} was in force after {time.monotonic() - pushed:.1f} s: "
        f"{scenario.tool_name} was judged by {first}, and is by {second}"
    )
    return RulingBooks(1, ())


async def _judged(
    settings: Settings,
    follower: Follower,
    scenario: Scenario,
    event_id: str,
    sent: Counter[str],
    deadline: float,
) -> str | None:
    """Send the failure once more under this id; the rule that judged it, None if no answer came in time."""
    event = scenario.event | {"eventId": event_id, "occurredAt": utc_now().isoformat()}
    key = tool_key(scenario.tenant_id, scenario.tool_name).encode()
    record = DemoRecord(key, orjson.dumps(event), Producer.KAFKA)
    await send(settings.kafka.connection(), settings.topics.topics(), [record], sent)
    ledger = follower.ledger
    while ledger.verdicts[event_id] < sent[event_id]:
        if time.monotonic() >= deadline:
            return None
        await follower.read_on()
    return ledger.rule_ids[event_id]


async def _push(settings: Settings, tenant_id: str) -> None:
    table = await bootstrap.read_documents(settings)
    plan = planned_push({DocumentName(tenant_id, None, RULES_PATH): bundled_rule()}, table)
    await bootstrap.push_documents(settings, plan, table)

"""A tenant's documents take effect in a running worker, as a whole and soon."""

import asyncio
from datetime import UTC, datetime

import pytest

from agrajag.documents.cascade import Cascade, DocumentName
from agrajag.documents.pushing import planned_push, push
from agrajag.documents.rulebook import Rulebook
from agrajag.documents.topic import read_documents
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Outcome
from agrajag.wire.clients import KafkaConnection
from tests.builders import an_error
from tests.documents.texts import a_rule_file, a_rule_text, rules_at, settings_at
from tests.pipeline.load import errors
from tests.pipeline.runs import Run, ids_of, sent


async def _push(run: Run, documents: dict[DocumentName, str]) -> None:
    connection = KafkaConnection(run.plan.bootstrap_servers)
    table = await read_documents(connection, run.plan.topics)
    await push(connection, run.plan.topics, planned_push(documents, table), table)


async def _send(run: Run, event_id: str, tenant: str) -> None:
    event = an_error(
        event_id=event_id, tenant_id=tenant, occurred_at=datetime.now(UTC), http_status=418, reply_to="me"
    )
    await run.send([sent(event)])


async def _answer(run: Run, event_id: str, tenant: str = "acme") -> CheckResult:
    await _send(run, event_id, tenant)
    return await _answered(run, event_id)


async def _answered(run: Run, event_id: str) -> CheckResult:
    return next(answer for answer in await run.answered({event_id}) if answer.event_id == event_id)


async def test_a_tenants_rule_and_setting_take_effect_live_within_five_seconds(run: Run) -> None:
    await _push(run, {rules_at("globex"): a_rule_file("teapot")})
    await _send(run, "waiting", "globex")
    run.start()
    assert (await _answered(run, "waiting")).rule_id == "teapot"
    assert (await _answer(run, "before")).rule_id == "fallback"
    marking = a_rule_text("teapot", classification="TECHNICALLY_BROKEN", healthAction="markUnavailable")
    await _push(run, {rules_at("acme"): a_rule_file(marking)})
    now = asyncio.get_running_loop().time
    pushed = now()
    last_sent_at = pushed

    async def by_the_new_rule() -> CheckResult | None:
        nonlocal last_sent_at
        last_sent_at = now()
        answer = await _answer(run, f"after-{last_sent_at}")
        return answer if answer.rule_id == "teapot" else None

    answer = await run.settled(by_the_new_rule, 20)
    assert answer.outcome is Outcome.MARKED
    assert last_sent_at - pushed < 5
    assert (await _answer(run, "still", "initech")).rule_id == "fallback"


VERSIONS = 6


def _version(number: int) -> dict[DocumentName, str]:
    """Two tenants' rules, of which every one differs between versions."""
    text = a_rule_file(*(f"rule-{number}-{position}" for position in range(200)))
    essays = {rules_at("acme", "essays"): a_rule_file(f"essay-{number}")}
    return {rules_at("acme"): text, rules_at("globex"): text, settings_at("acme"): f"# {number}"} | essays


def _whole_hashes() -> dict[str, set[str]]:
    """The hashes that each tenant's rule sets can have, whatever part of a push the worker has seen."""
    state: dict[DocumentName, str] = {}
    books = [Rulebook(Cascade(state))]
    for number in range(VERSIONS):
        for name, text in sorted(_version(number).items(), key=lambda item: str(item[0])):
            state[name] = text
            books.append(Rulebook(Cascade(state)))
    return {
        tenant: {
            book.effective(tenant, project)[0].hash
            for book in books
            for project in ("essays", "novels", None)
        }
        for tenant in ("acme", "globex", "initech")
    }


@pytest.mark.slow
async def test_reloading_under_load_no_event_is_judged_by_half_a_rule_set(run: Run) -> None:
    run.start()
    await _answer(run, "started")
    events = errors(400 * VERSIONS)
    for number in range(VERSIONS):
        some = events[number * 400 : (number + 1) * 400]
        await asyncio.gather(_push(run, _version(number)), run.send(map(sent, some), per_second=400))
    answers = await run.answered(ids_of(events))
    whole = _whole_hashes()
    seen = {
        tenant: {answer.rule_set_hash for answer in answers if answer.tenant_id == tenant} for tenant in whole
    }
    assert all(seen[tenant] <= whole[tenant] for tenant in whole)
    assert len(seen["acme"]) > VERSIONS // 2
    assert len(seen["initech"]) == 1

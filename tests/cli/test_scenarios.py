"""The demo's records: what they claim about themselves is true."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from agrajag.cli.demo.run import storms_of
from agrajag.cli.demo.scenarios import Broken, DemoRecord, Producer, Scenario, Script, bundled_script
from agrajag.core.features import Features
from agrajag.core.policy import Policy
from agrajag.documents.pack_files import packed_rules
from agrajag.documents.rule_files import bundled_rules
from agrajag.errors import InputError
from agrajag.model.enums import Classification
from agrajag.model.events import ToolCallError
from agrajag.model.keys import tool_key
from agrajag.wire.codec import decode
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import EMBEDDED_PARTITIONS
from tests.builders import NOW
from tests.cli.records import Received

SCRIPT = bundled_script()


def readable(records: list[DemoRecord]) -> Iterator[tuple[DemoRecord, ToolCallError]]:
    for record in records:
        try:
            yield record, decode(ToolCallError, Received(record.value, record.key))
        except InputError:
            continue


def events_of(scenario: Scenario) -> list[tuple[DemoRecord, ToolCallError]]:
    return list(readable(Script((scenario,), ()).records(NOW)))


def test_every_bundled_rule_has_a_scenario() -> None:
    assert {scenario.rule for scenario in SCRIPT.scenarios} == {rule.id for rule in bundled_rules().rules}


@pytest.mark.parametrize("scenario", SCRIPT.scenarios, ids=lambda scenario: scenario.name)
def test_every_event_of_a_scenario_meets_the_rule_that_it_names(scenario: Scenario) -> None:
    events = events_of(scenario)
    assert len(events) == scenario.count + scenario.sent_twice
    rules = packed_rules()
    met = {rule.id for _, event in events if (rule := rules.first_match(Features(event))) is not None}
    assert met == {scenario.rule}
    assert {record.key for record, _ in events} == {tool_key(scenario.tenant_id, scenario.tool_name).encode()}
    users = {event.user_id for _, event in events}
    assert 1 <= len(users) <= scenario.users


@pytest.mark.parametrize("broken", SCRIPT.broken, ids=lambda broken: broken.name)
def test_every_broken_record_is_refused_for_the_reason_that_it_names(broken: Broken) -> None:
    scenario = SCRIPT.scenarios[0]
    good = set(Script((scenario,), ()).records(NOW))
    (record,) = set(Script((scenario,), (broken,)).records(NOW)) - good
    with pytest.raises(InputError) as refused:
        decode(ToolCallError, Received(record.value, record.key))
    assert refused.value.reason == broken.reason


def test_the_script_is_what_the_demo_promises() -> None:
    records = SCRIPT.records(NOW)
    events = [event for _, event in readable(records)]
    ids = Counter(event.event_id for event in events if event.event_id)
    assert len(records) >= 2_000
    assert len({event.tenant_id for event in events}) == 3
    assert len(records) - len(events) == len(SCRIPT.broken) >= 3
    twice = [event_id for event_id, times in ids.items() if times > 1 and "tool-call-errors" not in event_id]
    assert twice == ["manual-misspelt-0000"]
    assert any(event.tool_name.startswith("client_") and event.session_id for event in events)
    assert max(scenario.count for scenario in SCRIPT.scenarios if scenario.storm) >= 500


def test_storms_are_of_a_class_that_asks_for_a_diagnosis() -> None:
    assert len(storms_of(SCRIPT)) == 2
    classes = {rule.id: rule.classification for rule in bundled_rules().rules}
    storms = [scenario for scenario in SCRIPT.scenarios if scenario.storm]
    assert {classes[storm.rule] for storm in storms} == {Classification.UNCLEAR}


def test_a_producer_on_librdkafka_puts_records_on_wrong_partitions_and_no_other_does() -> None:
    misplaced = {
        record.producer
        for record in SCRIPT.records(NOW)
        if record.producer.place(record.key, EMBEDDED_PARTITIONS)
        != partition_for(record.key, EMBEDDED_PARTITIONS)
    }
    assert misplaced == {Producer.LIBRDKAFKA}


def test_equal_seeds_give_equal_records_and_others_do_not() -> None:
    assert SCRIPT.records(NOW, seed=1) == SCRIPT.records(NOW, seed=1)
    assert SCRIPT.records(NOW, seed=1) != SCRIPT.records(NOW, seed=2)


def test_no_event_is_in_the_future_or_late_by_the_time_a_slow_machine_has_sent_it() -> None:
    now = datetime.now(UTC)
    slow = timedelta(minutes=5)
    times = [event.occurred_at for _, event in readable(SCRIPT.records(now)) if event.occurred_at]
    assert max(times) <= now
    assert min(times) >= now - Policy().late_after + slow

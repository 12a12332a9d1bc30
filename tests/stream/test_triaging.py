"""The triage step over raw records: every record ends in exactly one way, and each way is counted."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from aiokafka import ConsumerRecord
from structlog.testing import capture_logs

from agrajag.core.match import RuleSet, compiled
from agrajag.core.policy import ALL_NAMES, Policy
from agrajag.documents.rule_files import bundled_layer, bundled_rules
from agrajag.metrics import REGISTRY
from agrajag.model.answers import CheckResult
from agrajag.model.enums import Classification, Outcome, Scope, Status
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry, ToolHealth
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.keys import health_key, tool_key
from agrajag.stream.batches import BATCH_BYTES
from agrajag.stream.deciding import Deciding
from agrajag.stream.entries import EntryCodec
from agrajag.stream.memory import PartitionedMemory
from agrajag.stream.steps import StepResult
from agrajag.stream.surroundings import Surroundings
from agrajag.stream.triaging import TriageAttempt
from agrajag.wire.origin import Origins
from agrajag.wire.outputs import Output
from agrajag.wire.partition import partition_for
from agrajag.wire.topics import Topic, Topics
from tests.builders import NOW, a_rule, an_error

TOPICS = Topics("test", 4)
REFUSED: dict[str, Any] = {"exception_type": "httpx.ConnectError"}


class Partition:
    """One partition's step and memory, without Kafka: records in, results out."""

    def __init__(
        self,
        poisoned_tenant: str = "",
        rules: RuleSet | None = None,
        topics: Topics = TOPICS,
        policy: Policy | None = None,
    ) -> None:
        self.now = NOW
        self.topics = topics
        self.codec = EntryCodec()
        self.memory: PartitionedMemory[HealthEntry] = PartitionedMemory(self.codec.decode)
        self.number = partition_for(tool_key("acme", "search").encode(), topics.partitions)
        self.offset = 0
        self.decisions = 0

        def effective(tenant_id: str, _project_id: str | None) -> tuple[RuleSet, Policy]:
            self.decisions += 1
            if tenant_id == poisoned_tenant:
                raise RuntimeError("a bug that only this tenant's records meet")
            return rules or bundled_rules(), policy or Policy()

        self.around = Surroundings(
            topics, effective, Origins(topics.partitions), self.codec, lambda: self.now
        )
        self.step = Deciding(self.around, TriageAttempt)

    def record(self, value: bytes | None, at: datetime = NOW) -> ConsumerRecord:
        """The next record of the partition."""
        self.offset += 1
        return ConsumerRecord(
            topic=self.topics.name(Topic.TOOL_CALL_ERRORS),
            partition=self.number,
            offset=self.offset,
            timestamp=int(at.timestamp() * 1000),
            timestamp_type=1,
            key=b"acme|search",
            value=value,
            checksum=None,
            serialized_key_size=11,
            serialized_value_size=0 if value is None else len(value),
            headers=(),
        )

    def records(self, events: Iterable[ToolCallError]) -> list[ConsumerRecord]:
        return [self.record(event.to_json()) for event in events]

    def run(self, records: list[ConsumerRecord]) -> list[Output]:
        """Step through `records` as the worker does, and keep what changes; all outputs."""
        outputs: list[Output] = []
        while records:
            result = self.take(records)
            outputs += result.outputs
            records = records[result.handled :]
        return outputs

    def take(self, records: list[ConsumerRecord]) -> StepResult[HealthEntry]:
        result = self.step(records, self.memory.view(self.number))
        self.keep(result)
        return result

    def keep(self, result: StepResult[HealthEntry]) -> None:
        """Change memory as the result says."""
        merged = {
            key: (entry.revision if entry else 0, entry)
            for group in result.changes
            for key, entry in group.items()
        }
        self.memory.merge(self.number, merged, self.now.timestamp(), result.untold)


def of(topic: Topic, outputs: Iterable[Output]) -> list[Output]:
    return [output for output in outputs if output.topic == TOPICS.name(topic)]


def answers(outputs: Iterable[Output]) -> list[CheckResult]:
    return [
        CheckResult.model_validate_json(output.value or b"") for output in of(Topic.CHECK_RESULTS, outputs)
    ]


def dead_letters(outputs: Iterable[Output]) -> list[Output]:
    return [output for output in outputs if output.topic == TOPICS.dead_letters(Topic.TOOL_CALL_ERRORS)]


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0


def test_a_fetch_gives_one_document_record_however_many_errors_changed_it() -> None:
    partition = Partition()
    outputs = partition.run(partition.records(an_error(event_id=f"e{n}", http_status=503) for n in range(50)))
    (changed,) = of(Topic.HEALTH_CHANGED, outputs)
    health = ToolHealth.model_validate_json(changed.value or b"")
    assert (health.counters.errors, changed.partition) == (50, partition.number)
    assert len(of(Topic.DIAGNOSIS_JOBS, outputs)) == 1


def test_what_settings_hold_back_is_counted_and_told() -> None:
    partition = Partition(policy=Policy(never_diagnosed=ALL_NAMES, never_down=ALL_NAMES, answer_all=True))
    before = [counted("agrajag_held_back_total", kind=kind) for kind in ("diagnosis", "mark_down")]
    events = [an_error(event_id="e1", http_status=503), an_error(event_id="e2", **REFUSED)]
    outputs = partition.run(partition.records([*events, an_error(event_id="e3", http_status=403)]))
    after = [counted("agrajag_held_back_total", kind=kind) for kind in ("diagnosis", "mark_down")]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1]
    assert of(Topic.DIAGNOSIS_JOBS, outputs) == []
    assert [answer.outcome for answer in answers(outputs)] == [
        Outcome.UNDIAGNOSED,
        Outcome.UNMARKED,
        Outcome.COOLING_DOWN,
    ]


def test_each_way_in_which_a_record_ends_is_counted_once() -> None:
    partition = Partition()
    errors = Topic.TOOL_CALL_ERRORS
    elsewhere = next(
        name
        for name in map(str, range(99))
        if partition_for(tool_key("acme", name).encode(), 4) != partition.number
    )
    first = partition.record(an_error(event_id="first", http_status=503).to_json())
    records = [
        first,
        partition.record(an_error(event_id="second", http_status=503).to_json()),
        partition.record(an_error(event_id="third", tool_name=elsewhere).to_json()),
        partition.record(b"no json"),
        first,
    ]
    watched: dict[str, tuple[str, dict[str, str]]] = {
        "events": ("agrajag_events_total", {"topic": errors}),
        "enqueued": ("agrajag_verdicts_total", {"outcome": "ENQUEUED", "classification": "UNCLEAR"}),
        "coalesced": ("agrajag_verdicts_total", {"outcome": "COALESCED", "classification": "UNCLEAR"}),
        "republished": ("agrajag_republished_total", {"topic": errors}),
        "not_json": ("agrajag_dead_letters_total", {"topic": errors, "reason": "not_json"}),
        "repeats": ("agrajag_repeats_total", {"topic": errors}),
        "jobs": ("agrajag_jobs_total", {"kind": "emitted"}),
    }
    before = {word: counted(name, **labels) for word, (name, labels) in watched.items()}
    partition.run(records)
    after = {word: counted(name, **labels) - before[word] for word, (name, labels) in watched.items()}
    assert after == dict.fromkeys(watched, 1) | {"events": 5}


def test_a_record_that_makes_our_own_code_raise_is_set_aside_alone() -> None:
    partition = Partition(poisoned_tenant="globex")
    poison = partition.record(an_error(tenant_id="globex", tool_name=_tool_of(partition, "globex")).to_json())
    good = partition.records(an_error(event_id=f"e{n}", http_status=503) for n in range(6))
    outputs = partition.run([*good[:3], poison, *good[3:]])
    (letter,) = dead_letters(outputs)
    assert dict(letter.headers)["agrajag-dlq-reason"] == b"processing_failed"
    key = health_key("acme", Scope.PROJECT, "essays", "search").encode()
    entry = partition.memory.view(partition.number).get(key)
    assert entry is not None
    assert entry.health is not None
    assert entry.health.counters.errors == 6


def test_many_undecidable_records_cost_a_few_tries_each_and_never_the_square() -> None:
    partition = Partition(poisoned_tenant="globex")
    tool = _tool_of(partition, "globex")
    events = [
        an_error(event_id=f"e{n}", tenant_id="globex", tool_name=tool)
        if n % 2
        else an_error(event_id=f"e{n}")
        for n in range(400)
    ]
    outputs = partition.run(partition.records(events))
    assert len(dead_letters(outputs)) == 200
    assert partition.decisions <= 6 * 400


def test_changes_of_one_tool_that_fit_into_no_batch_are_made_in_several_steps() -> None:
    partition = Partition()
    events = [
        an_error(
            event_id=f"e{n}", tool_name=_tool_of(partition, "acme", "client_"), session_id=f"{'s' * 240}-{n}",
            http_status=503, message="m" * 400,
        )
        for n in range(500)
    ]  # fmt: skip
    records = partition.records(events)
    handled = []
    while records:
        result = partition.take(records)
        for group in result.changes:
            size = sum(len(key) + len(partition.codec.encode(entry)) for key, entry in group.items() if entry)
            assert size < BATCH_BYTES
        handled.append(result.handled)
        records = records[result.handled :]
    assert len(handled) > 1
    assert sum(handled) == 500
    assert len(partition.memory) == 500


def test_a_repeat_publishes_the_standing_document_and_its_own_job_again() -> None:
    partition = Partition()
    records = partition.records([an_error(event_id="e1", http_status=503)])
    first = partition.run(records)
    again = partition.run(records)
    assert [output.value for output in of(Topic.HEALTH_CHANGED, again)] == [
        output.value for output in of(Topic.HEALTH_CHANGED, first)
    ]
    (job,) = of(Topic.DIAGNOSIS_JOBS, again)
    assert DiagnosisJob.model_validate_json(job.value or b"").claimed_by == "e1"
    assert answers(again) == []


def test_only_those_who_ask_are_answered() -> None:
    partition = Partition()
    outputs = partition.run(
        partition.records(
            [an_error(event_id="e1", http_status=503), an_error(event_id="e2", reply_to="turn-17")]
        )
    )
    (answer,) = answers(outputs)
    assert (answer.event_id, answer.reply_to) == ("e2", "turn-17")


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        ({"probe": True}, Outcome.PROBE),
        ({"http_status": 403}, Outcome.COOLING_DOWN),
        ({"http_status": 503}, Outcome.ENQUEUED),
    ],
)
def test_every_answer_tells_the_status_that_the_caller_would_see(
    report: dict[str, Any], outcome: Outcome
) -> None:
    partition = Partition()
    partition.run(partition.records([an_error(event_id="down", **REFUSED)]))
    (answer,) = answers(partition.run(partition.records([an_error(event_id="e2", reply_to="me", **report)])))
    assert (answer.outcome, answer.status) == (outcome, Status.DOWN)
    assert answer.expected_recovery_at is not None


def test_a_probe_and_an_old_error_are_told_nothing_about_a_class() -> None:
    partition = Partition()
    old = an_error(
        event_id="old", occurred_at=datetime(2026, 5, 23, 11, 30, tzinfo=UTC), reply_to="me", **REFUSED
    )
    probe = an_error(event_id="probe", probe=True, reply_to="me", **REFUSED)
    told = answers(partition.run(partition.records([old, probe])))
    assert Counter((answer.outcome, answer.hint) for answer in told) == {
        (Outcome.LATE, None): 1,
        (Outcome.PROBE, None): 1,
    }


def _tool_of(partition: Partition, tenant_id: str, prefix: str = "tool-") -> str:
    """The name of a tool of this tenant whose records belong to the partition."""
    names = (f"{prefix}{number}" for number in range(999))
    return next(
        name for name in names if partition_for(tool_key(tenant_id, name).encode(), 4) == partition.number
    )


def test_a_shadow_rule_is_counted_and_logged_and_changes_nothing() -> None:
    shadow = a_rule(
        "ours", http_statuses=(503, 503), before="http-5xx", classification=Classification.USER_INPUT, shadow=True
    )  # fmt: skip
    partition, plain = Partition(rules=compiled([bundled_layer().rules, [shadow]])), Partition()
    events = [
        an_error(event_id=f"e{n}", http_status=status, reply_to="turn")
        for n, status in enumerate((503, 500, 503))
    ]
    labels = {"outcome": "COOLING_DOWN", "classification": "USER_INPUT"}
    before = counted("agrajag_shadow_verdicts_total", **labels)
    with capture_logs() as logs:
        outputs = partition.run(partition.records(events))
    assert outputs == plain.run(plain.records(events))
    assert counted("agrajag_shadow_verdicts_total", **labels) - before == 2
    (told,) = [line for line in logs if line["event"] == "shadow_rule_would_decide"]
    assert (told["tenant_id"], told["project_id"], told["rule_id"]) == ("acme", "essays", "ours")
    assert (told["instead_of"], told["errors"], told["last_event_id"]) == ("http-5xx", 2, "e2")

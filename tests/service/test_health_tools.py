"""The tools over health documents: four that send commands, and one that reads its own job's documents."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from agrajag.core.lookup import Caller
from agrajag.errors import InputError
from agrajag.harness import Outcome, Ready
from agrajag.model.answers import HealthCommand
from agrajag.model.enums import Classification, CommandKind, Scope, Status
from agrajag.model.health import HistoryEntry, LastDiagnosis
from agrajag.model.jobs import DiagnosisJob
from agrajag.service.engine import Role
from agrajag.service.health_reading import HealthReading
from agrajag.service.health_tools import read_tool, write_tools
from agrajag.service.tools import Actor, Arguments, Toolbox, ToolRegistry, ToolSpec, ToolUse, actor_of
from agrajag.wire.topics import Topic
from tests.builders import NOW, a_cooldown, a_health, a_job
from tests.service.attempting import TOPICS, Kept, a_run
from tests.service.reading import Documents

_WHERE = {"scope": "PROJECT", "scopeId": "essays", "toolName": "search"}


async def _called(
    spec: ToolSpec,
    arguments: dict[str, Any],
    sender: Kept,
    *,
    job: DiagnosisJob | None = None,
    call: str = "c1",
) -> Outcome | str:
    job = job or a_job()
    use = ToolUse(actor_of(job, a_run(sender, job)), Toolbox([spec]), call)
    admitted = spec.admit(use, arguments)
    return admitted if isinstance(admitted, str) else await spec.act(use, admitted)


def _writer(name: str, sender: Kept) -> ToolSpec:
    (spec,) = (spec for spec in write_tools(sender, TOPICS) if spec.name == f"tool_health_{name}")
    return spec


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "fields"),
    [
        (
            "set_unavailable",
            {
                "classification": "TECHNICALLY_BROKEN",
                "note": "502 since noon",
                "expectedRecoveryAt": "2026-05-23T13:00:00Z",
            },
            CommandKind.SET_UNAVAILABLE,
            {
                "classification": Classification.TECHNICALLY_BROKEN,
                "reason": "502 since noon",
                "expected_recovery_at": NOW + timedelta(hours=1),
            },
        ),
        ("set_available", {}, CommandKind.SET_AVAILABLE, {}),
        (
            "set_cooldown",
            {"errorSignature": "http-5xx", "userId": None, "duration": "PT30M", "classification": "UNCLEAR"},
            CommandKind.SET_COOLDOWN,
            {
                "error_signature": "http-5xx",
                "duration": timedelta(minutes=30),
                "classification": Classification.UNCLEAR,
            },
        ),
        (
            "clear_cooldown",
            {"errorSignature": "http-5xx", "userId": "alice"},
            CommandKind.CLEAR_COOLDOWN,
            {"error_signature": "http-5xx", "user_id": "alice"},
        ),
    ],
)
async def test_a_write_tool_sends_the_command_that_it_means(
    name: str, arguments: dict[str, Any], kind: CommandKind, fields: dict[str, Any]
) -> None:
    sender = Kept()
    outcome = await _called(_writer(name, sender), _WHERE | arguments, sender)
    (output,) = sender.outputs
    command = HealthCommand.from_json(output.value or b"")
    assert outcome == Ready({"commandId": command.command_id, "sent": True})
    assert (output.topic, output.key) == (TOPICS.name(Topic.HEALTH_COMMANDS), b"acme|search")
    assert command == HealthCommand(
        command_id=command.command_id,
        kind=kind,
        tenant_id="acme",
        scope=Scope.PROJECT,
        scope_id="essays",
        tool_name="search",
        by="agrajag-engine/proc-1",
        at=NOW,
        **fields,
    )


async def test_a_call_that_is_made_again_is_the_same_command_and_another_call_is_another() -> None:
    sender = Kept()
    spec = _writer("set_available", sender)
    for call in ("c1", "c1", "c2"):
        await _called(spec, _WHERE, sender, call=call)
    first, again, other = (told["commandId"] for told in sender.told)
    assert first == again != other


async def test_without_a_scope_id_it_is_the_jobs_own() -> None:
    sender = Kept()
    for scope in ("USER", "PROJECT", "TENANT", "GLOBAL"):
        await _called(_writer("set_available", sender), {"scope": scope, "toolName": "search"}, sender)
    assert [told["scopeId"] for told in sender.told] == ["alice", "essays", "acme", ""]


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("set_available", {"scope": "PLANET"}, "scope: Input should be 'SESSION', 'USER'"),
        ("set_available", {"toolName": ""}, "toolName: String should have at least 1"),
        ("set_available", {"scope": "SESSION", "scopeId": None}, "scopeId: a SESSION has one"),
        ("set_available", {"scope": "TENANT", "scopeId": "globex"}, "scopeId: is not the tenant's"),
        ("set_unavailable", {"classification": "BROKEN", "note": "x"}, "classification: Input should be"),
        ("set_unavailable", {"classification": "USER_INPUT", "note": "x"}, "classification: USER_INPUT touches no"),
        ("set_unavailable", {"classification": "WORKING", "note": "x"}, "classification: what works is"),
        ("set_unavailable", {"classification": "INTERMITTENT"}, "note: Field required"),
        ("set_unavailable", {"classification": "INTERMITTENT", "note": "x" * 501}, "note: String should have at most"),
        (
            "set_unavailable",
            {"classification": "INTERMITTENT", "note": "x", "expectedRecoveryAt": "soon"},
            "expectedRecoveryAt: Input should be a valid datetime",
        ),
        (
            "set_unavailable",
            {"classification": "INTERMITTENT", "note": "x", "expectedRecoveryAt": "2026-05-23T11:00:00Z"},
            "expectedRecoveryAt: is over",
        ),
        ("set_cooldown", {"errorSignature": "x", "duration": "long", "classification": "UNCLEAR"}, "duration: "),
        ("set_cooldown", {"errorSignature": "x", "duration": "PT0S", "classification": "UNCLEAR"}, "duration: set"),
        ("clear_cooldown", {}, "errorSignature: Field required"),
    ],
)  # fmt: skip
async def test_what_cannot_be_meant_is_told_and_nothing_is_sent(
    name: str, arguments: dict[str, Any], reason: str
) -> None:
    sender = Kept()
    told = await _called(_writer(name, sender), _WHERE | arguments, sender)
    assert isinstance(told, str)
    assert told.startswith(reason)
    assert sender.outputs == []


_BOB = Actor("bob", "request-7", Caller("acme", "essays"), lambda: NOW)
_DOWN = {**_WHERE, "classification": "TECHNICALLY_BROKEN", "note": "moving house"}
_MARK = "tool_health_set_unavailable"


async def test_an_administrator_with_the_role_marks_a_tool_as_engines_do() -> None:
    sender = Kept()
    registry = ToolRegistry([*write_tools(sender, TOPICS), read_tool(Documents())])
    tools = registry.for_administrator(frozenset({Role.TOOL_HEALTH_WRITER}))
    outcomes = [await tools.call(_BOB, _MARK, _DOWN, call) for call in ("c1", "c1", "c2")]
    first, again, other = (HealthCommand.from_json(output.value or b"") for output in sender.outputs)
    assert outcomes[0] == Ready({"commandId": first.command_id, "sent": True})
    assert first == again
    assert first.command_id != other.command_id
    assert (first.kind, first.by, first.tenant_id) == (CommandKind.SET_UNAVAILABLE, "bob", "acme")
    assert (first.scope_id, first.reason, first.at) == ("essays", "moving house", NOW)


@pytest.mark.parametrize(
    ("roles", "arguments", "told"),
    [
        ({Role.TOOL_HEALTH_READER, Role.TOOL_PROBER}, _DOWN, "tool_health_set_unavailable: there is no such"),
        ({Role.TOOL_HEALTH_WRITER}, _WHERE, "classification: Field required"),
        ({Role.TOOL_HEALTH_WRITER}, _DOWN | {"scope": "TENANT", "scopeId": "globex"}, "is not the tenant's"),
    ],
)
async def test_an_administrator_without_the_role_or_with_nonsense_sends_nothing(
    roles: set[Role], arguments: dict[str, Any], told: str
) -> None:
    sender = Kept()
    registry = ToolRegistry([*write_tools(sender, TOPICS), read_tool(Documents())])
    with pytest.raises(InputError, match=told):
        await registry.for_administrator(frozenset(roles)).call(_BOB, _MARK, arguments, "c1")
    assert sender.outputs == []


async def _read(
    health: HealthReading, arguments: dict[str, Any], job: DiagnosisJob | None = None
) -> dict[str, Any] | str:
    outcome = await _called(read_tool(health), arguments, Kept(), job=job)
    if isinstance(outcome, str):
        return outcome
    assert isinstance(outcome, Ready)
    assert outcome.empty is not outcome.content["present"]
    return dict(outcome.content)


async def test_reading_gives_the_document_that_speaks_for_the_caller() -> None:
    document = a_health(status=Status.DOWN)
    told = await _read(Documents(document), {"toolName": "search"})
    assert isinstance(told, dict)
    assert (told["present"], told["status"], told["scope"]) == (True, "DOWN", "PROJECT")
    assert told["verdict"]["classification"] == "TECHNICALLY_BROKEN"
    assert await _read(Documents(document), {"toolName": "other"}) == {"present": False, "status": "OK"}


async def test_reading_a_scope_gives_that_document_alone() -> None:
    health = Documents(a_health(status=Status.DOWN), a_health(scope=Scope.USER, scope_id="alice"))
    told = [await _read(health, {"toolName": "search", "scope": scope}) for scope in ("USER", "TENANT")]
    assert [answer["present"] for answer in told if isinstance(answer, dict)] == [True, False]
    assert isinstance(told[0], dict)
    assert told[0]["scopeId"] == "alice"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"scope": "USER", "scopeId": "bob"}, "scopeId: is not the caller's own"),
        ({"scope": "PROJECT", "scopeId": "novels"}, "scopeId: is not the caller's own"),
        ({"scope": "TENANT", "scopeId": "globex"}, "scopeId: is not the caller's own"),
        ({"scope": "SESSION", "scopeId": "sess-of-bob"}, "scope: the caller has no SESSION"),
        ({"scopeId": "bob"}, "scopeId: says nothing without a scope"),
        ({"scope": "EVERYBODY"}, "scope: Input should be"),
    ],
)
async def test_nobody_elses_document_is_read(arguments: dict[str, Any], reason: str) -> None:
    bobs = a_health(scope=Scope.USER, scope_id="bob", status=Status.DOWN)
    told = await _read(Documents(bobs), {"toolName": "search"} | arguments)
    assert isinstance(told, str)
    assert told.startswith(reason)


async def test_what_is_read_is_bounded_redacted_and_says_nothing_of_other_users() -> None:
    note = "n" * 400 + " password=hunter2-and-more"
    history = tuple(
        HistoryEntry(at=NOW, last_at=NOW, status=Status.DOWN, by="x", note=note) for _ in range(20)
    )
    cooldowns = [
        a_cooldown(error_signature=f"s{n}", next_spawn_allowed_at=NOW + timedelta(minutes=n), note=note)
        for n in range(40)
    ]
    cooldowns += [a_cooldown(user_id=user) for user in ("alice", "bob", "carol")]
    last = LastDiagnosis(
        classification=Classification.UNCLEAR,
        by="x",
        at=NOW,
        error_signature="s",
        job_id="j",
        user_id="bob",
    )
    document = a_health(history=history, cooldowns=tuple(cooldowns), last_diagnosis=last)
    told = await _read(Documents(document), {"toolName": "search"})
    assert isinstance(told, dict)
    assert (len(told["history"]), len(told["cooldowns"])) == (6, 10)
    assert told["cooldowns"][0]["errorSignature"] == "s39"
    assert told["cooldownsOfOtherUsers"] == 2
    text = orjson.dumps(told).decode()
    assert not any(secret in text for secret in ("hunter2", "bob", "carol"))
    assert len(text) < 16_000


@pytest.mark.parametrize(
    "spec", [*write_tools(Kept(), TOPICS), read_tool(Documents())], ids=lambda spec: spec.name
)
def test_the_schema_that_a_model_sees_is_that_of_the_arguments(spec: ToolSpec) -> None:
    fields = {field.alias: field for field in spec.arguments.model_fields.values()}
    assert issubclass(spec.arguments, Arguments)
    assert spec.input_schema["properties"].keys() == fields.keys()
    assert spec.input_schema["required"] == [name for name, field in fields.items() if field.is_required()]
    assert spec.input_schema["additionalProperties"] is False

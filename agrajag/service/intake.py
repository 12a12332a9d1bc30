"""Reads a record of the jobs topic: whose job it is, and what is left to do where it cannot be read.

A job that cannot be read has been claimed all the same, and nobody else would be asked the same until its lease ends.
So whatever still says which job it is, and about what, is used to answer that it failed.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import orjson
from pydantic import ValidationError

from agrajag.core.times import appended_at
from agrajag.errors import InputError
from agrajag.model.enums import Trigger
from agrajag.model.jobs import ServiceJob
from agrajag.model.keys import lane_key
from agrajag.model.wire_model import Id, WireModel
from agrajag.service.engine import AnyEngine
from agrajag.wire.codec import MAX_VALUE_BYTES, decode
from agrajag.wire.origin import ReceivedRecord, own_place
from agrajag.wire.reasons import DeadLetterReason

Engines: TypeAlias = Mapping[str, AnyEngine]
"""Engines by name."""


class Work(NamedTuple):
    """A job, the engine that answers it, and the record that it came with."""

    engine: AnyEngine
    job: ServiceJob
    record: ReceivedRecord


class Unreadable(NamedTuple):
    """A record for the dead letters. `rest` is what it still tells of its job: enough to say that it failed."""

    record: ReceivedRecord
    error: InputError
    rest: Work | None


Duty: TypeAlias = Work | Unreadable


class _Addressed(WireModel):
    service_type: Id


def read_job(record: ReceivedRecord, engines: Engines) -> Work | Unreadable:
    """What a record of the jobs topic asks for."""
    try:
        name = decode(_Addressed, record).service_type
        engine = engines.get(name)
        if engine is None:
            raise InputError(DeadLetterReason.INVALID_FIELD, f"serviceType: there is no engine {name!r}")
        return Work(engine, decode(engine.input_model, record), record)
    except InputError as error:
        return Unreadable(record, error, _rest(record, engines))


def lane_and_id(duty: Duty) -> tuple[str, str]:
    """In which lane it waits, and under which id. What cannot be read waits for nothing."""
    if isinstance(duty, Work):
        return lane_key(duty.job.tenant_id, duty.job.project_id), duty.job.job_id
    alone = f"unreadable {own_place(duty.record)}"
    return alone, alone


def _rest(record: ReceivedRecord, engines: Engines) -> Work | None:
    if record.value is None or len(record.value) > MAX_VALUE_BYTES:
        return None
    try:
        tree = orjson.loads(record.value)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(tree, dict):
        return None
    named = tree.get("serviceType")
    candidates = [engines[named]] if isinstance(named, str) and named in engines else engines.values()
    for engine in candidates:
        job = _mended(engine, tree, record)
        if job is not None:
            return Work(engine, job, record)
    return None


def _mended(engine: AnyEngine, tree: dict[str, Any], record: ReceivedRecord) -> ServiceJob | None:
    """The job without the fields that cannot be read, if it is one without them; None otherwise."""
    model = engine.input_model
    received = appended_at(record.timestamp).isoformat()
    stand_ins = {"createdAt": received, "leaseUntil": received, "trigger": Trigger.TOOL_CALL_ERROR}
    optional = {field.alias or name for name, field in model.model_fields.items() if not field.is_required()}
    tree = tree | {"serviceType": engine.name}
    try:
        return model.from_json(orjson.dumps(tree))
    except ValidationError as error:
        faulty = {str(fault["loc"][0]) for fault in error.errors(include_input=False) if fault["loc"]}
    if not faulty <= optional | stand_ins.keys():
        return None
    kept = {name: value for name, value in tree.items() if name not in faulty}
    try:
        return model.from_json(
            orjson.dumps(kept | {name: stand_ins[name] for name in faulty & stand_ins.keys()})
        )
    except ValidationError:
        return None

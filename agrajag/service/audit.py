"""Writes the tool calls of a process down: begun, and what came of them, redacted (spec agrajag §6)."""

import json

from pydantic import BaseModel, TypeAdapter, ValidationError

from agrajag.clock import Clock
from agrajag.core.jobs import derived_id
from agrajag.core.redact import redacted_line, redacted_tree
from agrajag.harness import Failed, Outcome, ToolCall
from agrajag.model.enums import ToolCallStatus
from agrajag.model.jobs import ServiceJob
from agrajag.model.processes import MAX_OBSERVATION, ToolCallEvent
from agrajag.model.wire_model import Id
from agrajag.service.records import ProcessRecords

_ID: TypeAdapter[str] = TypeAdapter(Id)


class ProcessAudit:
    """The audit of one process: each method returns when the brokers have the record.

    A call is named by process and call id, so that the same call written twice is one.
    """

    def __init__(self, records: ProcessRecords, job: ServiceJob, process_id: str, clock: Clock) -> None:
        self._records = records
        self._job = job
        self._process_id = process_id
        self._clock = clock

    async def started(self, call: ToolCall) -> None:
        """A call is about to run. Raises TransientError or PermanentError."""
        await self._records.write(self._event(call, ToolCallStatus.STARTED, arguments=_text(call.arguments)))

    async def ended(self, call: ToolCall, outcome: Outcome) -> None:
        """A call has ended, in an observation or a code. Raises as `started`."""
        if isinstance(outcome, Failed):
            event = self._event(call, ToolCallStatus.FAILED, code=outcome.code)
        else:
            event = self._event(call, ToolCallStatus.READY, observation=_text(outcome.content))
        await self._records.write(event)

    def _event(
        self,
        call: ToolCall,
        status: ToolCallStatus,
        *,
        arguments: str | None = None,
        observation: str | None = None,
        code: str | None = None,
    ) -> ToolCallEvent:
        return ToolCallEvent(
            process_id=self._process_id,
            job_id=self._job.job_id,
            tenant_id=self._job.tenant_id,
            project_id=self._job.project_id,
            call_id=_call_id(call.call_id),
            tool_name=call.tool_name,
            status=status,
            arguments=arguments,
            observation=observation,
            code=code,
            at=self._clock(),
        )


def _text(value: object) -> str:
    """The value as redacted JSON of at most 2,000 characters, on one line."""
    # The texts first: a secret of several lines is known by its lines, which JSON writes as one.
    text = json.dumps(redacted_tree(_plain(value)), default=str, ensure_ascii=False)
    return redacted_line(text, MAX_OBSERVATION)


def _plain(value: object) -> object:
    """Arguments as JSON data, where their tool has read them into a model."""
    return value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value


def _call_id(given: str) -> str:
    """The id that the model's API gave the call; another name for it where that can be no id."""
    try:
        return _ID.validate_python(given, strict=True)
    except ValidationError:
        return derived_id("call", given)

"""The two tools by which a model looks at a tool: as the originating user, and as the system (spec agrajag §6.1).

Nobody else can be probed as, and by the diagnosis no other tool than that of its job. What comes back is the spec's
five fields, and as whom and with what the probe was made.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import Field

from agrajag.core.jobs import derived_id
from agrajag.core.redact import redacted_line
from agrajag.diagnosis.probe import MAX_RAW_RESPONSE, ProbeOutcome, Prober, ProbeRefusal, ProbeRequest
from agrajag.diagnosis.probe_book import ProbeBook
from agrajag.harness import Failed, Outcome, Ready
from agrajag.model.enums import ProbeIdentity, Safety
from agrajag.model.jobs import DiagnosisJob
from agrajag.model.wire_model import Id
from agrajag.service.engine import Role
from agrajag.service.tools import Arguments, ToolSpec, ToolUse

PROBE_AS_USER = "tool_probe_as_user"
PROBE_AS_SYSTEM = "tool_probe_as_system"
_PROBER = frozenset({Role.TOOL_PROBER})
_SAMPLE = {
    "type": ["object", "null"],
    "description": "Minimal valid input; it counts only where the operator allows it. Null: the operator's own.",
}
_USER_ID = {
    "type": ["string", "null"],
    "description": "The originating user, who is meant if it is left out; null: no user, as the system.",
}


class ProbeAsSystem(Arguments):
    """Probe without the user's credentials."""

    tool_name: Id
    sample_input: dict[str, Any] | None = None

    @property
    def identity(self) -> ProbeIdentity:
        """As whom the call asks to probe."""
        return ProbeIdentity.SYSTEM


class ProbeAsUser(ProbeAsSystem):
    """Probe as the originating user; an explicit null for the user means the system (spec agrajag §6.1)."""

    user_id: Id | None = Field(default=None)

    @property
    def identity(self) -> ProbeIdentity:
        """As whom the call asks to probe."""
        names_nobody = self.user_id is None and "user_id" in self.model_fields_set
        return ProbeIdentity.SYSTEM if names_nobody else ProbeIdentity.USER


def probe_tools(
    job: DiagnosisJob, book: ProbeBook, when_full: Callable[[], None], seconds: float
) -> tuple[ToolSpec, ToolSpec]:
    """Both tools for one run. `when_full` is called when a probe is asked for and none may be made any more."""

    async def act(use: ToolUse, asked: ProbeAsSystem) -> Outcome:
        found = await book.probe(use.call_id, asked.identity, asked.sample_input)
        if found is ProbeRefusal.LIMIT_REACHED:
            when_full()
        return _outcome(found)

    def fault(use: ToolUse, asked: ProbeAsSystem) -> str | None:
        if asked.tool_name != job.tool_name:
            return "toolName: only the tool of the report can be probed"
        return _fault_of_user(use, asked)

    return _both("the tool of the report", act, fault, seconds)


def free_probe_tools(prober: Prober, probe_seconds: float, seconds: float) -> tuple[ToolSpec, ToolSpec]:
    """Both tools for engines that ask about any tool: of those that an operator has declared for the caller's project.

    A probe takes at most `probe_seconds`, and its call at most `seconds`. How many calls there may be is the engine's.
    """

    async def act(use: ToolUse, asked: ProbeAsSystem) -> Outcome:
        caller, identity = use.actor.caller, asked.identity
        request = ProbeRequest(
            probe_id=derived_id("probe", use.actor.act_id, use.call_id),
            tenant_id=caller.tenant_id,
            project_id=caller.project_id,
            tool_name=asked.tool_name,
            identity=identity,
            user_id=caller.user_id if identity is ProbeIdentity.USER else None,
            sample_input=asked.sample_input,
        )
        return _outcome(await prober.probe(request, probe_seconds))

    return _both("a tool", act, _fault_of_user, seconds)


def _fault_of_user(use: ToolUse, asked: ProbeAsSystem) -> str | None:
    if isinstance(asked, ProbeAsUser) and asked.user_id not in (None, use.actor.caller.user_id):
        return "userId: only the originating user can be probed as"
    return None


def _outcome(found: ProbeOutcome | ProbeRefusal) -> Outcome:
    return Failed(found) if isinstance(found, ProbeRefusal) else Ready(observation(found))


def _both(
    what: str,
    act: Callable[[ToolUse, Any], Awaitable[Outcome]],
    fault: Callable[[ToolUse, Any], str | None],
    seconds: float,
) -> tuple[ToolSpec, ToolSpec]:
    def spec(name: str, description: str, arguments: type[Arguments], **more: Mapping[str, Any]) -> ToolSpec:
        return ToolSpec(
            name=name,
            description=description,
            input_schema={
                "type": "object",
                "properties": {
                    "toolName": {"type": "string", "description": f"{what[0].upper()}{what[1:]}."},
                    **more,
                    "sampleInput": _SAMPLE,
                },
                "required": ["toolName"],
                "additionalProperties": False,
            },
            arguments=arguments,
            act=act,
            fault=fault,
            requires=_PROBER,
            safety=Safety.SAFE_PROBE,
            seconds=seconds,
        )

    return (
        spec(
            PROBE_AS_USER,
            f"Call {what}, read-only, with the originating user's credentials.",
            ProbeAsUser,
            userId=_USER_ID,
        ),
        spec(
            PROBE_AS_SYSTEM,
            f"Call {what}, read-only, without the user's credentials: with the tenant's, if any.",
            ProbeAsSystem,
        ),
    )


def observation(outcome: ProbeOutcome) -> dict[str, Any]:
    """What a model sees of a probe (spec agrajag §6.1)."""
    return {
        "identity": outcome.identity,
        "hadCredentials": outcome.had_credentials,
        "success": outcome.success,
        "durationMs": outcome.duration_ms,
        "statusCode": outcome.status_code,
        "errorSignature": outcome.error_signature,
        "rawResponse": redacted_line(outcome.raw_response, MAX_RAW_RESPONSE),
    }

"""Bounded runs of a model with tools, on the tool runner of Anthropic's SDK, for every engine that asks a model."""

from agrajag.harness.audit import Audit
from agrajag.harness.budgets import Budgets
from agrajag.harness.calls import (
    Admission,
    Admitted,
    EvidenceStatus,
    Failed,
    NotAdmitted,
    Outcome,
    Ready,
    Tool,
    ToolCall,
    ToolCode,
)
from agrajag.harness.model import Model, ModelAccess, NoModel, connect
from agrajag.harness.run import RunResult, Task, run_agent
from agrajag.harness.run_context import RunContext
from agrajag.harness.steps import AgentStep, AskedTool, ModelStep, StepHook, ToolStep
from agrajag.harness.stops import StopKind, StopReason
from agrajag.harness.usage import Prices, Usage

__all__ = [
    "Admission",
    "Admitted",
    "AgentStep",
    "AskedTool",
    "Audit",
    "Budgets",
    "EvidenceStatus",
    "Failed",
    "Model",
    "ModelAccess",
    "ModelStep",
    "NoModel",
    "NotAdmitted",
    "Outcome",
    "Prices",
    "Ready",
    "RunContext",
    "RunResult",
    "StepHook",
    "StopKind",
    "StopReason",
    "Task",
    "Tool",
    "ToolCall",
    "ToolCode",
    "ToolStep",
    "Usage",
    "connect",
    "run_agent",
]

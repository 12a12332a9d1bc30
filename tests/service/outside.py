"""The text of a package that knows Agrajag, and that Agrajag does not know: an engine with models of its own.

It answers a wish by a command about a tool's health, as a repairer would.
"""

import sys
from importlib import invalidate_caches
from pathlib import Path

import pytest

_CODE = """
from typing import Literal

from agrajag.model.answers import HealthCommand
from agrajag.model.enums import CommandKind, Scope
from agrajag.model.jobs import ServiceJob
from agrajag.model.keys import tool_key
from agrajag.model.wire_model import Id
from agrajag.service.engine import Role
from agrajag.wire.topics import Topic


class RepairJob(ServiceJob):
    service_type: Literal["frankie"]
    broken_tool: Id


class RepairOrder(HealthCommand):
    pass


class Frankie:
    name = "frankie"
    roles = frozenset({Role.REPAIR_ACTOR, Role.TOOL_HEALTH_WRITER})
    input_model = RepairJob
    output_model = RepairOrder
    output_topic = Topic.HEALTH_COMMANDS
    closes_itself = True

    def __init__(self, parts):
        self.parts = parts

    def output_key(self, output):
        return tool_key(output.tenant_id, output.tool_name)

    def output_id(self, output):
        return output.command_id

    async def run(self, job, run):
        return self.order(job, f"repaired by {run.recipe.params['tool']} as {run.identity}")

    def failed(self, job, run, why):
        return self.order(job, f"not repaired: {why}")

    def order(self, job, reason):
        return RepairOrder(
            command_id=f"repair-{job.job_id}", kind=CommandKind.SET_AVAILABLE, tenant_id=job.tenant_id,
            scope=Scope.TENANT, scope_id=job.tenant_id, tool_name=job.broken_tool, by="frankie", reason=reason,
        )
"""


def install(
    directory: Path, patch: pytest.MonkeyPatch, *, package: str, entry_points: str, code: str = _CODE
) -> None:
    """Puts the package on the path as an installer would: a module, and what its entry points are."""
    (directory / f"{package}.py").write_text(code)
    info = directory / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agrajag.engines]\n{entry_points}\n")
    patch.syspath_prepend(directory)
    patch.delitem(sys.modules, package, raising=False)
    invalidate_caches()

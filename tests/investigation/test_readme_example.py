"""The README's example of an investigation runs as it stands, but for the address of the model."""

import json
from pathlib import Path
from typing import Any

import pytest

from agrajag.investigation.result import ExecutionStop
from tests.harness.replies import calls, text, use
from tests.harness.scripted_model import KEY, ScriptedModel
from tests.test_readme import README

_API = "https://api.anthropic.com"
_DRAFT = {
    "conclusion": {"summary": "连接池耗尽。", "root_cause": None},
    "analysis": [
        {"type": "OBSERVATION", "statement": "手册有此说明。", "tool_call_ids": ["c-1"], "scope": None}
    ],
    "action_plan": [],
    "recommendations": [],
    "limitations": {"missing_info": [], "checked_scope": []},
}


def example() -> str:
    """The first Python block of the section."""
    section = README.read_text("utf-8").partition("\n## The investigation\n")[2]
    return section.partition("```python\n")[2].partition("```")[0]


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "runbooks").mkdir()
    (tmp_path / "runbooks" / "pool.md").write_text("# 连接池\n\n连接池耗尽时返回 503。\n", "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folders")
async def test_the_example_of_the_readme_comes_to_a_draft() -> None:
    lookup = use("c-1", "lookup_knowledge", input={"query": "连接池"})
    async with ScriptedModel([calls(lookup), text(json.dumps(_DRAFT))]) as server:
        assert _API in example()
        defined: dict[str, Any] = {}
        exec(example().replace(_API, server.url), defined)  # noqa: S102 - our own README
        result = await defined["diagnose"]("为什么返回 503？", KEY)
    assert result.stop_reason is ExecutionStop.COMPLETED
    assert result.draft.conclusion.summary == "连接池耗尽。"

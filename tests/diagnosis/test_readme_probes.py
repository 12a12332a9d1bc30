"""What the README says of probes can be declared, sent and answered as it stands there."""

import re
from pathlib import Path

import pytest

from agrajag.diagnosis.mcp_bounds import McpOverrun
from agrajag.diagnosis.mcp_exchange import McpFailure
from agrajag.documents.target_book import read_targets
from agrajag.model.probing import ProbeCall, ProbeReply

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
DECLARATIONS = re.findall(r"```yaml\n(tools:\n.*?)```", README, re.DOTALL)
RECORDS = re.findall(r'```\n(\{"probeId".*?)```', README, re.DOTALL)


def test_there_are_declarations_and_records() -> None:
    assert len(DECLARATIONS) >= 2
    assert len(RECORDS) == 2


@pytest.mark.parametrize("text", DECLARATIONS)
def test_every_declaration_is_usable(text: str) -> None:
    layer = read_targets(text, "README.md")
    assert layer.tools
    assert layer.problems == ()


def test_the_request_and_its_reply_are_what_is_sent_and_read() -> None:
    asked, replied = RECORDS
    assert ProbeCall.from_json(asked.encode()).probe_id == ProbeReply.from_json(replied.encode()).probe_id


def test_every_failure_of_an_mcp_server_is_told_and_no_other() -> None:
    told = set(re.findall(r"`(Mcp\w+)`", README))
    assert told == {name for name in (*McpFailure, *McpOverrun) if name.startswith("Mcp")}

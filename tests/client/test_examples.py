"""What the README and the adapters show is run as it stands, but for addresses and the model."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import agrajag.client.adapters.functions
import agrajag.client.adapters.langchain
import agrajag.client.adapters.mcp
from agrajag.embedded import EmbeddedKafka
from agrajag.wire.topics import Topic
from tests.client.reporting import Place
from tests.client.stubborn import Stubborn
from tests.diagnosis.mcp_servers import serving

README = Path(__file__).parents[2] / "README.md"
MAX_LINES = 20


def _blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def _of_the_readme() -> list[str]:
    section = README.read_text("utf-8").partition("\n## Add it to an agent\n")[2].partition("\n## ")[0]
    return _blocks(section)


def _of(module: Any) -> str:
    (block,) = _blocks(module.__doc__)
    return str(block)


@pytest.fixture
async def place(kafka: EmbeddedKafka, topic_prefix: str) -> Place:
    return await Place.made(kafka, topic_prefix, Topic.HEALTH_CHANGED, Topic.DOCUMENTS)


async def _run(code: str, place: Place, url: str = "", tries: int = 1) -> None:
    """Runs the code as a program would be, on a thread of its own."""
    names = {
        '"127.0.0.1:9092", tenant="acme"': f'"{place.connection.bootstrap_servers}", tenant="acme", '
        f'topics_prefix="{place.topics.prefix}"',
        '"http://127.0.0.1:8000/mcp"': f'"{url}/mcp"',
        '"anthropic:claude-haiku-5-5"': "MODEL",
    }
    for shown, here in names.items():
        code = code.replace(shown, here)
    await asyncio.to_thread(exec, code, {"MODEL": Stubborn(tries=tries)})


def _guide(search: Callable[[str], str]) -> Any:
    server: MCPServer[Any] = MCPServer("guide", log_level="CRITICAL")
    server.add_tool(search, name="search", description="Searches the guide.")
    return server.streamable_http_app(stateless_http=True)


def _finds(q: str) -> str:
    return f"nothing about {q}"


def test_a_newcomer_needs_fewer_than_twenty_lines() -> None:
    shown = _of_the_readme()
    assert len(shown) == 2
    for block in shown:
        assert len([line for line in block.splitlines() if line.strip()]) < MAX_LINES


async def test_the_examples_of_the_readme_run_and_report_what_fails(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    with_mcp, with_langchain = _of_the_readme()

    def fails(q: str) -> str:
        raise ToolError(f"no index for {q}")

    async with serving(_guide(fails)) as url:
        await _run(with_mcp, place, url)
    assert "no index for towels" in capsys.readouterr().out
    await _run(with_langchain, place, tries=3)
    assert "I give up." in capsys.readouterr().out
    failures = [(event.user_id, event.error.exception_type, event.count) for event in await place.errors()]
    assert sorted(failures) == [("alice", "ConnectionRefusedError", 1), ("alice", "ToolException", 1)]


async def test_the_examples_of_the_adapters_run(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    adapters = agrajag.client.adapters
    await _run(_of(adapters.functions), place)
    assert capsys.readouterr().out.endswith("Dent is a customer\n")
    async with serving(_guide(_finds)) as url:
        await _run(_of(adapters.mcp), place, url)
    assert capsys.readouterr().out.endswith("nothing about towels\n")
    await _run(_of(adapters.langchain), place)
    assert capsys.readouterr().out.endswith("I give up.\n")
    assert await place.errors() == []

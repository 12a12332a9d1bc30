"""A real agent loop of LangChain, with a model that does not know when to stop."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.errors import GraphInterrupt

from agrajag.client.adapters.langchain import ToolHealthMiddleware
from agrajag.client.reporter import ToolErrorReporter
from agrajag.model.enums import Classification, Status
from agrajag.model.health import VerdictFacet
from tests.builders import a_health
from tests.client.attending import Surroundings, unheard
from tests.client.stubborn import Stubborn

TRIES = 85
LIMIT: RunnableConfig = {"recursion_limit": 4 * TRIES}
ASKED: Any = {"messages": [("user", "towels?")]}


class Dead:
    """A tool that fails, and how often it was called."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure
        self.calls = 0

    def tool(self, **options: Any) -> BaseTool:
        def search(q: str) -> str:
            """Searches the guide."""
            self.calls += 1
            raise self.failure

        async def search_async(q: str) -> str:
            return search(q)

        return StructuredTool.from_function(search, coroutine=search_async, name="search", **options)


@pytest.fixture
def reporter() -> Iterator[ToolErrorReporter]:
    reporter = unheard()
    reporter.start()
    yield reporter
    reporter.close(0.01)


def _answers(result: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("form", ["sync", "async"])
async def test_a_dead_tool_is_called_once_and_not_as_often_as_the_model_likes(
    reporter: ToolErrorReporter, form: str
) -> None:
    dead = Dead(httpx.ConnectError("[Errno 111] Connection refused"))
    middleware = ToolHealthMiddleware(Surroundings().attendant(reporter), answers_errors=True, user="alice")
    agent = create_agent(Stubborn(tries=TRIES), [dead.tool()], middleware=[middleware])
    began = datetime.now(UTC)
    result = agent.invoke(ASKED, LIMIT) if form == "sync" else await agent.ainvoke(ASKED, LIMIT)
    first, *others = _answers(result)
    assert dead.calls == 1
    assert len(others) == TRIES - 1
    assert {message.status for message in (first, *others)} == {"error"}
    assert first.content == (
        "search failed: httpx.ConnectError: [Errno 111] Connection refused\n"
        "the backend is unavailable for everybody: do not retry before it is back"
    )
    (told,) = {str(message.content) for message in others}
    start, _, until = told.partition(" Do not call it again before ")
    assert (
        start
        == "search was not called: the backend is unavailable for everybody: do not retry before it is back."
    )
    until_time = datetime.strptime(until[:23], "%Y-%m-%d %H:%M:%S %Z").replace(tzinfo=UTC)
    assert timedelta(minutes=4) < until_time - began < timedelta(minutes=6)
    assert result["messages"][-1].content == "I give up."


def test_a_tool_that_only_needs_better_input_is_called_whenever_the_model_asks(
    reporter: ToolErrorReporter,
) -> None:
    dead = Dead(
        httpx.HTTPStatusError("400", request=httpx.Request("GET", "http://x"), response=httpx.Response(400))
    )
    middleware = ToolHealthMiddleware(Surroundings().attendant(reporter), answers_errors=True)
    agent = create_agent(Stubborn(tries=3), [dead.tool()], middleware=[middleware])
    agent.invoke(ASKED)
    assert dead.calls == 3


def test_what_a_tool_raises_is_raised_on_and_reported(reporter: ToolErrorReporter) -> None:
    dead = Dead(KeyError("x"))
    agent = create_agent(
        Stubborn(tries=1),
        [dead.tool()],
        middleware=[ToolHealthMiddleware(Surroundings().attendant(reporter))],
    )
    with pytest.raises(KeyError):
        agent.invoke(ASKED)
    assert len(reporter) == 1


def test_a_tool_that_answers_its_own_errors_is_reported_all_the_same(reporter: ToolErrorReporter) -> None:
    dead = Dead(ToolException("upstream said 502"))
    middleware = ToolHealthMiddleware(Surroundings().attendant(reporter))
    agent = create_agent(Stubborn(tries=1), [dead.tool(handle_tool_error=True)], middleware=[middleware])
    (answer,) = _answers(agent.invoke(ASKED))
    assert (answer.content, answer.status) == ("upstream said 502", "error")
    assert len(reporter) == 1


def test_a_call_that_never_came_to_the_tool_and_a_pause_for_a_person_are_no_failures_of_it(
    reporter: ToolErrorReporter,
) -> None:
    middleware = ToolHealthMiddleware(Surroundings().attendant(reporter))
    dead = Dead(GraphInterrupt())
    wrong = create_agent(Stubborn(tries=1, arguments={"wrong": 1}), [dead.tool()], middleware=[middleware])
    (answer,) = _answers(wrong.invoke(ASKED))
    assert answer.status == "error"
    asking = create_agent(Stubborn(tries=1), [dead.tool()], middleware=[middleware])
    asking.invoke(ASKED)
    assert (dead.calls, len(reporter)) == (1, 0)


@pytest.mark.parametrize("form", ["sync", "async"])
async def test_the_model_is_shown_what_is_known_against_a_tool(
    reporter: ToolErrorReporter, form: str
) -> None:
    now = datetime.now(UTC)
    verdict = VerdictFacet(
        status=Status.DEGRADED, since=now, evidence_at=now, classification=Classification.UNCLEAR, note="slow"
    )
    known = Surroundings(a_health(tenant_id="acme", tool_name="search", verdict=verdict))
    model = Stubborn(tries=0)
    agent = create_agent(
        model, [Dead(KeyError()).tool()], middleware=[ToolHealthMiddleware(known.attendant(reporter))]
    )
    _ = agent.invoke(ASKED) if form == "sync" else await agent.ainvoke(ASKED)
    (shown,) = model.shown
    assert shown.startswith("Searches the guide.\n\nWarning: intermittent, recent failures, since ")
    assert shown.endswith(", slow")

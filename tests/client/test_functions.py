import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from agrajag.client.adapters.functions import guarded
from agrajag.client.refused import ToolRefused
from agrajag.client.reporter import ToolErrorReporter
from agrajag.core.admission import GuardPolicy, Refusal
from agrajag.model.enums import Classification, Status
from agrajag.model.health import VerdictFacet
from tests.builders import a_health
from tests.client.attending import Surroundings, unheard


@pytest.fixture
def reporter() -> Iterator[ToolErrorReporter]:
    reporter = unheard()
    reporter.start()
    yield reporter
    reporter.close(0.01)


def test_a_function_works_as_before_and_what_it_raises_or_returns_as_failed_is_reported(
    reporter: ToolErrorReporter,
) -> None:
    @guarded(Surroundings().attendant(reporter))
    def look_up(name: str) -> str | httpx.Response:
        """Looks a customer up."""
        if name == "nobody":
            raise KeyError(name)
        return httpx.Response(500) if name == "broken" else name

    assert (look_up.__name__, look_up.__doc__) == ("look_up", "Looks a customer up.")
    assert look_up("Dent") == "Dent"
    assert len(reporter) == 0
    assert isinstance(look_up("broken"), httpx.Response)
    with pytest.raises(KeyError, match="nobody"):
        look_up("nobody")
    assert len(reporter) == 2


async def test_a_coroutine_works_as_before_and_a_cancellation_is_no_failure_of_the_tool(
    reporter: ToolErrorReporter,
) -> None:
    @guarded(Surroundings().attendant(reporter), "crm")
    async def look_up(name: str) -> str:
        if name == "nobody":
            raise KeyError(name)
        if name == "slow":
            raise asyncio.CancelledError
        return name

    assert await look_up("Dent") == "Dent"
    with pytest.raises(asyncio.CancelledError):
        await look_up("slow")
    assert len(reporter) == 0
    with pytest.raises(KeyError):
        await look_up("nobody")
    assert len(reporter) == 1


def test_a_dead_tool_is_not_called_again_and_the_caller_is_told_why(reporter: ToolErrorReporter) -> None:
    calls = []

    @guarded(Surroundings().attendant(reporter), "crm", who=lambda _, user: {"user": user})
    def look_up(name: str, user: str) -> str:
        calls.append(user)
        raise ConnectionRefusedError("refused")

    with pytest.raises(ConnectionRefusedError):
        look_up("Dent", user="alice")
    with pytest.raises(ToolRefused, match="crm was not called: the backend is unavailable") as refused:
        look_up("Dent", user="alice")
    assert refused.value.admission.refusal is Refusal.DOWN
    assert calls == ["alice"]


@pytest.mark.parametrize(("own", "refused"), [(GuardPolicy(refuse_down=True), True), (GuardPolicy(), False)])
def test_what_is_known_to_be_down_is_not_called_if_the_caller_wants_it_so(
    reporter: ToolErrorReporter, own: GuardPolicy, refused: bool
) -> None:
    now = datetime.now(UTC)
    verdict = VerdictFacet(
        status=Status.DOWN, since=now, evidence_at=now, classification=Classification.TECHNICALLY_BROKEN
    )
    known = Surroundings(a_health(tenant_id="acme", tool_name="crm", verdict=verdict))

    @guarded(known.attendant(reporter, own), "crm")
    def look_up() -> str:
        return "found"

    if refused:
        with pytest.raises(ToolRefused, match="It is not known when it will work again"):
            look_up()
    else:
        assert look_up() == "found"

"""MCP servers that are started as programs: each way to misbehave has a name, an end, and leaves nothing behind."""

import asyncio
import os
import resource
import sys
from pathlib import Path
from typing import Any

import pytest

from agrajag.core.targets import (
    CredentialForm,
    CredentialRef,
    Credentials,
    McpCall,
    SecretStore,
    SentAs,
    Target,
)
from agrajag.diagnosis.adapter import RawOutcome, Secret
from agrajag.diagnosis.mcp_target import McpAdapter
from agrajag.diagnosis.probe import ProbeRefusal
from tests.diagnosis.carrying import LOOPBACK, REQUEST
from tests.waiting import eventually

PROGRAM = str(Path(__file__).with_name("mcp_program.py"))
IN_TIME = 30.0
"""For a server that answers: the SDK alone takes seconds to import on a busy machine."""
TOO_LONG = 1.0


def target(behaviour: str, *arguments: str, tool: str = "search", **changes: Any) -> Target:
    command = (sys.executable, PROGRAM, behaviour, *arguments)
    return Target("search", "tools.yaml", McpCall(tool, command=command, call_tool=True), **changes)


async def probed(target: Target, seconds: float, credential: Secret | None = None) -> RawOutcome:
    outcome = await McpAdapter(LOOPBACK, [sys.executable]).call(
        target, credential, {"q": "tea"}, REQUEST, seconds
    )
    assert isinstance(outcome, RawOutcome)
    return outcome


def living(numbers: list[int]) -> list[int]:
    """Those of these processes that still run; a zombie does not."""
    return [
        number
        for number in numbers
        if (state := Path(f"/proc/{number}/stat")).exists() and ") Z" not in state.read_text()
    ]


async def test_a_healthy_program_is_asked_and_its_answer_kept() -> None:
    outcome = await probed(target("healthy"), IN_TIME)
    assert (outcome.ok, outcome.body, outcome.status) == (True, b"nothing about tea", None)


async def test_a_banner_before_the_first_message_is_only_noise() -> None:
    assert (await probed(target("noisy"), IN_TIME)).body == b"nothing about tea"


async def test_a_program_gets_a_search_path_and_its_credential_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGRAJAG_KAFKA__SASL_PASSWORD", "ours")
    credentials = Credentials(
        user=CredentialRef(SecretStore.USER_VAULT, "search"),
        sent_as=SentAs(CredentialForm.ENVIRONMENT, "SIRIUS_TOKEN"),
    )
    declared = target("healthy", tool="environment", credentials=credentials)
    outcome = await probed(declared, IN_TIME, Secret("theirs"))
    variables = dict(pair.split("=", 1) for pair in outcome.body.decode().split())
    variables.pop("LC_CTYPE", None)  # set by Python itself in an environment that names no locale
    assert variables == {"PATH": "/usr/local/bin:/usr/bin:/bin", "SIRIUS_TOKEN": "theirs"}


async def test_a_program_that_ends_in_the_handshake_is_named_with_its_last_words() -> None:
    outcome = await probed(target("dies"), IN_TIME)
    assert not outcome.ok
    assert outcome.exception_type == "McpServerEnded"
    assert "(1)" in (outcome.message or "")
    assert b"no licence for Sirius" in outcome.body


async def test_a_program_that_does_not_speak_mcp_is_named_with_what_it_prints() -> None:
    outcome = await probed(target("chatter"), TOO_LONG)
    assert outcome.exception_type == "McpNotSpoken"
    assert outcome.exception_chain == ("TimeoutError",)
    assert outcome.body.startswith(b"starting up ...")


async def test_a_program_that_never_answers_has_timed_out() -> None:
    outcome = await probed(target("mute"), TOO_LONG)
    assert (outcome.ok, outcome.exception_type) == (False, "TimeoutError")


@pytest.mark.parametrize(
    ("behaviour", "name"),
    [("giant", "McpMessageTooLarge"), ("torrent", "McpTooMuchSaid"), ("pings", "McpTooManyMessages")],
)
async def test_a_program_is_not_heard_beyond_a_bound(behaviour: str, name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await probed(target(behaviour), IN_TIME)
    assert (outcome.ok, outcome.exception_type) == (False, name)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # kB


async def test_a_stubborn_program_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    outcome = await probed(target("stubborn", str(numbers)), 5.0)
    assert outcome.exception_type == "TimeoutError"
    both = [int(number) for number in numbers.read_text().split()]
    assert len(both) == 2
    await eventually(lambda: not living(both))


async def test_a_cancelled_probe_leaves_no_process_behind(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    probing = asyncio.create_task(probed(target("stubborn", str(numbers)), IN_TIME))
    await eventually(lambda: numbers.exists() and numbers.read_text().endswith("\n"))
    both = [int(number) for number in numbers.read_text().split()]
    assert living(both) == both
    probing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probing
    await eventually(lambda: not living(both))


async def test_only_programs_of_the_operators_list_are_started(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    for listed in ([], ["python"], [os.path.basename(sys.executable)], [PROGRAM]):
        refused = await McpAdapter(LOOPBACK, listed).call(
            target("stubborn", str(numbers)), None, {}, REQUEST, 5.0
        )
        assert refused is ProbeRefusal.COMMAND_REFUSED
    relative = Target("search", "tools.yaml", McpCall("search", command=("python", PROGRAM)))
    assert (
        await McpAdapter(LOOPBACK, ["python"]).call(relative, None, {}, REQUEST, 5.0)
        is ProbeRefusal.COMMAND_REFUSED
    )
    assert not numbers.exists()


async def test_a_credential_that_a_program_cannot_be_given_breaks_the_declaration() -> None:
    refused = await McpAdapter(LOOPBACK, [sys.executable]).call(
        target("mute"), Secret("theirs"), {}, REQUEST, 5.0
    )
    assert refused is ProbeRefusal.TARGET_BROKEN


async def test_a_listed_program_that_is_not_there_is_an_outcome(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    declared = Target("search", "tools.yaml", McpCall("search", command=(missing,)))
    outcome = await McpAdapter(LOOPBACK, [missing]).call(declared, None, {}, REQUEST, 5.0)
    assert isinstance(outcome, RawOutcome)
    assert (outcome.ok, outcome.exception_type) == (False, "FileNotFoundError")

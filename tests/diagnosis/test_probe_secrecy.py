"""Nothing secret of a response is shown: neither what stands in it, nor the very credential it was asked with."""

import base64
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from structlog.testing import capture_logs

from agrajag.diagnosis.credentials import secret_path
from agrajag.diagnosis.probe import ProbeRefusal
from tests.core.secrets import PLANTED
from tests.diagnosis.probe_cases import a_cascade, a_request, made, probes, search_at, tools_text
from tests.diagnosis.tool_servers import ToolServer, answers

_PROGRAM = str(Path(__file__).with_name("mcp_program.py"))
_TOKEN = "sirius-0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5"
_LINES = [planted for planted in PLANTED if "\n" not in planted.leaking and planted.leaking.isascii()]


@pytest.mark.parametrize("planted", PLANTED[:: max(1, len(PLANTED) // 40)], ids=lambda planted: planted.kind)
async def test_a_secret_in_the_body_of_a_response_is_not_shown(planted: Any) -> None:
    async with ToolServer(answers(500, f"failed: {planted.leaking}\n".encode())) as server:
        found = await made(probes(search_at(server.url())))
        assert planted.secret not in repr(found)
        assert "[redacted]" in found.raw_response


@pytest.mark.parametrize("planted", _LINES[:: max(1, len(_LINES) // 25)], ids=lambda planted: planted.kind)
@pytest.mark.parametrize("header", ["Location", "WWW_Authenticate", "X_Debug"])
async def test_a_secret_in_a_header_of_a_response_is_not_shown(planted: Any, header: str) -> None:
    async with ToolServer(answers(401, b"no", **{header: f"see {planted.leaking}"})) as server:
        assert planted.secret not in repr(await made(probes(search_at(server.url()))))


@pytest.mark.parametrize("planted", _LINES[:: max(1, len(_LINES) // 25)], ids=lambda planted: planted.kind)
async def test_a_secret_in_the_address_of_a_redirect_is_not_shown(planted: Any) -> None:
    async with ToolServer(
        answers(302, b"", Location=f"https://other.example.com/?x={planted.leaking}")
    ) as server:
        assert planted.secret not in repr(await made(probes(search_at(server.url()))))


@pytest.mark.parametrize(
    "told",
    [
        "{secret}", "got '{secret}'", "{quoted}", "{plus}", '{{"k": {json}}}', "{base64}", "{bare64}", "Basic {basic}",
        "{password}", "{half}{half2}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["body", "header", "location"])
async def test_the_very_credential_is_not_shown_in_whatever_spelling_it_comes_back(
    told: str, place: str, tmp_path: Path
) -> None:
    password = 'plain words / & "quotes" ä'
    secret = f"alice:{password}"
    _keep(tmp_path, secret)
    coded = base64.b64encode(secret.encode()).decode()
    text = told.format(
        secret=secret, quoted=quote(secret, safe=""), plus=quote_plus(secret), json=json.dumps(secret), basic=coded,
        base64=base64.b64encode(password.encode()).decode(), bare64=coded.rstrip("="), password=password,
        half=secret[:9], half2=secret[9:],
    )  # fmt: skip
    header = text.encode().decode("latin-1")
    behaviour = {
        "body": answers(401, text.encode()),
        "header": answers(401, b"", WWW_Authenticate=header),
        "location": answers(302, b"", Location=f"https://other.example.com/?x={header}"),
    }[place]
    async with ToolServer(behaviour) as server:
        cascade = search_at(server.url(), credentials={"system": {"file": "search"}, "sentAs": "basic"})
        shown = repr(await made(probes(cascade, directory=tmp_path)))
        for form in (password, quote(password, safe=""), quote(password), coded.rstrip("="), "quotes"):
            assert form not in shown


async def test_what_is_logged_of_a_probe_holds_no_credential(tmp_path: Path) -> None:
    _keep(tmp_path, "a\nt0ken-that-no-header-can-hold")
    cascade = search_at("http://127.0.0.1:1/", credentials={"system": {"file": "search"}})
    with capture_logs() as lines:
        found = await probes(cascade, directory=tmp_path).probe(a_request(), 5)
    assert found is ProbeRefusal.CREDENTIAL_MISSING
    assert [line["event"] for line in lines] == ["probe_refused"]
    assert "t0ken" not in str(lines)


@pytest.mark.parametrize("size", [1_500, 5_000])
async def test_a_credential_that_a_header_has_no_room_for_is_not_shown_in_part(
    size: int, tmp_path: Path
) -> None:
    token = "sirius" * (size // 6)
    _keep(tmp_path, token)
    async with ToolServer(answers(401, b"", WWW_Authenticate=f"no {token}")) as server:
        cascade = search_at(server.url(), credentials={"system": {"file": "search"}})
        assert "sirius" not in repr(await made(probes(cascade, directory=tmp_path)))


@pytest.mark.parametrize("kind", ["http", "mcp"])
async def test_a_body_of_nothing_but_the_credential_shows_no_part_of_it_where_it_is_cut(
    kind: str, tmp_path: Path
) -> None:
    token = "sirius" * 1_000
    _keep(tmp_path, token)
    async with ToolServer(answers(401, token.encode() * 20)) as server:
        call = {"url": server.url()} | ({"tool": "search"} if kind == "mcp" else {})
        credentials = {"system": {"file": "search"}}
        tools = tools_text(search={"safety": "SAFE_PROBE", kind: call, "credentials": credentials})
        shown = await made(probes(a_cascade(tools), directory=tmp_path))
    assert shown.status_code == 401
    assert "[redacted]" in shown.raw_response
    assert not _parts_of(token, shown.raw_response)


async def _told_by_program(stream: str, text: str, directory: Path) -> str:
    """What is shown of a program that writes this, with its credential for each `$TOKEN`, and ends."""
    _keep(directory, _TOKEN)
    said = directory / "said"
    said.write_text(text)
    search = {
        "safety": "SAFE_PROBE",
        "mcp": {"command": [sys.executable, _PROGRAM, "tells", stream, str(said)], "tool": "search"},
        "credentials": {"system": {"file": "search"}, "sentAs": "env:TOKEN"},
    }
    prober = probes(a_cascade(tools_text(search=search)), directory=directory, programs=[sys.executable])
    return (await made(prober, seconds=30)).raw_response


_EDGES = [2_000, 2_020, 4_048, 16_192, 16_192 + len(_TOKEN), 16_192 + 52]
"""Bytes around those that are shown, looked at and kept of what a program says."""


@pytest.mark.parametrize("edge", _EDGES)
async def test_a_credential_at_the_edge_of_what_is_kept_of_standard_error_is_not_shown(
    edge: int, tmp_path: Path
) -> None:
    told = await _told_by_program("stderr", "." * 20_000 + "$TOKEN" + "!" * (edge - 19), tmp_path)
    assert "!!!" in told
    assert not _parts_of(_TOKEN, told)


@pytest.mark.parametrize("edge", _EDGES)
async def test_a_credential_at_the_edge_of_what_is_kept_of_standard_output_is_not_shown(
    edge: int, tmp_path: Path
) -> None:
    told = await _told_by_program("stdout", "." * (edge - 19) + "$TOKEN" + "!" * 20_000, tmp_path)
    assert "..." in told
    assert not _parts_of(_TOKEN, told)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_program_that_says_nothing_but_its_credential_shows_no_part_of_it(
    stream: str, tmp_path: Path
) -> None:
    told = await _told_by_program(stream, "$TOKEN" * 600, tmp_path)
    assert not _parts_of(_TOKEN, told)


@pytest.mark.parametrize("edge", [1_990, 2_000, 2_010])
async def test_another_secret_at_the_edge_of_what_is_shown_of_standard_error_is_not_shown(
    edge: int, tmp_path: Path
) -> None:
    secret = "correct-horse-battery-staple-9"
    told = await _told_by_program("stderr", f"{'.' * 3_000} password={secret} {'!' * (edge - 20)}", tmp_path)
    assert "!!!" in told
    assert not _parts_of(secret, told)


def _keep(directory: Path, secret: str) -> None:
    file = secret_path(directory, "files", "acme", "search")
    file.parent.mkdir(parents=True)
    file.write_text(secret)


def _parts_of(secret: str, text: str) -> list[str]:
    """The pieces of four characters that are shown."""
    return [piece for n in range(len(secret) - 3) if (piece := secret[n : n + 4]) in text]

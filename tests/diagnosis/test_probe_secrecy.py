"""Nothing secret of a response is shown: neither what stands in it, nor the very credential it was asked with."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from structlog.testing import capture_logs

from agrajag.diagnosis.credentials import secret_path
from agrajag.diagnosis.probe import ProbeRefusal
from tests.core.secrets import PLANTED
from tests.diagnosis.probe_cases import a_request, made, probes, search_at
from tests.diagnosis.tool_servers import ToolServer, answers

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
    file = secret_path(tmp_path, "files", "acme", "search")
    file.parent.mkdir(parents=True)
    file.write_text(secret)
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
    file = secret_path(tmp_path, "files", "acme", "search")
    file.parent.mkdir(parents=True)
    file.write_text("a\nt0ken-that-no-header-can-hold")
    cascade = search_at("http://127.0.0.1:1/", credentials={"system": {"file": "search"}})
    with capture_logs() as lines:
        found = await probes(cascade, directory=tmp_path).probe(a_request(), 5)
    assert found is ProbeRefusal.CREDENTIAL_MISSING
    assert [line["event"] for line in lines] == ["probe_refused"]
    assert "t0ken" not in str(lines)

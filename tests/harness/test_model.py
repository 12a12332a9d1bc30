"""How a model is reached: everything is told, nothing found in the environment, and what must not be is refused."""

import logging
from decimal import Decimal
from typing import Any

import pytest

from agrajag.errors import ConfigError
from agrajag.harness import NoModel, Prices, StopReason, connect
from tests.harness.replies import text
from tests.harness.runs import access, run
from tests.harness.scripted_model import KEY, ScriptedModel


@pytest.mark.parametrize("key", [None, "", "  \n"])
def test_without_a_key_there_is_no_model_and_that_is_a_value(key: str | None) -> None:
    assert connect(access("https://api.anthropic.com", api_key=key)) is NoModel.NO_KEY


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"max_retries": 2}, "max_retries: 2"),
        ({"thread": True}, "thread: must be False"),
        ({"name": " "}, "name: must not be empty"),
        ({"base_url": "ftp://example.org"}, "base URL"),
        ({"base_url": "https://"}, "base URL"),
        ({"base_url": "http://[::1"}, "base URL"),
        ({"request_seconds": 0}, "request_seconds: 0"),
        ({"max_reply_bytes": 0}, "max_reply_bytes: 0"),
        ({"api_key": "sk-SECRET\nX-Other: 1"}, "key: must be ASCII without spaces"),
        ({"api_key": "sk-SECRET-ü"}, "key: must be ASCII without spaces"),
    ],
)
def test_an_access_that_cannot_work_is_refused_at_once(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as refused:
        access("https://api.anthropic.com", **changes)
    assert "SECRET" not in str(refused.value)


async def test_nothing_of_the_environment_reaches_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = "http://127.0.0.1:1"
    for name, value in {
        "ANTHROPIC_API_KEY": "sk-other",
        "ANTHROPIC_AUTH_TOKEN": "other",
        "ANTHROPIC_BASE_URL": elsewhere,
        "ANTHROPIC_CUSTOM_HEADERS": "Authorization: Bearer other\nX-Other: other",
        "HTTP_PROXY": elsewhere,
        "http_proxy": elsewhere,
        "ALL_PROXY": elsewhere,
    }.items():
        monkeypatch.setenv(name, value)
    async with ScriptedModel([text("done")]) as server:
        result = await run(server, base_url=f"{server.url}/gateway")
    assert result.stop is StopReason.COMPLETED
    request = server.requests[0]
    assert (request.path, request.headers["authorization"]) == ("/gateway/v1/messages", f"Bearer {KEY}")
    assert "other" not in str(request.headers)
    assert request.headers["accept-encoding"] == "identity"


async def test_the_sdk_never_writes_what_was_sent_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("anthropic", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    async with ScriptedModel([text("done")]) as server:
        await run(server)
    assert "What is wrong?" not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("price", [Decimal(-1), Decimal("nan"), Decimal("inf")])
def test_a_price_is_a_number_from_zero_up(price: Decimal) -> None:
    with pytest.raises(ConfigError, match="prices"):
        Prices(price, Decimal(1), Decimal(1), Decimal(1))

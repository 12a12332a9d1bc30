"""What is served of a role, to whom, and where."""

import re
import socket
import struct
from collections.abc import Iterator

import pytest
import structlog

from agrajag.errors import ConfigError
from agrajag.metrics import EVENTS, REGISTRY
from agrajag.monitor.pulse import Pulse
from agrajag.monitor.readiness import Vitals
from agrajag.monitor.server import MonitorServer
from tests.monitor.asking import ask
from tests.waiting import eventually_blocking

TOKEN = "a-token-of-a-test"


@pytest.fixture
def pulse() -> Pulse:
    return Pulse(30.0, lambda: 100.0)


@pytest.fixture
def url(pulse: Pulse) -> Iterator[str]:
    with MonitorServer("127.0.0.1", 0, pulse, REGISTRY) as server:
        yield server.url


def test_readyz_says_503_with_its_reasons_and_200_with_what_is_known(url: str, pulse: Pulse) -> None:
    assert ask(f"{url}/readyz") == (503, '{"ready": false, "reasons": ["starting"]}\n')
    pulse.seen(Vitals(99.0, {"tool-call-errors": [0, 2]}, {"tool-call-errors": 7}, committed_at=98.5))
    ready = ask(f"{url}/readyz")
    assert ready.status == 200
    assert ready.json == {
        "ready": True,
        "reasons": [],
        "partitions": {"tool-call-errors": [0, 2]},
        "lag": {"tool-call-errors": 7},
        "lastCommitAgeSeconds": 1.5,
        "rebalancing": False,
        "recovered": True,
    }
    pulse.seen(Vitals(99.0, {}, {}, rebalancing=True, kafka_away=True))
    assert ask(f"{url}/readyz").json["reasons"] == ["rebalancing", "kafka_away"]


def test_healthz_fails_only_where_something_stands_still(url: str, pulse: Pulse) -> None:
    pulse.seen(Vitals(99.0, {}, {}, kafka_away=True, store_away=True))
    assert ask(f"{url}/healthz") == (200, '{"healthy": true}\n')
    pulse.stall = lambda: "events partition 0 stands at 5 of 9"
    assert ask(f"{url}/healthz").status == 503
    assert ask(f"{url}/healthz").json["reason"] == "events partition 0 stands at 5 of 9"


def test_metrics_are_those_of_the_registry(url: str) -> None:
    EVENTS.labels("tool-call-errors").inc()
    answer = ask(f"{url}/metrics")
    assert answer.status == 200
    assert re.search(r'^agrajag_events_total\{topic="tool-call-errors"\} [1-9]', answer.body, re.MULTILINE)


def test_a_head_request_has_no_body(url: str) -> None:
    assert ask(f"{url}/readyz", "HEAD") == (503, "")
    assert ask(f"{url}/metrics", "HEAD") == (200, "")


def test_a_client_that_goes_away_is_one_line_in_the_log(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    with structlog.testing.capture_logs() as logs:
        with socket.create_connection((host, int(port))) as client:
            client.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )  # reset, not closed
            client.sendall(b"GET /metrics")
        eventually_blocking(lambda: [entry for entry in logs if entry["event"] == "monitor_request_failed"])
    assert "Traceback" not in capfd.readouterr().err
    assert ask(f"{url}/healthz").status == 200


def test_other_paths_and_methods_are_refused(url: str) -> None:
    assert ask(f"{url}/").status == 404
    assert ask(f"{url}/healthz/../readyz").status == 404
    assert ask(f"{url}/readyz", "POST").status == 405
    assert ask(f"{url}/metrics", "DELETE").status == 405


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz"])
def test_with_a_token_only_its_bearers_are_answered(pulse: Pulse, path: str) -> None:
    with MonitorServer("127.0.0.1", 0, pulse, REGISTRY, TOKEN) as server:
        assert ask(server.url + path).status == 401
        assert ask(server.url + path, token=TOKEN[:-1]).status == 401
        assert ask(server.url + path, token="\xe9").status == 401
        assert ask(server.url + path, token=TOKEN).status in (200, 503)


def test_a_second_process_on_the_same_port_is_refused_by_name(url: str, pulse: Pulse) -> None:
    port = int(url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=rf"cannot listen on 127\.0\.0\.1:{port}: Address already in use"):
        MonitorServer("127.0.0.1", port, pulse, REGISTRY)


def test_after_the_end_nobody_listens(pulse: Pulse) -> None:
    with MonitorServer("127.0.0.1", 0, pulse, REGISTRY) as server:
        assert ask(f"{server.url}/healthz").status == 200
    with pytest.raises(OSError, match="refused"):
        ask(f"{server.url}/healthz")

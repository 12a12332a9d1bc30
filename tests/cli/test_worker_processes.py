"""`agrajag worker --processes`: several workers that live and end with their supervisor."""

import os
import re
import signal
from pathlib import Path

import pytest

from agrajag.bootstrap import create_topics
from agrajag.cli.worker_processes import environments
from agrajag.embedded import EmbeddedKafka
from agrajag.embedded.ports import pick_free
from agrajag.errors import ConfigError
from agrajag.settings import load_settings
from tests.cli.programs import Program, is_running, running
from tests.monitor.asking import ask
from tests.waiting import eventually_blocking

PORT = "AGRAJAG_MONITOR_WORKER_PORT"


def test_each_worker_has_a_monitor_port_of_its_own() -> None:
    settings = load_settings({PORT: "9480"})
    ports = [found[PORT] for found in environments(settings, 3, {"PATH": "/bin", PORT: "9480"})]
    assert ports == ["9480", "9481", "9482"]
    assert environments(settings, 1, {"PATH": "/bin"})[0]["PATH"] == "/bin"


def test_any_free_port_stays_any_free_port() -> None:
    assert environments(load_settings({PORT: "0"}), 2, {PORT: "0"}) == [{PORT: "0"}] * 2
    assert environments(load_settings({"AGRAJAG_MONITOR_ENABLED": "false"}), 2, {}) == [{}, {}]


def test_ports_that_do_not_fit_are_a_wrong_setting() -> None:
    settings = load_settings({PORT: "65534"})
    assert len(environments(settings, 2, {})) == 2
    with pytest.raises(ConfigError, match="AGRAJAG_MONITOR_WORKER_PORT=65534: 3 workers need ports above"):
        environments(settings, 3, {})


def pids(program: Program) -> dict[int, int]:
    """The process that was last started for each number."""
    started = re.findall(r'"number": ?(\d+), ?"pid": ?(\d+)', program.err)
    return {int(number): int(pid) for number, pid in started}


async def test_a_worker_that_was_killed_comes_back_and_all_end_with_their_supervisor(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path
) -> None:
    port = pick_free()
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
        "AGRAJAG_TOPICS_PARTITIONS": "2",
        "AGRAJAG_WORKER_SESSION_TIMEOUT_SECONDS": "6",
        PORT: str(port),
    }
    await create_topics(load_settings(settings))

    def share_the_work() -> bool:
        held = []
        for number in (0, 1):
            answer = ask(f"http://127.0.0.1:{port + number}/readyz")
            assert answer.status == 200, answer.body
            held += answer.json["partitions"].get("tool-call-errors", [])
        return sorted(held) == [0, 1]

    def share_the_work_when_up() -> bool:
        try:
            return share_the_work()
        except OSError as error:
            raise AssertionError(str(error)) from error

    with running(tmp_path, "worker", "--processes", "2", **settings) as program:
        eventually_blocking(share_the_work_when_up, 90)
        first = pids(program)
        assert first.keys() == {0, 1}
        os.kill(first[1], signal.SIGKILL)
        program.says("worker 1: ended by signal 9")
        eventually_blocking(lambda: pids(program)[1] != first[1], 30)
        eventually_blocking(share_the_work_when_up, 90)
        last = pids(program)
        assert last[0] == first[0]
        assert program.stop() == 0
        assert [pid for pid in last.values() if is_running(pid)] == []


def test_a_wrong_setup_ends_all_of_them_with_2(
    kafka: EmbeddedKafka, topic_prefix: str, tmp_path: Path
) -> None:
    settings = {
        "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
        "AGRAJAG_TOPICS_PREFIX": topic_prefix,
    }
    with running(tmp_path, "worker", "--processes", "2", **settings) as program:
        assert program.process.wait(90) == 2
    assert "agrajag: create the topics first: agrajag topics create" in program.err
    assert re.search(r"^agrajag: worker [01]: ended with exit code 2$", program.err, re.MULTILINE)
    assert [pid for pid in pids(program).values() if is_running(pid)] == []


def test_workers_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    nowhere = {"AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    with running(tmp_path, "worker", "--processes", "2", **nowhere) as program:
        eventually_blocking(lambda: program.err.count("waiting_for_kafka") >= 2, 60)
        started = pids(program)
        assert program.stop(signal.SIGKILL) == -signal.SIGKILL
        eventually_blocking(lambda: not [pid for pid in started.values() if is_running(pid)], 30)

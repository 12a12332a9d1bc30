"""`agrajag demo` as a newcomer runs it."""

import signal
from pathlib import Path

import pytest

from tests.cli.programs import running

CLOSING_LINE = "2,433 in, 2,430 verdicts, 3 dead-lettered, 0 lost"


@pytest.mark.slow
def test_the_demo_loses_nothing_and_says_so(tmp_path: Path) -> None:
    # Settings of the user have no say in it: with 7 partitions and no answers its books could not balance.
    foreign = {
        "AGRAJAG_TOPICS_PARTITIONS": "7",
        "AGRAJAG_POLICY_ANSWER_ALL": "false",
        "TMPDIR": str(tmp_path),
    }
    with running(tmp_path, "demo", **foreign) as demo:
        assert demo.process.wait(170) == 0, demo.err
    lines = demo.out.splitlines()
    assert lines[-1] == CLOSING_LINE
    assert "sent twice by their producer: 1" in lines
    assert "tools that a success healed: 1, that a person spoke about: 1" in lines
    assert "rules that a tenant wrote while all this ran: 1" in lines
    assert "ticket_search was judged by tool-exception-generic, and is by ticket-index-read-only" in demo.err
    assert "a call of crm_lookup succeeds: DOWN before, OK now" in demo.err
    assert "tools that went down with their connection: 3, came back with one: 2" in lines
    assert (
        "connections that are closed: 3; down: client_file_read, client_file_write, wine_cellar" in demo.err
    )
    republished = next(line for line in lines if line.startswith("republished"))
    assert int(republished.rpartition(" ")[2]) > 0
    parts, diagnosis = "starting Kafka, store, worker and sink", "starting the diagnosis"
    assert 0 <= demo.err.find(parts) < demo.err.find(diagnosis)
    rows = {line.split()[0]: line.split() for line in lines if line}
    storm = rows["terrain_render"]
    assert storm[1:5] == ["magrathea", "PROJECT", "DOWN", "TECHNICALLY_BROKEN"]
    assert storm[-4:] == ["640", "0", "639", "1"]
    assert rows["geo_lookup"][1:5] == ["magrathea", "PROJECT", "DOWN", "TECHNICALLY_BROKEN"]
    assert rows["crm_lookup"][1:5] == ["sirius", "PROJECT", "OK", "TECHNICALLY_BROKEN"]
    assert rows["map_search"][1:5] == ["magrathea", "PROJECT", "DOWN", "INTERMITTENT"]
    assert rows["ticket_search"][1:5] == ["sirius", "PROJECT", "DEGRADED", "INTERMITTENT"]
    assert rows["table_booking"][1:6] == ["milliways", "USER", "(2)", "DOWN", "USER_SPECIFIC_TECHNICAL"]
    by_rules = "jobs diagnosed by the rule-based diagnostician, as no key for a model is set: 31 ("
    diagnosed = next(line for line in lines if line.startswith(by_rules))
    assert "TECHNICALLY_BROKEN 1" in diagnosed
    assert "USER_SPECIFIC_TECHNICAL 2" in diagnosed
    inbox = next(line for line in lines if line.startswith("inbox items: 2, that of milliways-user-00"))
    assert "Ihr Zugang zu table_booking funktioniert nicht" in inbox
    assert rows["client_file_read"][2] == "SESSION"
    assert rows["client_file_write"][1:4] == ["magrathea", "SESSION", "OK"]
    assert rows["wine_cellar"][1:4] == ["milliways", "PROJECT", "DOWN"]
    assert "Traceback" not in demo.err
    assert not list(tmp_path.glob("agrajag-demo-*"))


def test_a_demo_that_is_interrupted_ends_with_1_and_cleans_up(tmp_path: Path) -> None:
    with running(tmp_path, "demo", TMPDIR=str(tmp_path)) as demo:
        demo.says("starting Kafka")
        assert demo.stop(signal.SIGINT) == 1
    assert demo.out == ""
    assert "Traceback" not in demo.err
    assert not list(tmp_path.glob("agrajag-demo-*"))

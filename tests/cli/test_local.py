"""What the parts of one machine are told."""

from pathlib import Path

from agrajag.cli.local import Plan

KAFKA, MONGO = "127.0.0.1:9092", "mongodb://127.0.0.1:27017"
PORTS = ("AGRAJAG_MONITOR_WORKER_PORT", "AGRAJAG_MONITOR_SINK_PORT", "AGRAJAG_API_PORT")


def variables(**environment: str) -> dict[str, str]:
    plan = Plan(Path("data"), None, None, environment)
    return plan.monitored(plan.variables(KAFKA, MONGO))


def test_a_file_that_holds_an_address_gives_way_to_the_plan() -> None:
    found = variables(AGRAJAG_MONGO_URI_FILE="/run/secrets/uri", AGRAJAG_MONGO_URI="mongodb://elsewhere")
    assert found["AGRAJAG_MONGO_URI"] == MONGO
    assert "AGRAJAG_MONGO_URI_FILE" not in found


def test_each_role_has_a_free_port_unless_it_was_given_one() -> None:
    picked = [variables()[name] for name in PORTS]
    assert len({*picked, "", "0"}) == len(PORTS) + 2
    assert variables(AGRAJAG_MONITOR_WORKER_PORT="9480")["AGRAJAG_MONITOR_WORKER_PORT"] == "9480"
    assert variables(AGRAJAG_MONITOR_SINK_PORT="0")["AGRAJAG_MONITOR_SINK_PORT"] != "0"

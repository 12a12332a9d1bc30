"""`agrajag config show`: what is in force, and who said so."""

import json

from agrajag.settings import settings_table
from tests.cli.programs import agrajag


def test_every_setting_is_shown_with_its_source_and_no_secret() -> None:
    secret = "hunter2hunter2hunter2"
    shown = agrajag("config", "show", AGRAJAG_MONITOR_TOKEN=secret, AGRAJAG_LOG_LEVEL="debug")
    assert shown.returncode == 0, shown.stderr
    rows = {line.split()[0]: line.split()[1:] for line in shown.stdout.splitlines()[1:]}
    assert list(rows) == [name for name, _, _ in settings_table()]
    assert rows["AGRAJAG_LOG_LEVEL"] == ["debug", "environment"]
    assert rows["AGRAJAG_LOG_FORMAT"] == ["json", "default"]
    assert rows["AGRAJAG_MONITOR_TOKEN"] == ["***", "environment"]
    assert secret not in shown.stdout


def test_as_json_it_is_for_programs() -> None:
    shown = agrajag("config", "show", "--json", AGRAJAG_TOPICS_PREFIX="acme")
    found = {setting["name"]: setting for setting in json.loads(shown.stdout)}
    assert found["AGRAJAG_TOPICS_PREFIX"] == {
        "name": "AGRAJAG_TOPICS_PREFIX",
        "value": "acme",
        "source": "environment",
    }
    assert found["AGRAJAG_TOPICS_PARTITIONS"]["source"] == "default"

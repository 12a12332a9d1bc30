"""What the composition refuses before anything runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from agrajag.bootstrap import refuse_unfit_topics
from agrajag.errors import ConfigError
from agrajag.wire.topic_admin import Finding
from agrajag.wire.topics import Topics

TOPICS = Topics()


@pytest.mark.parametrize("setting", ["partition count", "cleanup.policy", "message.timestamp.type"])
def test_a_topic_that_a_worker_cannot_do_with_stops_its_start(setting: str) -> None:
    finding = Finding("agrajag.tool-call-errors.v1", setting, "this", "that")
    with pytest.raises(ConfigError) as refused:
        refuse_unfit_topics((finding,), TOPICS)
    assert refused.value.problems == (
        f"topic agrajag.tool-call-errors.v1: {setting} is this, should be that",
    )


def test_a_missing_topic_stops_its_start_and_the_message_says_how_to_make_it() -> None:
    with pytest.raises(ConfigError) as refused:
        refuse_unfit_topics((Finding("agrajag.documents.v1", "existence", None, "present"),), TOPICS)
    assert refused.value.problems == (
        "topic agrajag.documents.v1 is missing",
        "create the topics first: agrajag topics create",
    )


@pytest.mark.parametrize(
    "name",
    [
        "tool-call-errors.v1",
        "tool-call-errors.v1.dlq",
        "system-events.v1",
        "system-events.v1.dlq",
        "tool-links.v1",
        "tool-links.v1.dlq",
        "check-results.v1",
        "command-results.v1",
        "health-commands.v1",
        "tool-call-successes.v1",
        "diagnosis-jobs.v1",
        "health-changed.v1",
        "health-changelog.v1",
    ],
)
def test_a_topic_that_does_not_take_what_a_worker_writes_stops_its_start(name: str) -> None:
    finding = Finding(f"agrajag.{name}", "max.message.bytes", "1000", "at least 1048576")
    with pytest.raises(
        ConfigError, match=rf"{name}: max\.message\.bytes is 1000, should be at least 1048576"
    ):
        refuse_unfit_topics((finding,), TOPICS)


def test_a_topic_that_merely_differs_does_not_stop_it() -> None:
    differs = Finding("agrajag.documents.v1", "max.message.bytes", "1", "at least 2")
    refuse_unfit_topics((differs,), TOPICS)


@pytest.mark.parametrize(
    ("library", "extra", "call"),
    [
        ("faust", "worker", "run_worker(load_settings({}))"),
        ("pymongo", "worker", "run_sink(load_settings({}))"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_the_extra_that_brings_it(
    library: str, extra: str, call: str
) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from agrajag.bootstrap import *\n"
        "from agrajag.settings import load_settings\n"
        "from agrajag.errors import ConfigError\n"
        f"try: {call}\n"
        "except ConfigError as error: print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == f"{library} is not installed; pip install 'agrajag[{extra}]'\n"


@pytest.mark.parametrize("command", ["dev", "demo"])
def test_a_plain_install_says_what_a_command_for_one_machine_needs(command: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules['pymongo'] = None; from agrajag.cli import main; main([{command!r}])"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    told = ended.stderr.splitlines()
    assert told[-1] == "agrajag: pymongo is not installed; pip install 'agrajag[embedded]'"
    assert all(line.startswith("agrajag: ") for line in told)

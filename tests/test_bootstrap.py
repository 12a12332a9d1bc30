"""What the composition refuses before anything runs."""

import subprocess
import sys

import pytest

from agrajag.bootstrap import refuse_unfit_topics
from agrajag.errors import ConfigError
from agrajag.wire.topic_admin import Finding


@pytest.mark.parametrize("setting", ["partition count", "cleanup.policy", "message.timestamp.type"])
def test_a_topic_that_a_worker_cannot_do_with_stops_its_start(setting: str) -> None:
    finding = Finding("agrajag.tool-call-errors.v1", setting, "this", "that")
    with pytest.raises(ConfigError) as refused:
        refuse_unfit_topics((finding,))
    assert refused.value.problems == (
        f"topic agrajag.tool-call-errors.v1: {setting} is this, should be that",
    )


def test_a_missing_topic_stops_its_start_and_the_message_says_how_to_make_it() -> None:
    with pytest.raises(ConfigError) as refused:
        refuse_unfit_topics((Finding("agrajag.documents.v1", "existence", None, "present"),))
    assert refused.value.problems == (
        "topic agrajag.documents.v1 is missing",
        "create the topics first: agrajag topics create",
    )


def test_a_topic_that_merely_differs_does_not_stop_it() -> None:
    refuse_unfit_topics((Finding("agrajag.documents.v1", "max.message.bytes", "1", "at least 2"),))


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

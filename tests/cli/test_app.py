"""The program's face: help, exit codes, and that nothing but results is on standard output."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from agrajag import __version__
from agrajag.cli.app import app, exit_code_of
from agrajag.errors import ConfigError, InputError, PermanentError, TransientError
from tests.cli.programs import agrajag, environment

COMMANDS = (
    "version",
    "worker",
    "sink",
    "dev",
    "demo",
    "topics create",
    "command",
    "health",
    "watch",
    "report",
    "recheck",
    "clear",
    "override",
    "lift",
    "inbox list",
    "inbox dismiss",
    "runs list",
    "runs show",
    "tail",
    "config show",
    "documents push",
    "documents list",
    "documents show",
    "rules check",
    "rules list",
    "rules explain",
    "rules shadow",
    "dlq list",
    "dlq show",
    "dlq replay",
)


def test_version_prints_the_version_and_nothing_else() -> None:
    ended = agrajag("version")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{__version__}\n", "")


def test_help_names_every_command() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    for command in COMMANDS:
        assert command.split()[0] in shown.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"])
    assert shown.exit_code == 0
    assert "Example: " in shown.stdout
    assert f"agrajag {command}" in " ".join(shown.stdout.split())


def test_the_shell_can_be_taught_to_complete_commands() -> None:
    asked = {"_AGRAJAG_COMPLETE": "complete_bash", "COMP_WORDS": "agrajag re", "COMP_CWORD": "1"}
    ended = agrajag(**asked)
    assert (ended.returncode, set(ended.stdout.split())) == (0, {"recheck", "report"})


@pytest.mark.parametrize("arguments", [["unknown"], ["dev", "--unknown"], ["topics", "unknown"]])
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 2
    assert ended.stdout == ""


@pytest.mark.parametrize("command", ["sink", "dev"])
def test_each_wrong_setting_is_one_line_and_the_exit_code_is_2(command: str) -> None:
    ended = agrajag(
        *command.split(), AGRAJAG_TOPICS_PARTITIONS="many", AGRAJAG_MONGO_URL="mongodb://u:secret@h"
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("agrajag: AGRAJAG_") for line in lines)
    assert any("AGRAJAG_TOPICS_PARTITIONS" in line and "a whole number" in line for line in lines)
    assert any("AGRAJAG_MONGO_URL" in line and "MONGO_URI" in line for line in lines)
    assert "secret" not in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--kafka", "nohost"],
            "agrajag: --kafka='nohost': should be host:port, several separated by commas",
        ),
        (
            ["--mongo", "nohost"],
            "agrajag: --mongo=***: should be an address that begins with mongodb:// or mongodb+srv://",
        ),
    ],
)
def test_a_wrong_option_is_called_by_its_name(arguments: list[str], told: str) -> None:
    ended = agrajag("dev", *arguments)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (2, told)


def test_a_wrong_address_in_the_environment_is_called_by_its_name_there() -> None:
    ended = agrajag("dev", AGRAJAG_KAFKA_BOOTSTRAP_SERVERS="nohost")
    assert "agrajag: AGRAJAG_KAFKA_BOOTSTRAP_SERVERS='nohost': should be host:port" in ended.stderr


@pytest.mark.parametrize("command", ["worker", "topics create"])
def test_a_broker_that_does_not_answer_ends_with_3_and_one_clear_line(command: str) -> None:
    ended = agrajag(
        *command.split(),
        AGRAJAG_KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1",
        AGRAJAG_KAFKA_WAIT_SECONDS="0.5",
        AGRAJAG_LOG_LEVEL="error",
    )
    assert ended.returncode == 3
    assert ended.stdout == ""
    assert "no answer from 127.0.0.1:1" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


def test_importing_the_command_line_brings_in_no_heavy_library() -> None:
    code = (
        "import sys, agrajag.cli;"
        "print(*sorted({'faust', 'pymongo', 'jgo', 'aiokafka', 'pydantic'} & sys.modules.keys()))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


_LIGHT_COMMANDS = (
    "--help",
    "config show",
    "topics create",
    "documents list",
    "inbox list --tenant acme",
    "runs list",
    "health --tenant acme",
    "watch --tenant acme",
    "tail tool-call-errors",
    "report search --tenant acme",
    "recheck search --tenant acme --wait",
    "clear search --tenant acme",
    "dlq list",
    "command recheck acme search --scope TENANT",
)
_AFTER_EACH = """
import sys
from agrajag.cli import main
heavy = {'faust', 'mode', 'aiohttp', 'anthropic', 'httpx2', 'mcp', 'pymongo', 'bson', 'jgo'}
for command in sys.argv[1:]:
    try:
        main(command.split())
    except SystemExit as ended:
        print(command, ended.code, *sorted(heavy & sys.modules.keys()), sep="; ", file=sys.stderr)
"""


def test_a_command_imports_no_library_that_only_a_role_needs() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _AFTER_EACH, *_LIGHT_COMMANDS],
        env=environment(
            {"AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "AGRAJAG_KAFKA_WAIT_SECONDS": "0.1"}
        ),
        capture_output=True,
        text=True,
        check=True,
    )
    told = [line for line in ended.stderr.splitlines() if line.startswith(_LIGHT_COMMANDS)]
    assert told == [f"{command}; {0 if number < 2 else 3}" for number, command in enumerate(_LIGHT_COMMANDS)]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("a setting is wrong"), 2),
        (TransientError("away"), 3),
        (PermanentError("refused"), 1),
        (InputError("reason", "bad record"), 1),
    ],
)
def test_the_exit_code_says_what_can_be_done(
    error: ConfigError | TransientError | PermanentError | InputError, code: int
) -> None:
    assert exit_code_of(error) == code

"""Settings: defaults, one line per problem, no secrets in any of them, and a table that is whole."""

from datetime import timedelta
from pathlib import Path

import pytest

from agrajag.core.policy import Policy
from agrajag.errors import ConfigError
from agrajag.settings import ENV_PREFIX, load_settings, settings_table, shown_settings
from agrajag.wire.clients import KafkaConnection
from agrajag.wire.topics import Topics

PASSWORD = "hunter2hunter2hunter2"


def problems_of(**variables: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        load_settings({f"{ENV_PREFIX}{name}": value for name, value in variables.items()})
    assert all("\n" not in problem for problem in refused.value.problems)
    return list(refused.value.problems)


def test_without_any_variable_the_defaults_are_those_of_the_parts() -> None:
    settings = load_settings({})
    assert settings.policy.policy() == Policy()
    assert settings.topics.topics() == Topics()
    assert settings.kafka.connection() == KafkaConnection()
    assert settings.data_dir == Path(".agrajag")


def test_variables_reach_the_values_that_the_parts_are_given(tmp_path: Path) -> None:
    certificate = tmp_path / "ca.pem"
    certificate.touch()
    settings = load_settings(
        {
            "AGRAJAG_KAFKA_BOOTSTRAP_SERVERS": "a:1, b:2",
            "AGRAJAG_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "AGRAJAG_KAFKA_SASL_USERNAME": "bob",
            "AGRAJAG_KAFKA_SASL_PASSWORD": PASSWORD,
            "AGRAJAG_KAFKA_SSL_CA_FILE": str(certificate),
            "AGRAJAG_TOPICS_PREFIX": "acme.prod",
            "AGRAJAG_TOPICS_PARTITIONS": "4",
            "AGRAJAG_POLICY_COOLDOWN_MAX": "PT12H",
            "AGRAJAG_POLICY_ANSWER_ALL": "true",
            "AGRAJAG_MONGO_URI": f"mongodb://bob:{PASSWORD}@store/",
        }
    )
    connection = settings.kafka.connection()
    assert (connection.bootstrap_servers, connection.security_protocol) == ("a:1,b:2", "SASL_SSL")
    assert (connection.sasl_username, connection.sasl_password) == ("bob", PASSWORD)
    assert connection.ssl_ca_file == certificate
    assert settings.topics.topics() == Topics("acme.prod", 4)
    assert settings.policy.policy() == Policy(cooldown_max=timedelta(hours=12), answer_all=True)
    assert settings.mongo.uri.get_secret_value() == f"mongodb://bob:{PASSWORD}@store/"


def test_the_environment_of_the_process_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGRAJAG_LOG_LEVEL", "debug")
    assert load_settings().log.level == "debug"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert load_settings({"AGRAJAG_TOPICS_PARTITIONS": ""}).topics.partitions == 32


def test_variables_of_others_are_left_alone() -> None:
    assert load_settings({"PATH": "/bin", "AGRAJAGGED_EDGE": "1"}) == load_settings({})


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("KAFKA_BOOTSTRAP_SERVERS", "localhost", "host:port, several separated by commas"),
        ("KAFKA_BOOTSTRAP_SERVERS", "a:1,b:99999", "host:port, several separated by commas"),
        ("KAFKA_SECURITY_PROTOCOL", "TLS", "one of 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT' or 'SASL_SSL'"),
        ("KAFKA_SSL_CA_FILE", "/nowhere/ca.pem", "the path of a readable file"),
        ("KAFKA_WAIT_SECONDS", "soon", "a number"),
        ("KAFKA_WAIT_SECONDS", "0", "more than 0"),
        ("TOPICS_PREFIX", "a b", "up to 100 of A-Z a-z 0-9 . _ -"),
        ("TOPICS_PARTITIONS", "many", "a whole number"),
        ("TOPICS_PARTITIONS", "0", "at least 1"),
        ("TOPICS_PARTITIONS", "100000", "at most 10000"),
        ("LOG_LEVEL", "loud", "one of 'debug', 'info', 'warning' or 'error'"),
        ("POLICY_LEASE", "5 min", "an ISO 8601 duration of at most a year, such as PT5M or P1D"),
        ("POLICY_LEASE", "PT0S", "an ISO 8601 duration of at most a year, such as PT5M or P1D"),
        ("POLICY_COOLDOWN_MAX", "PT59M", "an ISO 8601 duration of at least an hour, PT1H"),
        ("POLICY_ANSWER_ALL", "perhaps", "true or false"),
        ("WORKER_WATCHDOG_SECONDS", "nan", "at most 3600"),
        ("WORKER_BAD_START_SHARE", "1", "less than 1"),
        ("MONITOR_HOST", "localhost", "an IP address, such as 127.0.0.1 or 0.0.0.0"),
        ("MONITOR_SINK_PORT", "65536", "at most 65535"),
    ],
)
def test_a_wrong_value_is_one_line_with_name_value_and_what_is_right(
    name: str, value: str, right: str
) -> None:
    assert problems_of(**{name: value}) == [f"AGRAJAG_{name}={value!r}: should be {right}"]


def test_all_problems_are_told_at_once() -> None:
    problems = problems_of(TOPICS_PARTITIONS="many", LOG_LEVEL="loud", LOG_LEVELS="info")
    assert [problem.partition("=")[0].partition(":")[0] for problem in problems] == [
        "AGRAJAG_LOG_LEVELS",
        "AGRAJAG_TOPICS_PARTITIONS",
        "AGRAJAG_LOG_LEVEL",
    ]


def test_a_misspelt_variable_is_a_problem_with_a_suggestion() -> None:
    assert problems_of(KAFKA_BOTSTRAP_SERVERS="a:1") == [
        "AGRAJAG_KAFKA_BOTSTRAP_SERVERS: there is no such setting, did you mean AGRAJAG_KAFKA_BOOTSTRAP_SERVERS?"
    ]


@pytest.mark.parametrize("name", ["COLOUR_OF_THE_SKY", "KAFKA", "_"])
def test_a_variable_that_resembles_none_is_a_problem_all_the_same(name: str) -> None:
    assert problems_of(**{name: "{"}) == [f"AGRAJAG_{name}: there is no such setting"]


def test_what_a_protocol_needs_is_asked_for_by_name() -> None:
    assert problems_of(KAFKA_SECURITY_PROTOCOL="SASL_PLAINTEXT") == [
        f"AGRAJAG_KAFKA_SASL_{name} is not set: should be set, as AGRAJAG_KAFKA_SECURITY_PROTOCOL is SASL_PLAINTEXT"
        for name in ("USERNAME", "PASSWORD")
    ]


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.7", "::"])  # noqa: S104
def test_a_monitor_that_others_can_reach_needs_a_token(host: str) -> None:
    assert problems_of(MONITOR_HOST=host) == [
        f"AGRAJAG_MONITOR_TOKEN is not set: should be set, as AGRAJAG_MONITOR_HOST is {host}"
    ]
    given = {"AGRAJAG_MONITOR_HOST": host, "AGRAJAG_MONITOR_TOKEN": PASSWORD}
    assert load_settings(given).monitor.host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1"])
def test_a_monitor_on_loopback_needs_none(host: str) -> None:
    assert load_settings({"AGRAJAG_MONITOR_HOST": host}).monitor.token is None


def test_a_wrong_secret_is_not_repeated() -> None:
    problems = problems_of(MONGO_URI=f"http://bob:{PASSWORD}@store", WORKER_ORIGIN_KEY="too-short")
    assert problems == [
        "AGRAJAG_MONGO_URI=***: should be an address that begins with mongodb:// or mongodb+srv://",
        "AGRAJAG_WORKER_ORIGIN_KEY=***: should be at least 16 characters",
    ]


def test_credentials_in_a_wrong_value_are_masked_and_a_long_one_is_cut() -> None:
    (problem,) = problems_of(KAFKA_BOOTSTRAP_SERVERS=f"kafka://bob:{PASSWORD}@a:x" + "y" * 5_000)
    assert PASSWORD not in problem
    assert len(problem) < 250


def test_what_is_shown_has_every_variable_and_no_secret() -> None:
    given = {
        "AGRAJAG_MONGO_URI": f"mongodb://bob:{PASSWORD}@store/?tlsCertificateKeyFilePassword={PASSWORD}",
        "AGRAJAG_KAFKA_SASL_PASSWORD": PASSWORD,
        "AGRAJAG_WORKER_ORIGIN_KEY": PASSWORD,
        "AGRAJAG_MONITOR_TOKEN": PASSWORD,
        "AGRAJAG_POLICY_LEASE": "PT90S",
        "AGRAJAG_LOG_LEVEL": "",
    }
    settings = shown_settings(given)
    shown = {name: value for name, value, _ in settings}
    assert list(shown) == [name for name, _, _ in settings_table()]
    assert PASSWORD not in str(shown) + repr(load_settings(given))
    assert {name for name, _, source in settings if source == "environment"} == given.keys() - {
        "AGRAJAG_LOG_LEVEL"
    }
    assert shown["AGRAJAG_MONGO_URI"] == "mongodb://***@store/?tlsCertificateKeyFilePassword=***"
    assert shown["AGRAJAG_KAFKA_SASL_PASSWORD"] == shown["AGRAJAG_WORKER_ORIGIN_KEY"] == "***"
    assert shown["AGRAJAG_POLICY_LEASE"] == "PT1M30S"


def test_a_secret_can_stand_in_a_file(tmp_path: Path) -> None:
    token, uri = tmp_path / "token", tmp_path / "uri"
    token.write_text(f"{PASSWORD}\n")
    uri.write_text(f"mongodb://bob:{PASSWORD}@store/")
    given = {"AGRAJAG_MONITOR_TOKEN_FILE": str(token), "AGRAJAG_MONGO_URI_FILE": str(uri)}
    settings = load_settings(given)
    assert settings.monitor.token is not None
    assert settings.monitor.token.get_secret_value() == PASSWORD
    assert settings.mongo.uri.get_secret_value() == f"mongodb://bob:{PASSWORD}@store/"
    shown = {name: (value, source) for name, value, source in shown_settings(given)}
    assert shown["AGRAJAG_MONITOR_TOKEN"] == ("***", "file")
    assert shown["AGRAJAG_MONGO_URI"] == ("mongodb://***@store/", "file")


def test_a_file_of_a_secret_that_is_of_no_use_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    readable = "the path of a readable file"
    empty = "the path of a file that is not empty"
    for name, right in {"nowhere": readable, "binary": readable, "empty": empty}.items():
        path = str(tmp_path / name)
        assert problems_of(MONITOR_TOKEN_FILE=path) == [
            f"AGRAJAG_MONITOR_TOKEN_FILE={path!r}: should be {right}"
        ]
    (tmp_path / "short").write_text("too-short")
    assert problems_of(MONITOR_TOKEN_FILE=str(tmp_path / "short")) == [
        "AGRAJAG_MONITOR_TOKEN=***: should be at least 16 characters"
    ]
    assert problems_of(MONITOR_TOKEN_FILE="/token", MONITOR_TOKEN=PASSWORD) == [
        "AGRAJAG_MONITOR_TOKEN_FILE='/token': should be not set, as AGRAJAG_MONITOR_TOKEN is"
    ]


def test_an_empty_name_of_a_file_counts_as_not_set() -> None:
    assert load_settings({"AGRAJAG_MONITOR_TOKEN_FILE": ""}) == load_settings({})


def test_only_secrets_stand_in_files() -> None:
    assert problems_of(LOG_LEVEL_FILE="/x") == [
        "AGRAJAG_LOG_LEVEL_FILE: there is no such setting, did you mean AGRAJAG_LOG_LEVEL?"
    ]


def test_the_defaults_of_the_table_are_the_defaults() -> None:
    table = settings_table()
    assert load_settings({name: default for name, default, _ in table}) == load_settings({})


def test_every_setting_has_a_meaning() -> None:
    assert all(meaning and "\n" not in meaning for _, _, meaning in settings_table())

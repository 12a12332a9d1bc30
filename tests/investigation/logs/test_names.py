"""What the name of a log says."""

from datetime import timedelta

import pytest

from agrajag.investigation.logs.names import LONGEST_PERIOD, is_log, log_name
from tests.investigation.logs.folders import NOON


@pytest.mark.parametrize(
    ("name", "service", "day"),
    [
        ("order-service.jsonl", "order-service", None),
        ("pay/order-service-2026-11-30.jsonl", "order-service", "2026-11-30"),
        ("order-service.log.1", "order-service", None),
        ("order-service.log-20261130.gz", "order-service", "2026-11-30"),
        ("app.2026-11-30T13.ndjson.gz", "app", "2026-11-30"),
        ("app-2026113013.json", "app", "2026-11-30"),
        ("2026-11-30.log", None, "2026-11-30"),
        ("app-20269999.log", "app-20269999", None),
        ("app-2026-02-30.log", "app", None),
        ("id-1796040000.log", "id-1796040000", None),
    ],
)
def test_a_name_says_whose_log_it_is_and_of_which_day(
    name: str, service: str | None, day: str | None
) -> None:
    found = log_name(name)

    assert is_log(name)
    assert found.service == service
    assert (None if found.day is None else found.day.date().isoformat()) == day
    assert found.is_packed is name.endswith(".gz")


@pytest.mark.parametrize("name", ["notes.txt", "app.log.zst", "app.log.bak", "log", "app.jsonl.tmp", "a.gz"])
def test_other_files_are_no_logs(name: str) -> None:
    assert not is_log(name)


def test_a_name_with_a_day_is_believed_to_be_at_most_a_month_away_from_its_lines() -> None:
    found = log_name("app-2026-11-30.log")

    assert found.may_hold(NOON + timedelta(days=30), NOON + timedelta(days=31))
    assert found.may_hold(NOON - timedelta(days=31), NOON - timedelta(days=30))
    assert not found.may_hold(NOON + LONGEST_PERIOD + timedelta(days=1), NOON + timedelta(days=40))
    assert not found.may_hold(NOON - timedelta(days=40), NOON - LONGEST_PERIOD - timedelta(days=1))

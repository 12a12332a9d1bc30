"""A health document in the store is the one of the topic, whatever stands in it."""

from datetime import UTC, datetime, timedelta, timezone

import bson
import pytest
from bson import Int64
from hypothesis import given, settings

from agrajag.errors import InputError
from agrajag.model.health import ToolHealth
from agrajag.store.bson_form import AWARE, from_bson, to_bson
from tests.builders import NOW, a_cooldown, a_health
from tests.store.strategies import healths


@given(health=healths)
@settings(deadline=None)
def test_a_document_comes_back_from_bson_as_it_was(health: ToolHealth) -> None:
    on_topic = ToolHealth.model_validate_json(health.to_json())
    stored = bson.decode(bson.encode(to_bson(on_topic)), AWARE)
    read = from_bson(ToolHealth, stored)
    assert read == health
    assert read.to_json() == health.to_json()


def test_every_whole_number_is_an_int64_and_every_enum_a_word() -> None:
    document = to_bson(a_health(revision=7, cooldowns=(a_cooldown(hits=2),)))
    assert type(document["revision"]) is Int64
    assert type(document["cooldowns"][0]["hits"]) is Int64
    assert type(document["scope"]) is str
    assert type(document["counters"]["errors"]) is Int64


def test_times_are_dates_in_utc_cut_to_milliseconds() -> None:
    there = timezone(timedelta(hours=2))
    document = to_bson(a_health(updated_at=datetime(2026, 5, 23, 14, 0, 0, 123_999, there)))
    assert document["updatedAt"] == datetime(2026, 5, 23, 12, 0, 0, 123_000, UTC)
    assert document["createdAt"] == NOW


def test_a_time_without_a_date_in_utc_is_an_input_error() -> None:
    with pytest.raises(InputError, match="out_of_range"):
        to_bson(a_health(created_at=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))))


def test_a_foreign_document_is_an_input_error_that_shows_no_content() -> None:
    with pytest.raises(InputError, match="unreadable") as caught:
        from_bson(ToolHealth, to_bson(a_health()) | {"_id": "a key", "revision": "a secret"})
    assert "revision" in str(caught.value)
    assert "a secret" not in str(caught.value)

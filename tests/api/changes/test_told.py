"""What is said of one document, to whom: written once for all who are told the same."""

import json
from datetime import timedelta

from agrajag.api.changes.told import Told
from agrajag.api.permissions import Principal, Role, shown_to
from agrajag.core.policy import Policy
from agrajag.core.reading import reading
from agrajag.model.enums import Status
from agrajag.model.health import OverrideFacet, ToolHealth
from agrajag.model.reading import HealthReading
from agrajag.view.listening import News
from tests.api.running import key_of
from tests.builders import NOW, a_cooldown, a_health

RITA, BOB, OTTO = (Principal(user, Role.READER, "acme") for user in ("rita", "bob", "otto"))
_LATER = NOW + timedelta(minutes=1)
ADA, ANN = (Principal(user, Role.ADMIN, "acme") for user in ("ada", "ann"))


def test_all_who_are_told_the_same_are_told_the_very_same_bytes() -> None:
    health = a_health(cooldowns=(a_cooldown(user_id="bob"), a_cooldown(user_id="ann")))
    told = Told(News(key_of(health), 1, health.to_json()))
    rita, bob, otto, ada, ann = (told.data(who, NOW, _shown) for who in (RITA, BOB, OTTO, ADA, ANN))
    assert rita is otto
    assert ada is ann
    assert len({rita, bob, ada}) == 3
    assert b"bob" not in (rita or b"")
    assert b"ann" not in (bob or b"")


def test_what_lapses_by_time_alone_is_not_told_from_memory() -> None:
    health = a_health(override=OverrideFacet(status=Status.DOWN, reason="", by="ops", at=NOW, until=_LATER))
    told = Told(News(key_of(health), 1, health.to_json()))
    before, after = told.data(RITA, NOW, _shown), told.data(RITA, _LATER, _shown_later)
    assert [json.loads(data or b"")["status"] for data in (before, after)] == ["DOWN", "OK"]


def test_a_value_that_is_no_document_is_not_told() -> None:
    assert Told(News("acme|GLOBAL||search", 1, b"{}")).data(RITA, NOW, _shown) is None


def _shown(principal: Principal, document: ToolHealth) -> HealthReading:
    return reading(shown_to(principal, document), NOW, Policy())


def _shown_later(principal: Principal, document: ToolHealth) -> HealthReading:
    return reading(shown_to(principal, document), _LATER, Policy())

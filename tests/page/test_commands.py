"""What is asked for on the page is carried out by a real worker, and only offered to those who may."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from agrajag.api.parts import ApiValues
from agrajag.api.permissions import Role
from agrajag.clock import utc_now
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from agrajag.model.enums import Classification, ProbeIdentity, Scope, Status
from agrajag.model.jobs import DiagnosisJob
from agrajag.wire.outputs import Output
from agrajag.wire.reports import report_output
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi, running_api
from tests.builders import a_result, an_error, evidence
from tests.kafka_reading import read_all
from tests.page.conftest import Visit
from tests.page.showing import confirm, down, group, row
from tests.waiting import eventually_blocking


@pytest.fixture(scope="module")
def api(browser: Browser, kafka: EmbeddedKafka, store: EmbeddedStore) -> Iterator[RunningApi]:
    """The whole system, but for the diagnosis."""
    values = ApiValues(ending_seconds=1.0, recheck_wait_seconds=0.1)
    with running_api(
        kafka.bootstrap_servers, store_uri=store.uri, with_worker=True, with_sink=True, values=values
    ) as running:
        yield running


def fail(api: RunningApi, tool: str, user: str = "rita", **report: Any) -> None:
    """The tool refuses a user of acme, now."""
    error = an_error(tool_name=tool, user_id=user, occurred_at=utc_now(), http_status=403, **report)
    api.send(report_output(api.parts.topics, error, f"{tool}-{user}", "agrajag/test"))


def answer(api: RunningApi, tool: str) -> None:
    """The test plays the diagnosis of a tool: it works for the system, and not for the user who asked."""
    topics = api.parts.topics

    def jobs() -> list[DiagnosisJob]:
        records = api.run(read_all(api.parts.connection.bootstrap_servers, topics.name(Topic.DIAGNOSIS_JOBS)))
        found = [DiagnosisJob.from_json(record.value) for record in records]
        return [job for job in found if job.tool_name == tool]

    job, *_ = eventually_blocking(jobs)
    now = utc_now()
    probes = (
        evidence(ProbeIdentity.USER, status_code=401, error_signature="http-401", at=now),
        evidence(ProbeIdentity.SYSTEM, success=True, at=now),
    )
    said = a_result(
        job,
        at=now,
        evidence=probes,
        classification=Classification.USER_SPECIFIC_TECHNICAL,
        wanted=Scope.USER,
        user_action_hint="Sign in again.",
    )
    api.send(Output(topics.name(Topic.DIAGNOSIS_RESULTS), f"acme|{tool}".encode(), said.to_json()))


def test_a_reader_is_offered_nothing_for_others_and_an_operator_what_they_may(
    api: RunningApi, visit: Visit
) -> None:
    api.show(down("offered"), down("offered", scope=Scope.USER, scope_id="rita"))
    page = visit(Role.READER, "#/acme/tools/offered")
    expect(page.get_by_role("heading", name="For project essays")).to_be_visible()
    cards = page.get_by_role("article")
    assert [card.get_by_role("button").all_inner_texts() for card in cards.all()] == [[], ["Recheck"]]
    page = visit(Role.OPERATOR, "#/acme/tools/offered")
    expect(page.get_by_role("heading", name="For project essays")).to_be_visible()
    assert page.get_by_role("article").get_by_role("button").all_inner_texts() == ["Recheck", "Override"]


def test_an_override_says_who_and_why_until_it_is_lifted(api: RunningApi, visit: Visit) -> None:
    api.show(down("moved"))
    page = visit(Role.OPERATOR, "#/acme/tools/moved")
    page.get_by_role("button", name="Override").click()
    page.get_by_role("dialog").get_by_role("button", name="Override").click()
    expect(page.get_by_text("Please say why")).to_be_visible()
    page.get_by_role("radio", name="Degraded").check()
    confirm(page, "Override", "moving house")
    expect(group(page, "Degraded")).to_contain_text("said to be degraded for project essays by otto until")
    expect(page.get_by_role("alert")).to_contain_text("The override is in force.")
    document = api.parts.view.find("acme", Scope.PROJECT, "essays", "moved")
    assert document is not None
    assert document.override is not None
    assert (document.override.status, document.override.reason) == (Status.DEGRADED, "moving house")
    page.get_by_role("button", name="Lift override").click()
    confirm(page, "Lift override", "we have moved")
    expect(page.get_by_role("button", name="Lift override")).to_have_count(0)
    expect(group(page, "Working")).to_contain_text("moved")


def test_who_is_cooling_down_since_when_until_when_and_why_is_listed_and_cleared(
    api: RunningApi, visit: Visit
) -> None:
    for user in ("rita", "otto"):
        fail(api, "refusing", user)
    page = visit(Role.ADMIN, "#/acme/cooldowns")
    entries = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="refusing"))
    expect(entries).to_have_count(2)
    hers = entries.filter(has_text=re.compile("For rita only, since .+ until "))
    expect(hers).to_contain_text("last failed")
    hers.get_by_role("button", name="Clear").click()
    confirm(page, "Clear", "she has the permission now")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("For otto only")
    page = visit(Role.READER, "#/acme/cooldowns")
    expect(page.get_by_role("heading", name="Cooldowns")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    assert page.get_by_role("link", name="refusing").count() == 0


def test_a_user_rechecks_their_own_is_told_what_they_can_do_and_puts_that_away(
    api: RunningApi, visit: Visit
) -> None:
    fail(api, "calendar_read")
    page = visit(Role.READER, "#/acme/tools/calendar_read")
    page.get_by_role("button", name="Recheck").click()
    confirm(page, "Recheck", "I have signed in again")
    expect(page.get_by_role("alert")).to_contain_text("What it finds will show here.")
    answer(api, "calendar_read")
    expect(group(page, "Down")).to_contain_text("calendar_read")
    inbox = page.get_by_role("link", name="Inbox")
    expect(inbox).to_contain_text("1")
    inbox.click()
    message = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="calendar_read"))
    expect(message).to_contain_text("Sign in again.")
    expect(message).to_contain_text("for you")
    message.get_by_role("button", name="Dismiss").click()
    confirm(page, "Dismiss", "done")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(row(page, "calendar_read")).to_have_count(0)

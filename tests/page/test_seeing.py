"""Who sees what on the page, and that it stays true without a reload."""

from playwright.sync_api import expect

from agrajag.api.permissions import Role
from agrajag.embedded import EmbeddedKafka
from agrajag.model.enums import Scope
from agrajag.model.health import HealthCounters
from agrajag.wire.tombstones import tombstone
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi, key_of, running_api, secret_of
from tests.page.conftest import Visit
from tests.page.showing import cut_streams, down, group, only, row, show_together, working


def test_somebody_signs_in_sees_the_tools_by_state_finds_one_and_signs_out(
    api: RunningApi, visit: Visit
) -> None:
    counters = HealthCounters(errors=214, suppressed=212)
    api.show(down("calendar", scope=Scope.USER, scope_id="rita", counters=counters), working("weather"))
    page = visit(None)
    token = page.get_by_label("Token")
    token.fill("not-a-token")
    token.press("Enter")
    expect(page.get_by_text("Your token is not accepted")).to_be_visible()
    token.fill(secret_of("acme", "rita"))
    token.press("Enter")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(group(page, "Down")).to_contain_text("calendar")
    expect(group(page, "Working")).to_contain_text("weather")
    expect(row(page, "calendar")).to_contain_text("down for rita only since")
    expect(row(page, "calendar")).to_contain_text("connection refused; 212 diagnoses spared")
    strip = row(page, "calendar").get_by_role("img").get_attribute("aria-label") or ""
    assert strip.startswith("Last 24 hours: not known for 15 h until")
    assert "working for 8 h until" in strip
    assert "down since" in strip

    find = page.get_by_role("searchbox")
    find.fill("weather")
    expect(row(page, "calendar")).to_have_count(0)
    expect(row(page, "weather")).to_be_visible()
    find.fill("no such thing")
    page.get_by_role("button", name="Show all tools").click()
    only(page, "Down").check()
    expect(row(page, "weather")).to_have_count(0)
    expect(row(page, "calendar")).to_be_visible()

    page.get_by_role("link", name="calendar", exact=True).click()
    assert secret_of("acme", "rita") not in page.url
    page.get_by_role("button", name="Sign out").click()
    expect(token).to_be_visible()
    expect(page.get_by_text("connection refused")).to_have_count(0)
    assert page.evaluate("sessionStorage.getItem('agrajag.token')") is None


def test_a_change_shows_without_a_reload_is_told_to_those_who_listen_and_takes_no_focus(
    api: RunningApi, visit: Visit
) -> None:
    api.show(working("fickle"))
    page = visit(Role.OPERATOR, "#/acme/tools/fickle")
    recheck = page.get_by_role("button", name="Recheck")
    recheck.focus()
    page.evaluate("window.stillThis = true")

    api.show(down("fickle", revision=2))
    expect(group(page, "Down")).to_contain_text("fickle")
    expect(page.locator("#announcer")).to_have_text("fickle: down")
    expect(recheck).to_be_focused()
    page.get_by_text("History, 2 changes").click()

    api.show(down("fickle", revision=3, counters=HealthCounters(errors=7)))
    expect(page.get_by_text("7 errors")).to_be_visible()
    expect(page.locator("details")).to_have_attribute("open", "")

    name = api.parts.topics.name(Topic.HEALTH_CHANGED)
    api.send(tombstone(name, key_of(working("fickle")).encode(), 4))
    expect(page.get_by_text("Nothing is known against this tool.")).to_be_visible()
    expect(row(page, "fickle")).to_have_count(0)
    assert page.evaluate("window.stillThis")


def test_after_a_break_the_page_says_since_when_it_is_stale_and_catches_up(
    api: RunningApi, visit: Visit
) -> None:
    api.show(working("interrupted"))
    page = visit(Role.OPERATOR)
    live = page.locator("#live")
    expect(live).to_have_text("Live")
    page.clock.install()
    page.route("**/changes", lambda route: route.abort())
    cut_streams(api)
    expect(live).to_have_text("Reconnecting…")
    page.clock.run_for(60_000)
    expect(live).to_contain_text("Stale since")
    api.show(down("interrupted", revision=2))
    with page.expect_request("**/changes") as again:
        page.unroute("**/changes")
        page.clock.run_for(60_000)
    assert again.value.headers["last-event-id"]
    expect(live).to_have_text("Live")
    expect(group(page, "Down")).to_contain_text("interrupted")


def test_of_five_hundred_tools_a_change_touches_the_row_of_its_own(api: RunningApi, visit: Visit) -> None:
    show_together(api, [working(f"tool_{number}", tenant_id="globex") for number in range(500)])
    page = visit(Role.READER, tenant="globex")
    expect(page.locator("#group-ok")).to_contain_text("500")
    page.evaluate(
        """() => {
            window.touched = 0;
            const count = (told) => told.forEach((one) => { window.touched += one.addedNodes.length; });
            const looked = { childList: true, subtree: true };
            new MutationObserver(count).observe(document.getElementById("groups"), looked);
        }"""
    )
    api.show(down("tool_250", revision=2, tenant_id="globex"))
    # By its id: among so many rows a look for roles takes longer than all else here.
    expect(page.locator("section[aria-labelledby=group-down]")).to_contain_text("tool_250")
    assert 0 < page.evaluate("window.touched") < 20


def test_an_empty_system_says_what_to_do_and_then_shows_what_comes_without_a_token(
    kafka: EmbeddedKafka, visit: Visit
) -> None:
    with running_api(kafka.bootstrap_servers, with_tokens=False) as alone:
        page = visit(None, url=alone.url)
        expect(page.get_by_role("heading", name="Nothing has been reported yet")).to_be_visible()
        expect(page.get_by_text("agrajag report my_tool")).to_be_visible()
        alone.show(down("first"), down("other", tenant_id="globex"))
        page.get_by_role("button", name="Try again").click()
        expect(group(page, "Down")).to_contain_text("first")
        page.get_by_label("Tenant").select_option("globex")
        expect(group(page, "Down")).to_contain_text("other")
        expect(row(page, "first")).to_have_count(0)

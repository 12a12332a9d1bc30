"""The page without a mouse, without sight, on a phone, and with texts of somebody who means harm."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agrajag.api.permissions import Role
from agrajag.clock import utc_now
from agrajag.model.enums import Classification, Scope, Status
from agrajag.model.health import Cooldown, HistoryEntry, LastDiagnosis, OverrideFacet
from agrajag.wire.outputs import Output
from agrajag.wire.topics import Topic
from tests.api.running import RunningApi
from tests.builders import a_cooldown, a_health, an_inbox_item
from tests.page.conftest import Visit
from tests.page.showing import down, only, row, working

DESK, PHONE = (1280, 900), (320, 640)
HOSTILE = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>\'"&amp;{{7*7}}\u2028'


def violations(page: Page, **options: Any) -> list[str]:
    """What axe holds against what is shown now."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [f"{one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]


def cooling(user: str | None = "rita", **overrides: Any) -> Cooldown:
    """A cooldown that lasts."""
    until = utc_now().replace(year=utc_now().year + 1)
    return a_cooldown(
        user_id=user, next_spawn_allowed_at=until, last_triggered_at=utc_now(), note="403", **overrides
    )


def test_axe_finds_nothing_in_light_and_dark_on_a_desk_and_on_a_phone(api: RunningApi, visit: Visit) -> None:
    api.show(
        down("seen", cooldowns=(cooling(),)),
        down("seen", scope=Scope.TENANT, scope_id="acme"),
        working("seen_well"),
    )
    page = visit(Role.ADMIN, "#/acme/tools/seen")
    expect(page.get_by_role("article")).to_have_count(2)
    page.get_by_text("History, 2 changes").first.click()
    only_colours = {"runOnly": ["color-contrast"]}
    looked_at = {DESK: ("tools/seen", "cooldowns"), PHONE: ("tools", "tools/seen")}
    for (width, height), places in looked_at.items():
        page.set_viewport_size({"width": width, "height": height})
        for place in places:
            page.goto(f"{api.url}/#/acme/{place}")
            page.emulate_media(color_scheme="light")
            assert violations(page) == []
            page.emulate_media(color_scheme="dark")
            assert violations(page, **only_colours) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Clear").first.click()
    assert violations(page) == []


def test_everything_can_be_done_with_the_keys_alone(api: RunningApi, visit: Visit) -> None:
    api.show(down("key_one"), down("key_two"))
    page = visit(Role.OPERATOR)
    expect(row(page, "key_one")).to_be_visible()
    keys = page.keyboard
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    keys.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.type("key_")
    expect(page.locator("#found")).to_have_text("2 tools found")
    keys.press("Tab")
    expect(only(page, "Down")).to_be_focused()
    keys.press("j")
    expect(page.get_by_role("link", name="key_one")).to_be_focused()
    keys.press("j")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="key_two", level=1)).to_be_visible()
    expect(page.locator("#detail")).to_be_focused()
    keys.press("Tab")
    expect(page.get_by_role("button", name="Recheck")).to_be_focused()
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_role("dialog", name="Override key_two")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("button", name="Override")).to_be_focused()
    keys.press("r")
    expect(page.get_by_role("dialog", name="Recheck key_two")).to_be_visible()
    keys.press("Escape")
    keys.press("Escape")
    expect(page.get_by_role("link", name="key_two")).to_be_focused()
    keys.press("?")
    page.get_by_label("Use these keys").uncheck()
    keys.press("Escape")
    keys.press("3")
    expect(page.get_by_role("heading", name="Tools")).to_be_visible()


def test_texts_of_strangers_are_shown_as_texts_in_every_field(api: RunningApi, visit: Visit) -> None:
    name = HOSTILE.replace("\u2028", "") + "/../%2e"
    now = utc_now()
    document = down(
        name,
        scope=Scope.USER,
        scope_id=name,
        cooldowns=(cooling(name, error_signature=name),),
        history=(HistoryEntry(at=now, last_at=now, status=Status.DOWN, by=name, note=HOSTILE),),
        override=OverrideFacet(status=Status.DOWN, reason=HOSTILE, by=name, at=now),
        last_diagnosis=LastDiagnosis(
            classification=Classification.UNCLEAR,
            note=HOSTILE,
            by=name,
            at=now,
            error_signature=name,
            job_id="j",
        ),
    )
    api.show(document, a_health(tool_name=name, cooldowns=(cooling(name),), updated_at=now))
    topic = api.parts.topics.name(Topic.INBOX_ITEMS)
    item = an_inbox_item(
        item_id="hostile", assigned_to_user_id="ada", tool_name=name, title=HOSTILE, body=HOSTILE
    )
    api.send(Output(topic, b"hostile", item.to_json()))
    page = visit(Role.ADMIN)
    page.get_by_role("searchbox").fill("owned")
    row(page, name).get_by_role("link").click()
    page.get_by_text("History, 1 change").first.click()
    cards = page.get_by_role("article")
    expect(cards).to_have_count(2)
    assert cards.first.inner_text().count('<img src=x onerror="window.owned=1">') >= 7
    page.get_by_role("button", name="Recheck").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("<script>window.owned=1</script>")
    page.keyboard.press("Escape")
    for view in ("Cooldowns", "Inbox"):
        page.get_by_role("link", name=view).click()
        expect(page.get_by_role("listitem").filter(has_text="window.owned=1").first).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("dialog")).to_contain_text("<img src=x")
    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main script, dialog img, dialog script").count() == 0

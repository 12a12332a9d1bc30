"""The parts of the page that decide, asked one by one where they live: in a browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from agrajag.api.page import page_assets

NOW = "new Date('2026-05-23T12:00:00Z')"
"""A Saturday; two o'clock where the browser is."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    assets = page_assets()

    def serve(route: Route) -> None:
        asset = assets[route.request.url.rpartition("/")[2]]
        route.fulfill(body=asset.content, content_type=asset.media_type)

    with browser.new_context(timezone_id="Europe/Zurich") as context:
        context.route("http://page.test/**", serve)
        page = context.new_page()
        page.goto("http://page.test/assets/icon.svg")
        yield page


def asked(page: Page, module: str, expression: str) -> Any:
    """What an expression about the module `it` gives."""
    return page.evaluate(f"import('/assets/{module}.js').then((it) => {expression})")


def test_events_are_the_same_wherever_the_stream_is_cut(page: Page) -> None:
    told = r"retry: 9\r\n: alive\nid: 1a\n\nevent: changed\ndata: {\ndata:  é}\nid: 2b\r\r\n"
    told += r"event: gone\ndata\n\ndata: lost"
    found = asked(
        page,
        "sse",
        f"""Array.from({{ length: "{told}".length + 1 }}, (_, at) => {{
            const reader = new it.EventReader();
            const events = [...reader.take("{told}".slice(0, at)), ...reader.take("{told}".slice(at))];
            return JSON.stringify([events, reader.lastId, reader.retry]);
        }})""",
    )
    events = '[{"event":"changed","data":"{\\n é}"},{"event":"gone","data":""}]'
    assert set(found) == {f'[{events},"2b",9]'}


def test_a_place_in_the_address_is_read_back_whatever_a_tool_is_called(page: Page) -> None:
    for tool in ("a/b", "..", "%2F%", "#?&=", "ä|<b>", "tools"):
        given = {"tenant": "a/c", "view": "tools", "tool": tool}
        assert (
            page.evaluate(
                "(given) => import('/assets/route.js').then((it) => it.routeOf(it.hashOf(given)))", given
            )
            == given
        )
    nowhere = {"tenant": None, "view": "tools", "tool": None}
    assert asked(page, "route", "['', '#/', '#/%E0/no-view/x'].map(it.routeOf)") == [nowhere] * 3


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("2026-05-23T12:00:10Z", "14:00 (in a moment)"),
        ("2026-05-23T12:12:00Z", "14:12 (in 12 min)"),
        ("2026-05-23T07:00:00Z", "09:00 (5 h ago)"),
        ("2026-05-22T12:00:00Z", "Fri 14:00 (24 h ago)"),
        ("2026-05-03T12:00:00Z", "3 May, 14:00 (20 days ago)"),
        ("2024-05-03T12:00:00Z", "3 May 2024 (750 days ago)"),
    ],
)
def test_a_time_is_told_by_the_clock_of_whoever_looks_and_by_how_far_it_is(
    page: Page, when: str, words: str
) -> None:
    told = f"`${{it.onTheClock('{when}', {NOW})}} (${{it.howFar('{when}', {NOW})}})`"
    assert asked(page, "times", told) == words


def test_the_words_of_the_api_tell_their_times_by_the_clock_of_whoever_looks(page: Page) -> None:
    words = "down for <b> until 14:05 UTC: since 2026-05-21 23:30 UTC, at 25:99 UTC"
    shown = f"it.wordNodes('{words}', {NOW}).map((one) => one.textContent ?? one).join('')"
    assert asked(page, "words", shown) == "down for <b> until 16:05: since Fri 01:30, at 25:99 UTC"


def test_buttons_are_for_those_who_may(page: Page) -> None:
    scopes = "[['USER', 'me'], ['USER', 'you'], ['SESSION', 's'], ['PROJECT', 'p'], ['GLOBAL', '']]"
    offered = f"""['reader', 'operator', 'admin'].map((role) => {scopes}.map(([scope, scopeId]) =>
        ['recheck', 'clear', 'override'].filter(
            (act) => it.may({{ role, user: 'me' }}, act, {{ scope, scopeId }})).length))"""
    assert asked(page, "roles", offered) == [[2, 0, 0, 0, 0], [3, 0, 3, 3, 3], [3, 3, 3, 3, 3]]


def test_the_wait_before_the_next_try_grows_is_bounded_and_never_the_same_for_all(page: Page) -> None:
    waits = asked(
        page,
        "changes",
        "[1, 2, 3, 20].map((failures) => [0, 1].map((chance) => it.pauseMs(failures, 500, chance)))",
    )
    assert waits == [[375, 625], [750, 1250], [1500, 2500], [22500, 37500]]


def test_a_reading_is_asked_for_again_when_the_first_of_its_times_is_over(page: Page) -> None:
    reading = """{ health: { override: { until: '2026-05-23T11:00:00Z' },
            verdict: { expectedRecoveryAt: '2026-05-23T14:00:00Z' } },
        calling: [{ until: '2026-05-23T13:00:00Z' }] }"""
    due = f"new Date(it.dueOf({reading}, {NOW})).toISOString()"
    assert asked(page, "summary", due) == "2026-05-23T13:00:00.000Z"
    assert asked(page, "summary", f"it.dueOf({{ health: {{}} }}, {NOW})") is None


def test_the_strip_ends_with_what_nobody_believes_any_more(page: Page) -> None:
    reading = """{ status: 'OK', unconfirmedSince: '2026-05-23T06:00:00Z', health: { history: [
        { at: '2026-05-21T12:00:00Z', status: 'OK' }, { at: '2026-05-23T00:00:00Z', status: 'DOWN' }] } }"""
    now = f"{NOW}.getTime()"
    told = f"it.segmentsInWords(it.segmentsOf({reading}, {now}), {NOW})"
    assert asked(page, "strip", told) == (
        "Last 24 hours: working for 12 h until 02:00, down for 6 h until 08:00, not known since 08:00"
    )

"""A real browser before a real API: the machine's own Chromium, one for all tests of the page."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from agrajag.api.permissions import Role
from agrajag.embedded import EmbeddedKafka, EmbeddedStore
from tests.api.running import USERS, RunningApi, running_api, secret_of

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 15_000
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

expect.set_options(timeout=PATIENCE_MS)

Visit = Callable[..., Page]
"""`visit(role, hash, ...)` opens the page as somebody of a tenant; without a role nobody has signed in."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{CHROMIUM} is missing, and the status page is tested in it")
        pytest.skip(f"{CHROMIUM} is missing: the status page is not tried in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def api(browser: Browser, kafka: EmbeddedKafka, store: EmbeddedStore) -> Iterator[RunningApi]:
    """Without a worker: what is shown are the documents that a test puts there. Tests of a module share its topics, so
    each speaks of tools of its own."""
    with running_api(kafka.bootstrap_servers, store_uri=store.uri, with_sink=True) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, api: RunningApi) -> Iterator[Visit]:
    """Every page that it opened must have been content: no script failed, nothing was refused by the policy."""
    complaints: list[str] = []
    with ExitStack() as ends:

        def open_page(
            role: Role | None = Role.ADMIN,
            place: str = "",
            *,
            url: str = api.url,
            tenant: str = "acme",
            width: int = 1280,
            height: int = 900,
            scheme: str = "light",
        ) -> Page:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                timezone_id="Europe/Zurich",
            )
            ends.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            if role is not None:
                token = secret_of(tenant, USERS[role])
                context.add_init_script(f"sessionStorage.setItem('agrajag.token', '{token}')")
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda told: complaints.append(told.text) if "Content Security" in told.text else None,
            )
            page.goto(f"{url}/{place}")
            return page

        yield open_page
        assert complaints == []

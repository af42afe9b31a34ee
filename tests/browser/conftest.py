"""The report in a real browser. The lane needs Chromium and the drivers of the development extra; without them it is skipped, with the reason."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPORTS = Path(__file__).parents[2] / "reports"
#: Of axe's rules, those about colours (by tag); those whose answer depends on how wide the window is; and both.
COLOURS = "{type: 'tag', values: ['cat.color']}"
LAYOUT = "{type: 'rule', values: ['scrollable-region-focusable', 'target-size']}"
BOTH = "{type: 'rule', values: ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']}"
#: What is asked of each width, by theme. Colours are those of 1440 at 768, where letters are smaller: ``test_reports`` shows it.
ASKED = {"light": {1440: LAYOUT, 768: BOTH, 320: ""}, "dark": {768: COLOURS, 320: COLOURS}}
#: Marks the first of all elements with text that look alike: in their own colours, letters and names, and in those of all that they are inside.
FIRST_ALIKE = """(() => {
  const seen = new Set();
  const looks = one => {
    const style = getComputedStyle(one);
    return [one.localName, one.getAttribute('class'), style.color, style.fill, style.backgroundColor, style.backgroundImage,
      style.opacity].join(' ');
  };
  for (const one of document.querySelectorAll('body *')) {
    one.removeAttribute('data-first-alike');
    if (![...one.childNodes].some(inside => inside.nodeType === Node.TEXT_NODE && inside.data.trim())) continue;
    const style = getComputedStyle(one);
    const names = [style.fontSize, style.fontWeight, style.textShadow, style.textDecorationLine];
    for (let around = one; around; around = around.parentElement) names.push(looks(around));
    const key = names.join('|');
    if (!seen.has(key)) one.setAttribute('data-first-alike', '');
    seen.add(key);
  }
  return seen.size;
})()"""
#: Where a page could leave something for the next one in its window.
KEPT = "[window.name, document.cookie, localStorage.length, sessionStorage.length]"
#: Nothing but the page: no sandbox (a gate runs as root in a container), no service of the browser that calls home.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
)


@dataclass
class Opened:
    """A page, every address that it asked for, every error and every dialog."""

    page: Any
    axe: str
    requests: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)

    def violations(self, only: str = "", *, of_alike: bool = False) -> list[str]:
        """What axe-core finds against WCAG 2.2 AA and its best practices, or against ``only`` some rules: rule and element.

        ``of_alike``: of the elements with text that look alike, only the first is looked at.
        """
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(self.axe)
        rules = f"runOnly: {only}, " if only else ""
        context = ""
        if of_alike:
            assert self.page.evaluate(FIRST_ALIKE) > 0
            context = "{include: [['[data-first-alike]']]}, "
        found = self.page.evaluate(
            f"axe.run({context}{{{rules}resultTypes: ['violations'], preload: false, performanceTimer: false}})"
            ".then(r => r.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(' ')}: ${v.help}`)))"
        )
        return sorted(found)

    def judge_at_every_width(self, scheme: str) -> None:
        """Assert that axe finds nothing, and that nothing runs off the page, at any width.

        All rules are asked of the light page in the narrowest window; at other widths, what can differ there. The dark page is the same
        but for its colours: no element lies elsewhere than on the light one, so that those that look alike have the same contrast.
        """
        for width in (1440, 768, 320):
            self.page.set_viewport_size({"width": width, "height": 900})
            assert self.overflow() <= 0, width
            assert self.spilled() == [], width
            if width in ASKED[scheme]:
                assert self.violations(ASKED[scheme][width], of_alike=scheme == "dark") == [], width

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")

    def spilled(self) -> list[str]:
        """The figures beside the decision whose words run over the edge of their box."""
        return self.page.evaluate(
            "[...document.querySelectorAll('.figure')].filter(box => [...box.querySelectorAll('*')].some(one =>"
            " one.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)).map(box => box.innerText)"
        )


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests of a worker."""
    found = os.environ.get("PRIVRELEASE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("lane browser: no Chromium found (install chromium, or name it in PRIVRELEASE_CHROMIUM)")
    driver = pytest.importorskip("playwright.sync_api", reason="lane browser: playwright is not installed (extra dev)")
    with driver.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield chromium
        chromium.close()


class Window:
    """A window of the browser that shows one page after another: a process and a first drawing for all of them, where each page had its own.

    A report keeps nothing beyond its page: what it writes down is asked of each page when it is left.
    """

    def __init__(self, browser: Any, axe: str, *, script: bool) -> None:
        self._context = browser.new_context(java_script_enabled=script, offline=True)
        self._page = self._context.new_page()
        self._seen = Opened(self._page, axe)
        self._axe = axe
        self._used = False
        self._page.on("request", lambda request: self._seen.requests.append(request.url))
        self._page.on("console", lambda message: self._seen.noise.append(f"{message.type}: {message.text}"))
        self._page.on("pageerror", lambda error: self._seen.noise.append(str(error)))
        self._page.on("dialog", lambda dialog: (self._seen.noise.append("a dialog"), dialog.dismiss()))

    @contextmanager
    def showing(self, path: Path, width: int, scheme: str) -> Iterator[Opened]:
        """Show a page as a new window of this width would; afterwards nothing."""
        assert not self._used, "the window shows a page: two pages at once need two windows"
        self._used = True
        self._page.set_viewport_size({"width": width, "height": 900})
        self._page.emulate_media(media="screen", color_scheme=scheme)
        self._seen = Opened(self._page, self._axe)
        self._page.goto(path.as_uri())
        try:
            yield self._seen
            assert self._page.evaluate(KEPT) == ["", "", 0, 0], "kept by the page"
        finally:
            self._page.goto("about:blank")
            self._used = False


@pytest.fixture(scope="session")
def axe() -> str:
    module = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="lane browser: axe-playwright-python is not installed (extra dev)"
    )
    return module.Axe().axe_script


@pytest.fixture(scope="session")
def opened(browser, axe) -> Callable[..., Any]:
    """Open a file in a window: ``with opened(path, width=320, scheme="dark") as seen``."""
    windows = {}

    def open_file(path: Path, width: int = 1440, scheme: str = "light", *, script: bool = True) -> Any:
        if script not in windows:
            windows[script] = Window(browser, axe, script=script)
        return windows[script].showing(path, width, scheme)

    return open_file


@pytest.fixture
def opened_apart(browser, axe) -> Callable[..., Any]:
    """Open files in a window of the test's own: what they keep, the browser may still be clearing when the next test begins."""
    window = Window(browser, axe, script=True)
    return lambda path: window.showing(path, 1440, "light")

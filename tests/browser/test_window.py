"""The window that shows pages one after another: none sees what the page before did, and one that keeps something is found out."""

from __future__ import annotations

import pytest

from tests.browser.conftest import COLOURS


def test_a_page_meets_nothing_of_the_page_before(opened, tmp_path):
    first, second = (tmp_path / f"{name}.html" for name in ("first", "second"))
    first.write_text(
        "<title>first</title><script>window.kept = 1; console.log('said'); alert('asked')</script>", encoding="utf-8"
    )
    second.write_text("<title>second</title>", encoding="utf-8")
    with opened(first, width=320, scheme="dark") as seen:
        assert seen.noise == ["log: said", "a dialog"]
        seen.page.emulate_media(media="print")
    with opened(second) as seen:
        assert seen.requests == [second.as_uri()]
        assert seen.noise == []
        asked = "[window.kept === undefined, innerWidth, matchMedia('screen').matches, matchMedia('(prefers-color-scheme: dark)').matches]"
        assert seen.page.evaluate(asked) == [True, 1440, True, False]


@pytest.mark.parametrize(
    ("keeps", "clears"),
    [
        ("localStorage.setItem('a', 'b')", "localStorage.clear()"),
        ("sessionStorage.setItem('a', 'b')", "sessionStorage.clear()"),
        ("window.name = 'a'", "window.name = ''"),
    ],
)
def test_a_page_that_keeps_something_is_found_out(opened_apart, tmp_path, keeps, clears):
    path = tmp_path / "keeps.html"
    path.write_text(f"<script>{keeps}</script>", encoding="utf-8")
    with pytest.raises(AssertionError, match="kept by the page"), opened_apart(path):
        pass
    with opened_apart(path) as seen:
        seen.page.evaluate(clears)


def test_two_pages_at_once_are_refused(opened, tmp_path):
    path = tmp_path / "empty.html"
    path.write_text("<title>empty</title>", encoding="utf-8")
    with opened(path), pytest.raises(AssertionError, match="two windows"), opened(path):
        pass


@pytest.mark.parametrize(
    "faint",
    [
        "tr:nth-child(17) td { color: #333 }",
        "tr:nth-child(17) { background: #bbb }",
        "tr:nth-child(17) i { opacity: .2 }",
        ".one { color: #333 }",
    ],
)
def test_one_faint_text_among_many_that_look_alike_is_found(opened, tmp_path, faint):
    """Of those that look alike one is asked: what looks different is asked itself."""
    path = tmp_path / "rows.html"
    rows = "".join(f"<tr><td{' class=one' if n == 20 else ''}>row <i>{n}</i></td></tr>" for n in range(30))
    style = "<style>body { background: #111; color: #ddd } @media (prefers-color-scheme: dark) { FAINT }</style>"
    page = (
        f"<html lang=en><title>rows</title>{style}<main><h1>Rows</h1><table><caption>Rows</caption>{rows}</table></main></html>"
    )
    path.write_text(page.replace("FAINT", faint), encoding="utf-8")
    with opened(path, scheme="light") as seen:
        assert seen.violations(COLOURS, of_alike=True) == []
    with opened(path, scheme="dark") as seen:
        assert any(one.startswith("color-contrast: ") for one in seen.violations(COLOURS, of_alike=True))
        asked, whole = seen.page.evaluate(
            "[document.querySelectorAll('[data-first-alike]').length, document.querySelectorAll('td, i').length]"
        )
        assert asked < whole / 4

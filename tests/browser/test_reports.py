"""The examples' reports in Chromium: accessible, self-contained, readable at every width, in both themes, without script and printed."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from privrelease.report.forms.json_report import read_audit
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition
from privrelease.texts.catalogue import catalogue_of

REPORTS = Path(__file__).parents[2] / "reports"
AUDITS = sorted(path.parent.name for path in REPORTS.glob("*/audit.json"))
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true })"
SCREEN = 900  # pixels of a screen at 1280
PAPER = 718  # pixels of an A4 page between our margins


@pytest.fixture(
    scope="module", params=[(name, edition) for name in AUDITS for edition in Edition], ids=lambda p: f"{p[0]}-{p[1]}"
)
def written(request, tmp_path_factory):
    name, edition = request.param
    path = tmp_path_factory.mktemp("report") / f"{name}.{edition}.html"
    path.write_text(render_html(read_audit(REPORTS / name / "audit.json"), edition), encoding="utf-8")
    return path


def test_the_diabetes_and_census_examples_have_reports():
    assert {"diabetes-microdata", "diabetes-statistics", "census-microdata"} <= set(AUDITS)


def test_colours_change_in_narrow_windows_only_and_a_wider_one_makes_no_letter_smaller():
    """Why axe is asked about colours at two of the widths: 40rem, 640 pixels, lie between them."""
    style = resources.files("privrelease.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    by_width = re.findall(r"@media ([^{]*-width[^{]*)\{((?:[^{}]|\{[^{}]*\})*)\}", style)
    assert len(by_width) >= 3
    coloured = re.compile(r"(?<![\w-])(?:color|background(?:-color)?|opacity|--[\w-]+)\s*:")
    assert [query.strip() for query, rules in by_width if coloured.search(rules)] == ["screen and (max-width: 40rem)"]
    assert [query for query, rules in by_width if "font" in rules and "max-width" not in query] == []


def test_the_dark_theme_changes_colours_alone():
    """Why the dark page is asked about the colours of elements that look different, and about nothing else."""
    style = resources.files("privrelease.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
    (rules,) = re.findall(r"@media [^{]*prefers-color-scheme[^{]*\{\s*:root\s*\{([^{}]*)\}\s*\}", style)
    assert re.fullmatch(r"(?:\s*--[\w-]+:\s*#[0-9a-f]{6};)+\s*", rules)
    assert style.count("prefers-color-scheme") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation_and_nothing_runs_off_the_page_at_any_width(opened, written, scheme):
    with opened(written, scheme=scheme) as seen:
        if scheme == "light":
            assert seen.violations() == [], "folded"
        seen.page.evaluate(UNFOLD)
        seen.judge_at_every_width(scheme)
        paper = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(18, 22, 28)")
        assert seen.requests == [written.as_uri()]
        assert seen.noise == []


@pytest.mark.parametrize("language", ["de", "fr"])
@pytest.mark.parametrize("name", AUDITS)
def test_longer_words_of_other_languages_stay_in_their_boxes(opened, tmp_path, name, language):
    path = tmp_path / "report.html"
    path.write_text(
        render_html(read_audit(REPORTS / name / "audit.json"), Edition.INTERNAL, catalogue_of(language)), encoding="utf-8"
    )
    with opened(path) as seen:
        for width in (320, 400, 768, 1280):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.overflow() <= 0, width
            assert seen.spilled() == [], width


def test_print_is_accessible_light_and_shows_everything(opened, written):
    with opened(written, width=PAPER, scheme="dark") as seen:
        screen = seen.page.inner_text("main")
        seen.page.emulate_media(media="print", color_scheme="dark")
        assert seen.violations() == []
        assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert (
            seen.page.evaluate(
                """[...document.querySelectorAll('main *')].filter(one => !one.closest('svg') && one.tagName !== 'BDI'
                 && getComputedStyle(one).display === 'none').map(one => one.outerHTML)"""
            )
            == []
        )
        assert (
            seen.page.evaluate(
                """[...document.querySelectorAll('main div, main section, main table')]
                 .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible'
                   || one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY !== 'visible')
                 .map(one => one.className)"""
            )
            == []
        )
        folded = "[...document.querySelectorAll('details:not([open]) > *')]"
        assert seen.page.evaluate(f"{folded}.length") > 10
        assert seen.page.evaluate(f"{folded}.filter(one => !one.checkVisibility() || !one.getClientRects().length).length") == 0
        assert seen.overflow() <= 0
        assert set(screen.split()) - set(seen.page.inner_text("main").split()) == set()


def test_a_page_without_script_says_the_same(opened, written):
    with opened(written) as seen, opened(written, script=False) as without:
        assert without.page.inner_text("body") == seen.page.inner_text("body")
        assert len(without.page.inner_text("main")) > 1000


def test_a_page_is_at_most_five_screens_before_anything_is_unfolded(opened, written):
    with opened(written, width=1280) as seen:
        assert seen.page.evaluate("document.documentElement.scrollHeight") <= 5 * SCREEN


def test_a_heading_that_the_contents_lead_to_is_seen(opened, written):
    with opened(written, width=1280) as seen:
        hidden = (
            "[...document.querySelectorAll('nav a')].filter(one => !document.querySelector(one.hash + '-h').checkVisibility())"
        )
        assert seen.page.evaluate(f"{hidden}.length") == 0


def test_every_page_is_below_a_megabyte(written):
    assert written.stat().st_size < 1_000_000

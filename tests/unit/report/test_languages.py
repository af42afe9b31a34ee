"""Pages in other languages: no English title of a check, no English words for values, no decimal point where a comma is due."""

from __future__ import annotations

import html
import re
from fractions import Fraction
from pathlib import Path

import pytest

from privrelease.audit.all_checks import ALL_CHECKS
from privrelease.audit.document.model import Outcome
from privrelease.report.charts.intervals import steps
from privrelease.report.forms.json_report import read_audit
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition
from privrelease.report.view.standing import Standing
from privrelease.texts.catalogue import LANGUAGES, catalogue_of, sentences

REPORTS = Path(__file__).parents[3] / "reports"
AUDITS = sorted(REPORTS.glob("*/audit.json"))
OTHERS = [language for language in LANGUAGES if language != "en"]
#: Words of domains as ``audit.json`` has them.
DOMAIN_WORDS = re.compile(
    r"\bin steps of\b|\d to \d|\[[^\]]*\) to \[|\bbins\b|, grid \d|\bmissing values as\b|\d groups\b|\d values\b"
)
#: Apostrophes and quotation marks, straight and typographic.
ALL_MARKS = "'\"`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
#: A decimal point between digits, but of versions, which have two, and of epsilon in a name.
POINT = re.compile(r"(?<![\d.\w])\d+\.\d+(?![\d.]*\.\d)(?!\w)")


def visible(page: str) -> str:
    """The text of a page outside code, policy excerpts, and what is marked as English."""
    page = re.sub(r"<(style|code|pre|title)\b[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    page = re.sub(r'<bdi lang="en">.*?</bdi>', "", page, flags=re.DOTALL)
    page = re.sub(r'<section id="identity".*?</section>', "", page, flags=re.DOTALL)  # versions and digests
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def without_thousands(text: str, language: str) -> str:
    """The text without points that separate thousands, where the language writes these."""
    return (
        re.sub(r"\b\d{1,3}(?:\.\d{3})+(?!\d)", "", text) if catalogue_of(language).texts["numbers.thousands"] == "." else text
    )


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("path", AUDITS, ids=lambda path: path.parent.name)
def test_a_page_of_every_kind_shows_no_english_title_domain_or_decimal_point(path, language, edition):
    audit = read_audit(path)
    english_page = visible(render_html(audit, edition))
    page = visible(render_html(audit.model_copy(update={"language": language}), edition))
    lines = {line.strip() for line in page.splitlines()}
    titles = {text for key, text in sentences().items() if key.startswith("title.")}
    assert not lines & titles
    assert not DOMAIN_WORDS.findall(page)
    assert not [one for one in POINT.findall(without_thousands(page, language)) if one != "0.1.0"]
    if edition is Edition.INTERNAL:  # the test can see what it looks for
        assert POINT.search(english_page)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("state", ["quarantined", "parked"])
def test_pages_of_releases_that_were_not_published_are_in_their_language(language, state):
    audit = read_audit(next(path for path in AUDITS if "census" in path.parent.name))
    failing = tuple(
        one.model_copy(update={"outcome": Outcome.FAIL}) if one.id == "AUDIT-ORDER" else one for one in audit.checks
    )
    page = visible(
        render_html(
            audit.model_copy(update={"language": language, "checks": failing}), Edition.INTERNAL, standing=Standing(state=state)
        )
    )
    titles = {text for key, text in sentences().items() if key.startswith("title.")}
    assert not {line.strip() for line in page.splitlines()} & titles
    assert catalogue_of(language).texts["title.AUDIT-ORDER"] in page


def test_every_check_of_the_auditor_has_a_title_in_the_catalogue_and_none_is_left_over():
    titles = {key.removeprefix("title."): text for key, text in sentences().items() if key.startswith("title.")}
    assert {check.id: check.title for check in ALL_CHECKS} == titles


@pytest.mark.parametrize("language", OTHERS)
def test_sentences_of_committed_audits_are_in_the_catalogue(language):
    texts = catalogue_of(language)
    said = {check.told for path in AUDITS for check in read_audit(path).checks}
    said |= {text for path in AUDITS for text in read_audit(path).decision.told_remaining}
    assert {text for text in said if texts.is_foreign(text)} == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("50 to 400, in steps of 0.1", "50 bis 400, in Schritten von 0,1"),
        ("1936-01-01 to 2025-12-31", "1936-01-01 bis 2025-12-31"),
        ("8 bins, [10, 20) to [80, 90)", "8 Klassen, [10, 20) bis [80, 90)"),
        ("20 values: up to date, later, \u2026", "20 Werte: up to date, later, \u2026"),
        ("up to date, later", "up to date, later"),
        ("[50, 400.5], grid 0.1", "[50; 400,5], Raster 0,1"),
    ],
)
def test_values_of_a_domain_are_in_words_and_the_policys_own_values_stay(text, said):
    assert catalogue_of("de").values(text) == said


def test_a_sentence_with_words_of_no_catalogue_stays_english_as_a_whole():
    text = "l_diversity of job is 1; the policy asks for at least 2 (for a reason of no catalogue)"
    assert catalogue_of("de").said(text) == text
    assert catalogue_of("de").is_foreign(text)


def test_labels_of_neighbouring_steps_do_not_cover_each_other():
    levels = [Fraction(4), Fraction(3), Fraction(2)]

    def anchors(*labels: str) -> list[str]:
        return [anchor for _, _, anchor in steps("s", "", "", levels, labels=labels, axis_label="", end="").labels]

    assert anchors("entry 1", "this release") == ["middle", "middle"]
    assert anchors("Eintrag 1", "diese Veröffentlichung") == ["end", "middle"]


@pytest.mark.parametrize(
    ("language", "marks"), [("de", "\u2019\u201e\u201c\u201a\u2018"), ("fr", "\u2019\u00ab\u00bb\u201c\u201d")]
)
def test_apostrophes_and_quotation_marks_are_typographic(language, marks):
    """As in the official texts of the law, and never mixed with those of a typewriter; code keeps its own."""
    own = {text for key, text in catalogue_of(language).texts.items() if text != sentences().get(key)}
    words = {text: re.sub("`[^`]*`", "", text) for text in own}
    assert [text for text, said in words.items() if set(said) & (set(ALL_MARKS) - set(marks))] == []


def test_no_line_breaks_before_a_sign_that_french_sets_apart():
    broken = [text for text in catalogue_of("fr").texts.values() if re.search(r" [;:?!»]", text)]
    assert [text for text in broken if text not in sentences().values()] == []

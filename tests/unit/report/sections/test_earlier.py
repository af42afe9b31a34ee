"""Earlier releases in the report: figures for those inside, in the section of the release's kind; a verdict for recipients."""

from __future__ import annotations

import html
import re

import pytest

from privrelease.audit.comparison.combine import compared, earlier_check, together
from privrelease.audit.comparison.previous_release import EarlierRelease, EarlierReleases, UnreadableRelease, named_by_run
from privrelease.audit.document.previous_releases import ComparedRelease, EarlierFacts
from privrelease.audit.document.sentences import both
from privrelease.audit.document.visibility import count
from privrelease.report.forms.json_report import render_json
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition, for_edition
from privrelease.texts.sentences import say

HOSTILE = "<script>alert(1)</script> (run 20250101T000000000000-abcdef)"
REMAINS = f"Whether an attacker can link more records of {HOSTILE}."
ROWS = (
    ComparedRelease(
        release=HOSTILE,
        run="20250101T000000000000-abcdef",
        looked="combined",
        linked_by="columns",
        linked=count(4321),
        figures={"exposed.external": count(17), "joined.external": count(3), "left.external": count(0)},
    ),
    ComparedRelease(release="older", run=None, looked="unreadable", note="R105"),
    ComparedRelease(release="table", run=None, looked="other_kind"),
)


@pytest.fixture
def beside(audit):
    """The hand-made audit beside earlier releases, of which one intersects with it."""
    check = earlier_check("AUDIT-EARLIER-INTERSECT", [f"with {HOSTILE}: 17 persons"], "")
    facts = EarlierFacts(releases=ROWS, left=2, verdict="fail", remaining=(REMAINS,))
    decision = audit.decision.model_copy(update={"assessment_remaining": (*audit.decision.assessment_remaining, REMAINS)})
    return audit.model_copy(update={"checks": (*audit.checks, check), "decision": decision, "earlier": facts})


def heading(page):
    """The section that the heading about earlier releases stands in."""
    before, mark, _ = page.partition('id="earlier-h"')
    return before.rpartition('<section id="')[2].partition('"')[0] if mark else None


def test_those_inside_see_every_release_with_its_figures(beside):
    page = render_html(beside, Edition.INTERNAL)
    assert heading(page) == "risk"
    for text in ("4,321", "17", "could not be looked at", "R105", "Older releases that were not combined", "&lt;script&gt;"):
        assert text in page
    assert "<script" not in page


def test_recipients_see_the_verdict_and_no_name_run_or_figure(beside):
    page = render_html(beside, Edition.RECIPIENT)
    assert heading(page) == "risk"
    assert "does not hold" in page
    for form in (page, render_json(beside, Edition.RECIPIENT).decode()):
        assert not [text for text in ("4,321", "4321", "script&gt;", "abcdef", "R105", "older") if text in form]
    kept = for_edition(beside, Edition.RECIPIENT)
    assert kept.decision.assessment_remaining == beside.decision.assessment_remaining[:-1]


@pytest.mark.parametrize(("language", "word"), [("en", "run"), ("de", "Lauf"), ("fr", "exécution")])
def test_the_run_of_an_earlier_release_is_named_in_the_language_of_the_page(audit, language, word):
    one = EarlierRelease(named_by_run("extract", "20250101T0-ab"), "microdata", None, run="20250101T0-ab")
    unread = UnreadableRelease(named_by_run("older", "20240101T0-cd"), "20240101T0-cd", "R105")
    found = together(
        [compared(one, "combined")], (), [say("not_compared", name=one.name)], EarlierReleases((), unlooked=(unread,))
    )
    written = audit.model_copy(
        update={
            "language": language,
            "earlier": EarlierFacts(releases=found.looked, verdict="pass"),
            "checks": (*audit.checks, *found.checks),
            "decision": audit.decision.model_copy(update=both("assessment_remaining", found.remaining)),
        }
    )
    read = type(audit).model_validate_json(written.model_dump_json())
    page = html.unescape(re.sub(r"<[^>]+>", "", render_html(read, Edition.INTERNAL))).replace("\N{NO-BREAK SPACE}", " ")
    assert page.count(f"extract ({word} 20250101T0-ab)") >= 2  # the table, and what remains to be assessed
    assert page.count(f"older ({word} 20240101T0-cd)") >= 2  # the table, and the check
    assert language == "en" or "(run 2" not in page


def test_an_audit_without_codes_of_names_shows_them_as_they_are(beside):
    page = render_html(beside.model_copy(update={"language": "de"}), Edition.INTERNAL)
    assert "(run 20250101T000000000000-abcdef)" in html.unescape(page)


def test_without_an_earlier_release_both_editions_say_that_none_was_known(audit):
    for edition in Edition:
        page = render_html(audit, edition)
        assert heading(page) == "risk"
        assert "No earlier release of the same persons was known" in page
        assert "and holds" not in page


def test_of_a_table_recipients_see_the_verdict_too(beside):
    """All else of that section is withheld from them."""
    table = beside.model_copy(update={"kind": "table", "threats": (), "union": None})
    assert heading(render_html(table, Edition.RECIPIENT)) == "tables"

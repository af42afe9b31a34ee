"""Earlier releases in a real browser: their tables fit every width and pass axe in both themes."""

from __future__ import annotations

import pytest

from privrelease.audit.comparison.combine import EARLIER_CHECKS, earlier_check
from privrelease.audit.document.previous_releases import ComparedRelease, EarlierFacts
from privrelease.audit.document.visibility import count
from privrelease.report.forms.json_report import read_audit
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition
from tests.browser.conftest import REPORTS

LONG = "microdata-of-every-year (run 20260101T000000000000-abcdef)"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    audit = read_audit(REPORTS / "diabetes-microdata" / "audit.json")
    figures = {f"{what}.external": count(number) for number, what in enumerate(("exposed", "joined", "left"))}
    rows = (
        ComparedRelease(release=LONG, run=None, looked="combined", linked_by="source", linked=count(10_000), figures=figures),
        ComparedRelease(release=f"older-{LONG}", run=None, looked="unreadable", note="a file of it cannot be read"),
    )
    checks = [
        earlier_check(check.id, [f"with {LONG}: 3 persons"] * place, "fine") for place, check in enumerate(EARLIER_CHECKS)
    ]
    facts = EarlierFacts(releases=rows, left=3, verdict="fail")
    beside = audit.model_copy(update={"checks": (*audit.checks, *checks), "earlier": facts})
    path = tmp_path_factory.mktemp("report") / "earlier.html"
    path.write_text(render_html(beside, Edition.INTERNAL), encoding="utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (1440, "dark")])
def test_the_tables_about_earlier_releases_are_accessible_and_fit(opened, written, width, scheme):
    with opened(written, width=width, scheme=scheme) as seen:
        seen.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert seen.page.inner_text("#earlier-h")
        assert seen.violations() == []
        assert seen.overflow() <= 0

from __future__ import annotations

from pathlib import Path

import pytest

from privrelease.report.forms.json_report import read_audit, render_json
from privrelease.report.forms.text import render_text
from privrelease.report.pages.html import render_html
from privrelease.report.view.edition import Edition

HERE = Path(__file__).parent / "report"


@pytest.fixture(scope="module")
def audit():
    return read_audit(HERE / "audit.json")


@pytest.mark.parametrize("edition", Edition)
def test_the_page_of_a_hand_made_audit_keeps_its_bytes(audit, edition, golden):
    golden(HERE / f"{edition.value}.html", render_html(audit, edition).encode())


@pytest.mark.parametrize("edition", Edition)
def test_the_json_of_a_hand_made_audit_keeps_its_bytes(audit, edition, golden):
    golden(HERE / f"{edition.value}.json", render_json(audit, edition))


def test_the_summary_of_a_hand_made_audit_keeps_its_bytes(audit, golden):
    golden(HERE / "summary.txt", render_text(audit).encode())


def test_the_page_is_smaller_than_a_megabyte(audit):
    assert len(render_html(audit, Edition.INTERNAL).encode()) < 1_000_000

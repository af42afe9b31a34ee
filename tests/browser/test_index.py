"""The index over many releases in Chromium."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from privrelease.cli.commands.report_index import index_bytes
from privrelease.report.forms.json_report import read_audit
from privrelease.report.pages.html import render_index
from privrelease.report.pages.index import build_index, entry_of
from privrelease.report.view.edition import Edition
from privrelease.texts.catalogue import english

REPORTS = Path(__file__).parents[2] / "reports"


@pytest.fixture(scope="module", params=list(Edition))
def written(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / f"index.{request.param}.html"
    content, unreadable = index_bytes(REPORTS, request.param, REPORTS)
    assert unreadable == ()
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_index_has_no_violation_and_fits_every_width(opened, written, scheme):
    with opened(written, scheme=scheme) as seen:
        seen.judge_at_every_width(scheme)
        assert seen.requests == [written.as_uri()]
        assert seen.noise == []


def test_a_long_index_is_readable_on_a_phone_and_on_paper(opened, tmp_path):
    texts = english()
    audits = [read_audit(path) for path in sorted(REPORTS.glob("*/audit.json"))]
    entries = [entry_of(audit, Edition.INTERNAL, texts, f"{n}/report.html") for n, audit in enumerate(audits)]
    many = [
        replace(one, audited_at=f"2026-{n % 12 + 1:02}-01T00:00:00Z", version=f"1.{n}.0") for n in range(12) for one in entries
    ]
    path = tmp_path / "index.html"
    path.write_text(render_index(build_index(many, Edition.INTERNAL, texts)), encoding="utf-8")
    with opened(path, width=320) as seen:
        assert seen.violations() == []
        assert seen.overflow() <= 0
        seen.page.set_viewport_size({"width": 718, "height": 900})
        seen.page.emulate_media(media="print")
        assert seen.violations() == []
        assert seen.overflow() <= 0

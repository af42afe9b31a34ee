"""Markup, scripts, right-to-left marks and very long names in data, columns and policies execute nothing and break no layout."""

from __future__ import annotations

import json

import pytest

from privrelease.cli.main import main
from privrelease.report.forms.json_report import read_audit
from privrelease.report.pages.html import render_html, render_index
from privrelease.report.pages.index import build_index, entry_of
from privrelease.report.view.edition import Edition
from privrelease.texts.catalogue import english

SCRIPT = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
MARKS = "\u202eabc\u2066\u2067 ديا\u05d0\u05d1 \u200f"
LONG = "ä" * 10_000
NAMES = {"script": SCRIPT, "marks": MARKS, "long": LONG, "words": "very long " * 1000}


def policy(name: str) -> str:
    """A policy with this name wherever the language takes a free text or a column's name."""
    word = json.dumps(name, ensure_ascii=False)
    column = json.dumps(f"col {name}"[:255], ensure_ascii=False)
    return f"""apiVersion: privrelease/v1
kind: ReleasePolicy
id: hostile
version: 1.0.0
title: {word}
datasets:
  d:
    source: data.csv
    snapshot: {json.dumps(name[:100])}
    columns:
      id: {{role: direct, type: string}}
      ward: {{role: quasi, type: category}}
      {column}: {{role: quasi, type: category}}
threats:
  t: {{dataset: d, knows: [ward, {column}], highest_risk: 0.5}}
releases:
  - id: r
    kind: microdata
    from: d
    protect: [t]
    transform: [{{suppress: cells}}]
    output: {{path: out/r.csv}}
checks:
  - {{id: UTIL-001, release: r, expect: suppressed_cells, max: 0.9}}
legal:
  controller: {{name: {word}, contact: {word}}}
  joint_controllers: [{{name: {word}}}]
  purposes: [{{id: research, text: {word}}}]
  data_subjects: [{word}]
  data_categories: [{word}, {word}]
  recipients: [{{name: {word}, access: {word}}}]
  safeguards: {word}
  security_measures: [{word}]
  dpia: {{description: {word}, risks: [{word}], measures: [{word}]}}
context: {{release_model: controlled, motives: {word}, harms: {word}, controls: [{word}]}}
review: {{next: 2027-01-15, triggers: [{word}]}}
"""


@pytest.fixture(scope="module", params=sorted(NAMES))
def audit(request, tmp_path_factory):
    name = NAMES[request.param]
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "policy.yaml").write_text(policy(name), encoding="utf-8")
    quoted = '"' + name.replace('"', '""') + '"'
    column = '"' + f"col {name}"[:255].replace('"', '""') + '"'
    rows = "".join(f"{n},{quoted},{quoted}\n" for n in range(6))
    (folder / "data.csv").write_text(f"id,ward,{column}\n{rows}7,single,other\n", encoding="utf-8")
    assert main(["run", str(folder / "policy.yaml"), "-q"]) == 0
    (path,) = folder.glob(".privrelease/runs/*/internal/audit.json")
    return read_audit(path)


@pytest.mark.parametrize("edition", Edition)
def test_nothing_runs_nothing_is_fetched_and_nothing_overflows(opened, audit, edition, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render_html(audit, edition), encoding="utf-8")
    with opened(path, width=320) as seen:
        title = seen.page.title()
        assert seen.page.evaluate("document.scripts.length + document.images.length") == 0
        for width in (320, 768):
            seen.page.set_viewport_size({"width": width, "height": 900})
            assert seen.overflow() <= 0, width
        seen.page.emulate_media(media="print")
        seen.page.set_viewport_size({"width": 718, "height": 900})
        assert seen.overflow() <= 0
        assert seen.page.title() == title != "pwned"
        assert seen.requests == [path.as_uri()]
        assert seen.noise == []


def test_the_index_keeps_its_layout_too(opened, audit, tmp_path):
    entry = entry_of(audit, Edition.INTERNAL, english(), None)
    path = tmp_path / "index.html"
    path.write_text(render_index(build_index([entry], Edition.INTERNAL, english())), encoding="utf-8")
    with opened(path, width=320) as seen:
        assert seen.overflow() <= 0
        assert seen.requests == [path.as_uri()]
        assert seen.noise == []

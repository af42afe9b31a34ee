"""Sections 8 and 9 with attacks of every outcome, in a real browser."""

from __future__ import annotations

import pytest

from privrelease.cli.main import main

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category}
      a-very-long-name-of-a-column-that-has-no-place-to-break-it: {role: quasi, type: category}
      pay: {role: sensitive, type: integer}
threats:
  t: {dataset: d, knows: [area], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
attacks:
  control: control.csv
  singling_out: {max_risk: 0.1}
  linkability: {max_risk: 1}
  inference: {target: [pay, area], knows: [a-very-long-name-of-a-column-that-has-no-place-to-break-it], max_advantage: 0.2}
  record_linkage: {}
  membership: {max_risk: 0.5}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacks")
    head = "id,area,a-very-long-name-of-a-column-that-has-no-place-to-break-it,pay\n"
    rows = [f"{n},{'north' if n % 3 else 'south'},long{n % 4},{100 + n}\n" for n in range(80)]
    (folder / "data.csv").write_text(head + "".join(rows[:40]), encoding="utf-8")
    (folder / "control.csv").write_text(head + "".join(rows[40:]), encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    assert main(["run", str(folder / "policy.yaml"), "--quiet"]) == 1
    (run,) = folder.glob(".privrelease/quarantine/*")
    made = {}
    for edition in ("internal", "recipient"):
        made[edition] = folder / f"{edition}.html"
        assert main(["report", str(run), "--edition", edition, "-o", str(made[edition]), "--quiet"]) == 0
    return made


@pytest.mark.parametrize(
    ("edition", "width", "scheme"), [("internal", 320, "light"), ("internal", 1440, "dark"), ("recipient", 320, "dark")]
)
def test_attacks_are_accessible_and_fit_the_page(opened, pages, edition, width, scheme):
    with opened(pages[edition], width=width, scheme=scheme) as seen:
        assert seen.page.locator("#attacks").count() == 1
        assert seen.violations() == []
        assert seen.overflow() <= 0
        assert seen.requests == [pages[edition].as_uri()]

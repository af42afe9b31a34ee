from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

POLICY = """datasets:
  d:
    source: input.csv
    columns:
      id: {role: direct, type: string}
      g: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [g], records_at_risk: {above: 0.34, share: 0}}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""


@pytest.mark.case("r03-two-failures-in-six-thousand")
def test_two_in_six_thousand_are_never_rounded_to_none_in_any_form(case):
    if not (case.folder / "input.csv").exists():
        subprocess.run([sys.executable, "gen.py"], cwd=case.folder, check=True)
    case.policy(POLICY)
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    verdict = next(one for one in case.threat("t")["verdicts"] if one["measure"] == "records_at_risk")
    assert verdict["figure"]["exact"] == "1/3000"
    (run,) = case.folder.glob(".privrelease/quarantine/*")
    for form in ("text", "html", "markdown", "junit"):
        shown = case("report", run, "--format", form).out
        assert "0.03 %" in shown or "&lt;0.1 %" in shown or "<0.1 %" in shown, form
        assert not re.search(r"(?<![\d.])(?:0\.0+|100\.0+)[ \xa0]%", shown), form
    assert "2 of 6,000 (" in case("report", run, "--format", "html").out.replace("\xa0", " ")
    for form in ("sarif", "github"):
        assert "1/3000" in case("report", run, "--format", form).out, form
    assert json.loads(case("report", run, "--format", "json").out)["decision"]["outcome"] == "fail"

"""Cases of attacks and of distances to the closest record: through public functions, and through the report's words."""

from __future__ import annotations

import csv
from fractions import Fraction

import numpy as np
import pytest
from ruamel.yaml import YAML

from privrelease.audit.attacks.closest_record import closest
from privrelease.audit.attacks.rates import Rate, residual_risk, wilson_centre
from privrelease.audit.attacks.records import Attribute

PERSONS = """datasets:
  d:
    source: real.csv
    columns:
      a: {role: quasi, type: integer}
      c: {role: quasi, type: integer}
threats:
  t: {dataset: d, knows: [a, c], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
attacks: {inference: {target: c, knows: [a]}}
"""


def columns(case, *files):
    """The columns of several files in one coding."""
    tables = []
    for name in files:
        with (case.folder / name).open(newline="", encoding="utf-8") as stream:
            tables.append(list(csv.DictReader(stream)))
    made = [[] for _ in files]
    for name in tables[0][0]:
        values = sorted({float(row[name]) for rows in tables for row in rows})
        codes = {value: place for place, value in enumerate(values, start=1)}
        for side, rows in zip(made, tables, strict=True):
            side.append(
                Attribute(name, np.array([codes[float(row[name])] for row in rows]), np.array([np.nan, *values], np.float64))
            )
    return made


@pytest.mark.case("x01-distance-to-closest-record")
def test_distances_are_scaled_by_the_real_range_and_a_constant_column_counts_as_one(case):
    expected = YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]
    synthetic, real = columns(case, "synthetic.csv", "real.csv")
    apart, found = closest(synthetic, real)
    assert apart.tolist() == expected["per_row"]
    assert float(np.median(apart)) == expected["median"]
    assert real[0].values[real[0].codes[found[0]]] == expected["nearest_real_for_row1"]


@pytest.mark.case("x01-distance-to-closest-record")
def test_the_report_shows_distances_as_information_and_says_that_they_are_no_evidence(case):
    case.policy(PERSONS)
    ran = case("audit", "policy.yaml", "--release", "r", "--file", "synthetic.csv", "--report", "r.html")
    page = (case.folder / "r.html").read_text(encoding="utf-8")
    assert "Distance to the closest record" in page
    assert "no evidence of privacy" in page
    assert ">0.075<" in page
    assert "33.3 %" in page  # one of three is a copy
    assert not any("closest" in line for line in ran.err.splitlines())  # neither fails nor passes


@pytest.mark.case("x03-attack-success-of-one-hundred-percent")
def test_an_attack_that_always_succeeds_has_a_rate_an_interval_and_a_risk(case):
    asked = YAML(typ="safe").load((case.expected.parent / "case.yaml").read_text(encoding="utf-8"))["params"]
    expected = YAML(typ="safe").load(case.expected.read_text(encoding="utf-8"))["values"]
    confidence = Fraction(str(asked["confidence"]))
    main, control = Rate(*asked["main"]), Rate(*asked["control"])
    for rate, name in ((main, "main_interval"), (control, "control_interval")):
        found = rate.interval(confidence)
        assert [round(found.low, 6), round(found.high, 6)] == expected[name]
    assert residual_risk(main, control, confidence).value == expected["risk"]
    assert Rate(98, 98).value == 1
    undefined = residual_risk(Rate(98, 98), Rate(100, 100), confidence)
    assert undefined.value is None
    assert "0/0" in undefined.why
    assert [round(wilson_centre(*counts, confidence), 4) for counts in (asked["main"], asked["control"])] == [0.9815, 0.2111]


X03 = """datasets:
  d:
    source: d.csv
    columns:
      zip: {role: quasi, type: category}
      ill: {role: sensitive, type: category}
threats:
  t: {dataset: d, knows: [zip], highest_risk: 1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
attacks: {control: c.csv, inference: {target: ill, max_risk: 0.9}}
"""


def table(rows):
    return "zip,ill\n" + "".join(f"{zip_},{ill}\n" for zip_, ill in rows)


@pytest.mark.case("x03-attack-success-of-one-hundred-percent")
@pytest.mark.parametrize(
    ("right", "said"),
    [
        (20, ["100 % (100 of 100; 96.3 % to 100 %)", "20 % (20 of 100; 13.3 % to 28.9 %)", "the risk is 100 %"]),
        (100, ["100 % (100 of 100; 96.3 % to 100 %)", "undefined (0/0): the control always succeeds"]),
    ],
)
def test_the_report_says_what_a_copy_gives_away_and_that_a_strong_control_shows_nothing(case, right, said):
    (case.folder / "d.csv").write_text(table((f"z{n}", f"i{n % 7}") for n in range(100)), encoding="utf-8")
    others = table((f"z{n}", f"i{n % 7 if n < right else (n + 1) % 7}") for n in range(100))
    (case.folder / "c.csv").write_text(others, encoding="utf-8")
    case.policy(X03)
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    (run,) = case.folder.glob(".privrelease/quarantine/*")
    page = case("report", run, "--format", "html").out.replace("\N{NO-BREAK SPACE}", " ")
    for text in said:
        assert text in page

"""The shared cases of tables, through the real command line: what is printed gives no small cell back."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from itertools import product

import pytest

from privrelease.pipeline.settings import versions  # noqa: F401  the room is importable without scipy

POLICY = """datasets:
  d:
    source: {source}
    {unit}
    columns:
      {columns}
releases:
  - id: t
    kind: table
    from: d
    by: [{by}]
    measures: [{measures}]
    margins: {margins}
    {more}
    protect: {{{protect}}}
    output: [{{path: out/t.csv}}, {{path: out/t.parquet}}]
"""


def table(columns, by, protect, *, measures="{count: true}", margins="true", more="", unit="", source="rows.csv"):
    return POLICY.format(
        source=source,
        unit=unit,
        columns="\n      ".join(columns),
        by=", ".join(by),
        measures=measures,
        margins=margins,
        more=more,
        protect=protect,
    )


def write_rows(case, header, counts):
    """A file with as many equal rows as each count says."""
    lines = [",".join(header), *(",".join(keys) for keys, count in counts.items() for _ in range(count))]
    (case.folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def given(case):
    with (case.folder / "input.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def released(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def published(case):
    return released(case.folder / "out" / "t.csv")


def quarantined(case):
    return max(case.folder.glob(".privrelease/quarantine/*"))


def failed(case):
    return [check["id"] for check in case.audit()["checks"] if check["outcome"] == "fail"]


def shown(rows, column="count"):
    """Printed figures by key, totals under ''."""
    keys = [
        name for name in rows[0] if name not in {"total_over", "status"} and not name.startswith(("count", "sum", "weight"))
    ]
    return {"/".join(row[key] for key in keys): row[column] for row in rows if row["status"] == "shown"}


@pytest.mark.case("t01-two-small-cells-and-a-total")
class TestTwoSmallCellsAndATotal:
    columns = ("area: {role: quasi, type: category, domain: [A, B, C]}",)

    def prepared(self, case, protect="min_count: 10"):
        counts = {(row["area"],): int(row["n"]) for row in given(case) if row["area"] != "Total"}
        write_rows(case, ["area"], counts)
        case.policy(table(self.columns, ["area"], protect))

    def test_their_sum_is_not_given_away(self, case):
        self.prepared(case)
        ran = case("run", "policy.yaml")
        assert ran.code == 0, ran.err
        assert set(shown(published(case))) in ({""}, {"A"}, set())

    def test_without_secondary_suppression_the_audit_fails_and_nothing_leaves(self, case):
        self.prepared(case, "min_count: 10, secondary: false")
        ran = case("run", "policy.yaml")
        assert ran.code == 1
        assert failed(case) == ["AUDIT-TABLE-GROUP"]
        assert not (case.folder / "out" / "t.csv").exists()
        assert shown(released(quarantined(case) / "outgoing" / "t.csv")) == {"A": "17", "": "24"}


@pytest.mark.case("t02-margins-give-the-cell-back")
class TestMarginsGiveTheCellBack:
    columns = (
        "row: {role: quasi, type: category, domain: [r1, r2, r3]}",
        "column: {role: quasi, type: category, domain: [c1, c2, c3]}",
    )

    def prepared(self, case, protect="min_count: 5"):
        counts = {(row["row"], c): int(row[c]) for row in given(case) if row["row"] != "total" for c in ("c1", "c2", "c3")}
        write_rows(case, ["row", "column"], counts)
        case.policy(table(self.columns, ["row", "column"], protect))
        return counts

    def test_three_further_cells_form_a_rectangle_with_it(self, case):
        self.prepared(case)
        ran = case("run", "policy.yaml")
        assert ran.code == 0, ran.err
        rows = published(case)
        hidden = {(row["row"], row["column"]) for row in rows if row["status"] == "suppressed"}
        assert all(all(hidden_key) for hidden_key in hidden)
        assert len(hidden) == 4
        assert {row for row, _ in hidden} in ({"r1", "r2"}, {"r1", "r3"})
        assert {column for _, column in hidden} in ({"c1", "c2"}, {"c1", "c3"})
        section = case.audit()["table"]
        assert section["secondary"]["value"] == 3
        assert section["intervals"][0]["narrowest"]["value"] == 3  # the small count is 1, 2, 3 or 4

    def test_suppressing_the_cell_alone_fails(self, case):
        self.prepared(case, "min_count: 5, secondary: false")
        ran = case("run", "policy.yaml")
        assert ran.code == 1
        assert failed(case) == ["AUDIT-TABLE-INTERVAL", "AUDIT-TABLE-GROUP"] or failed(case) == ["AUDIT-TABLE-INTERVAL"]
        assert "r1 / c1" in ran.out + ran.err

    def test_a_file_that_gives_the_cell_back_fails_its_audit_whoever_made_it(self, case):
        counts = self.prepared(case)
        box = {place: counts.get(place, 0) for place in product(["r1", "r2", "r3"], ["c1", "c2", "c3"])}
        lines = ["row,column,total_over,count,status"]
        for row, column in product(["r1", "r2", "r3", ""], ["c1", "c2", "c3", ""]):
            value = sum(n for (r, c), n in box.items() if row in {"", r} and column in {"", c})
            over = " ".join(name for name, key in (("row", row), ("column", column)) if not key)
            hidden = (row, column) == ("r1", "c1")
            lines.append(f"{row},{column},{over},{'' if hidden else value},{'suppressed' if hidden else 'shown'}")
        (case.folder / "made.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        ran = case("audit", "policy.yaml", "--release", "t", "--file", "made.csv", "--format", "json")
        assert ran.code == 1
        found = json.loads(ran.out)
        assert [check["id"] for check in found["checks"] if check["outcome"] == "fail"] == ["AUDIT-TABLE-INTERVAL"]
        changed = (case.folder / "made.csv").read_text(encoding="utf-8").replace("r1,c1,,,suppressed", "r1,c1,,6,shown")
        (case.folder / "made.csv").write_text(changed, encoding="utf-8")
        ran = case("audit", "policy.yaml", "--release", "t", "--file", "made.csv", "--format", "json")
        assert ran.code == 1
        failing = [check["id"] for check in json.loads(ran.out)["checks"] if check["outcome"] == "fail"]
        assert failing == ["AUDIT-TABLE-FIGURES", "AUDIT-TABLE-PRIMARY"]


@pytest.mark.case("t04-threshold-before-rounding")
def test_small_counts_go_before_the_others_are_rounded_up(case):
    counts = {(row["code"],): int(row["n"]) for row in given(case)}
    write_rows(case, ["code"], counts)
    codes = ", ".join(code for (code,) in counts)
    columns = [f"code: {{role: quasi, type: category, domain: [{codes}]}}"]
    case.policy(table(columns, ["code"], "min_count: 6", margins="false", more="round_up: 100"))
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert shown(published(case)) == {"c3": "100", "c4": "100", "c5": "200", "c6": "300"}
    assert [row["count"] for row in published(case)[:2]] == ["", ""]


@pytest.mark.case("k08-threshold-on-unweighted-contributors")
def test_the_minimum_is_about_contributors_not_about_weights(case):
    columns = [
        "area: {role: quasi, type: category, domain: [A, B]}",
        "w: {role: insensitive, type: number, domain: [0, 10], grid: 0.1}",
    ]
    case.policy(
        table(columns, ["area"], "min_count: 10", measures="{count: true, weight: w}", margins="false", source="input.csv")
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 0, ran.err
    rows = published(case)
    assert [(row["area"], row["status"]) for row in rows] == [("A", "suppressed"), ("B", "shown")]
    assert Fraction(shown(rows, "weighted_count_w")["B"]) == 6
    assert "11" not in {row["weighted_count_w"] for row in rows}


@pytest.mark.case("k10-minimum-cell-eleven")
class TestMinimumCellEleven:
    def prepared(self, case, protect="min_count: 11"):
        sites = (case.folder / "sites.csv").read_text(encoding="utf-8").split()[1:]
        columns = [f"site: {{role: quasi, type: category, domain: [{', '.join(sites)}]}}"]
        case.policy(table(columns, ["site"], protect, source="input.csv"))

    def test_ten_is_hidden_eleven_is_shown_and_nobody_is_a_zero(self, case):
        self.prepared(case)
        ran = case("run", "policy.yaml")
        assert ran.code == 0, ran.err
        rows = published(case)
        assert shown(rows) == {"p": "0", "s": "11", "t": "12", "": "34"}
        assert [row["site"] for row in rows if row["status"] == "suppressed"] == ["q", "r"]
        assert case.audit()["table"]["intervals"][0]["narrowest"]["value"] == 9  # ten solutions

    def test_empty_cells_are_hidden_where_the_policy_says_so(self, case):
        self.prepared(case, "min_count: 11, zeros: suppress")
        ran = case("run", "policy.yaml")
        assert ran.code == 0, ran.err
        assert "p" not in shown(published(case))

"""Cells that say that they are no number, or infinite, are read as missing, and the run says so."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.cli.conftest import POLICY_HEAD

POLICY = (
    POLICY_HEAD
    + """\
    unit: rows
    columns:
      area: {role: quasi, type: category}
      weight: {role: sensitive, type: number}
      height: {role: sensitive, type: number, format: {missing: ["", nan]}}
threats:
  t: {dataset: d, knows: [area], highest_risk: 0.5}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], output: {path: out/r.csv}}
"""
)
TOLD = "of the column weight"


@pytest.mark.parametrize(
    ("cells", "said"), [(("1.5", "nan", "INF", "-Infinity"), "3 rows"), (("1.5", "2", "NaN", ""), "1 row")]
)
def test_words_that_are_no_number_are_counted_by_column(desk, cells, said):
    desk.data("area,weight,height\n" + "".join(f"{area},{cell},nan\n" for area, cell in zip("aabb", cells, strict=True)))
    desk.policy(POLICY)
    ran = desk("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert f"D270 warn: {said} {TOLD}" in ran.err
    assert "column height" not in ran.err  # there the policy says what the word means
    assert "D270" not in (desk.folder / "out" / "r.report.html").read_text(encoding="utf-8")
    assert "nan" not in (desk.folder / "out" / "r.csv").read_text(encoding="utf-8").lower()


def test_floats_that_are_no_number_are_counted_too(desk):
    columns = {"area": list("aabb"), "weight": [1.5, float("nan"), float("inf"), None], "height": [1.0, 2.0, 3.0, 4.0]}
    pq.write_table(pa.table(columns), desk.folder / "data.parquet")
    desk.policy(POLICY.replace("data.csv", "data.parquet").replace(', format: {missing: ["", nan]}', ""))
    ran = desk("run", "policy.yaml")
    assert ran.code == 0, ran.err
    assert f"D270 warn: 2 rows {TOLD}" in ran.err
    assert "column height" not in ran.err


def test_numbers_that_are_there_are_not_told(desk):
    desk.data("area,weight,height\na,1,2\na,,2\nb,1e3,3\nb,2,\n")
    desk.policy(POLICY)
    assert "D270" not in desk("run", "policy.yaml").err

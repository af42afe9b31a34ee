"""No check lets a value of a cell out: every cell of a made-up source is a word of its own, every check fails, and every output is searched."""

from __future__ import annotations

import json

import pytest

from privrelease.cli.main import main
from privrelease.relational.expectations import EXPECTATIONS

ROWS = 40
#: Parameters with which an expectation of that need fails, or cannot be evaluated.
GIVEN = {
    "value_set": "[zz]",
    "regex": "'^zz$'",
    "regex_list": "['^zz$']",
    "like_pattern": "zz",
    "like_pattern_list": "[zz]",
    "strftime_format": "'%Y'",
    "type_": "date",
    "type_list": "[date]",
    "value": "7",
    "value_pairs_set": "[[zz, zz]]",
    "column_list": "[word, other]",
    "column_set": "[word]",
    "quantile_ranges": "{quantiles: [0.5], value_ranges: [[0, 1]]}",
    "threshold": "0.0001",
    "double_sided": "true",
    "sum_total": "1",
}
NUMBERS = {"value_pairs_set": "[[1, 1]]", "column_list": "[pay, debt]", "value_set": "[1]"}
HEAD = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: leak
version: 1.0.0
title: Leak
datasets:
  d:
    source: in.csv
    columns:
      word: {role: insensitive, type: string}
      other: {role: insensitive, type: string}
      pay: {role: insensitive, type: integer}
      debt: {role: insensitive, type: integer}
      group: {role: quasi, type: category}
threats:
  t: {dataset: d, knows: [group], highest_risk: 0.1}
releases:
  - {id: r, kind: microdata, from: d, protect: [t], columns: [group], output: {path: out/r.csv}}
checks:
"""


def check(name: str, number: int) -> str:
    """A check on the source that fails."""
    form = EXPECTATIONS[name]
    numbers = form.of in {"number", "ordered"}
    given = GIVEN | (NUMBERS if numbers else {})
    parts = [f"id: C{number}", "release: r", "on: source", "severity: warn", f"expect: {name}"]
    for key in form.needs:
        columns = {
            "column": "pay" if numbers else "word",
            "column_A": "pay" if numbers else "word",
            "column_B": "debt" if numbers else "other",
        }
        parts.append(f"{key}: {columns.get(key) or given[key]}")
    if form.a_bound_is_needed:
        parts.append("max_value: 0")
    return f"  - {{{', '.join(parts)}}}\n"


@pytest.fixture
def cells() -> list[tuple[str, str, int, int]]:
    return [(f"qx{place:03}vk", f"zr{place:03}hn", 7_310_000 + 37 * place, 94_000_000 + 41 * place) for place in range(ROWS)]


def test_no_output_of_any_check_holds_a_cell(tmp_path, monkeypatch, capfd, cells):
    lines = [f"{word},{other},{pay},{debt},{'ab'[place % 2]}" for place, (word, other, pay, debt) in enumerate(cells)]
    (tmp_path / "in.csv").write_text("word,other,pay,debt,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    text = HEAD + "".join(check(name, number) for number, name in enumerate(EXPECTATIONS))
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "policy.yaml", "--format", "json"]) == 0
    (audit,) = tmp_path.glob(".privrelease/runs/*/internal/audit.json")
    made = {one["id"]: one for one in json.loads(audit.read_text(encoding="utf-8"))["checks"] if one["id"].startswith("C")}
    assert len(made) == len(EXPECTATIONS)
    assert sum(one["outcome"] == "warn" for one in made.values()) > 30
    told = "".join(capfd.readouterr())
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path)
    row_maps = b"".join(path.read_bytes() for path in tmp_path.rglob("*.parquet"))
    everything = told + written.replace(row_maps, b"").decode("utf-8", "replace")
    found = [cell for row in cells for cell in map(str, row) if cell in everything]
    assert found == []
    outside = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
    assert "expect_" not in outside


@pytest.mark.parametrize(("missing", "shown"), [(3, False), (37, False), (15, True), (0, True)])
def test_recipients_are_told_of_a_check_only_where_no_count_and_no_complement_is_small(
    tmp_path, monkeypatch, capfd, missing, shown
):
    lines = [f"w,o,{'' if place < missing else place},1,a" for place in range(ROWS)]
    (tmp_path / "in.csv").write_text("word,other,pay,debt,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    text = HEAD.replace("columns: [group]", "columns: [group, pay]")
    text += "  - {id: GAPS, release: r, severity: warn, expect: expect_column_values_to_not_be_null, column: pay}\n"
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "policy.yaml", "--format", "json"]) == 0
    capfd.readouterr()
    (report,) = (tmp_path / "out").glob("*.report.html")
    assert ("GAPS" in report.read_text(encoding="utf-8")) is shown

"""CSV outputs with another delimiter and decimal sign: written so, audited by what the policy declares, and a planted fault in one is found."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest

from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import ledger as ledger_commands
from tests.unit.cli.conftest import POLICY, POLICY_HEAD

COLUMNS = """\
    unit: {column: id, max_rows: 1}
    format: {suppression_mark: "*"}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, "so;uth"]}
      pay: {role: sensitive, type: number, grid: 0.25, domain: [0, 200]}
"""
GERMAN = '[{path: out/r.csv, delimiter: ";", decimal: ","}, {path: out/r.parquet}]'
ROWS = (
    POLICY_HEAD
    + COLUMNS
    + (
        "threats:\n  t: {dataset: d, knows: [area], highest_risk: 0.2}\n"
        f"releases:\n  - {{id: r, kind: microdata, from: d, protect: [t], output: {GERMAN}}}\n"
    )
)
TABLE = (
    POLICY_HEAD
    + COLUMNS
    + "tables: {min_count: 3}\nreleases:\n  - {id: r, kind: table, from: d, by: [area], margins: true, "
    + f"measures: [{{count: true}}, {{mean: pay}}, {{sum: pay}}], output: {GERMAN}}}\n"
)
STATISTICS = (
    POLICY_HEAD.replace("source: data.csv", "source: data.csv\n    snapshot: first\n    population: all")
    + COLUMNS
    + "releases:\n  - {id: r, kind: statistics, from: d, budget: {epsilon: 1}, "
    + f"queries: [{{id: n, count: true, by: [area], epsilon: 0.5}}, {{id: m, mean: pay, epsilon: 0.5}}], output: {GERMAN}}}\n"
)
SYNTHETIC = (
    POLICY_HEAD.replace("source: data.csv", "source: data.csv\n    snapshot: first\n    population: all")
    + COLUMNS
    + "releases:\n  - {id: r, kind: synthetic, from: d, method: histogram, columns: [area, pay], rows: 40, "
    + f"bins: {{pay: {{width: 50}}}}, budget: {{epsilon: 1}}, output: {GERMAN}}}\n"
    + "ledger: {url: 'sqlite:///ledger.db', cap: {epsilon: 10, delta: 1e-5}}\n"
)
#: Kinds that charge the ledger, which is of the test.
CHARGED = {"statistics", "synthetic"}
KINDS = {"microdata": ROWS, "table": TABLE, "statistics": STATISTICS, "synthetic": SYNTHETIC}
AUDIT = ("audit", "policy.yaml", "--release", "r", "--file")


@pytest.fixture(autouse=True)
def ledger(monkeypatch):
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)


@pytest.fixture(params=sorted(KINDS))
def released(request, desk):
    desk.policy(KINDS[request.param])
    desk.data(
        "id,area,pay\n"
        + "".join(
            f"P{chr(97 + n // 26)}{chr(97 + n % 26)},{'north' if n % 2 else 'so;uth'},{n + n % 4 / 4}\n" for n in range(40)
        )
    )
    said = desk.run() if request.param in CHARGED else desk.run_once()
    assert said.code == 0, said.out + said.err
    return desk


def lines(path, delimiter=";"):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter, strict=True))


def test_the_file_has_the_signs_of_the_policy_and_the_figures_of_its_twin(released):
    header, *found = lines(released.released)
    twin = pq.read_table(released.folder / "out" / "r.parquet")
    assert header == twin.column_names
    numbers = [place for place, field in enumerate(twin.schema) if str(field.type).startswith(("double", "decimal"))]
    assert numbers
    texts = [row[place] for row in found for place in numbers]
    assert any("," in text for text in texts)
    assert not any("." in text for text in texts)
    for row, other in zip(found, twin.to_pylist(), strict=True):
        for place, (text, cell) in enumerate(zip(row, other.values(), strict=True)):
            if place in numbers:
                assert (None if text == "" else float(text.replace(",", "."))) == (None if cell is None else float(cell))
            else:
                assert text == ("" if cell is None else str(cell))
    manifest = json.loads((released.folder / "out" / "r.manifest.json").read_text(encoding="utf-8"))
    assert [(one.get("delimiter"), one.get("decimal")) for one in manifest["outputs"]] == [(";", ","), (None, None)]


def test_a_copy_passes_the_audit_and_a_planted_fault_in_it_does_not(released):
    content = released.released.read_text(encoding="utf-8")
    (released.folder / "copy.csv").write_text(content, encoding="utf-8")
    said = released(*AUDIT, "copy.csv", "--format", "json")
    assert (said.code, said.json["decision"]["outcome"]) == (0, "pass"), said.err
    first = next(
        text for row in lines(released.released)[1:] for text in row if text.replace(",", "").isdigit() and "," in text
    )
    planted = content.replace(first, f"9{first}", 1)
    assert planted != content
    (released.folder / "theirs.csv").write_text(planted, encoding="utf-8")
    said = released(*AUDIT, "theirs.csv", "--format", "json")
    assert said.code == 1, said.err
    assert [check["id"] for check in said.json["checks"] if check["outcome"] == "fail"]


def test_a_file_with_other_signs_than_the_policy_has_is_no_pass(released):
    rows = lines(released.released)
    with (released.folder / "theirs.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(
            [[text.replace(",", ".") for text in row] for row in rows]
        )
    assert released(*AUDIT, "theirs.csv").code != 0


def test_a_missing_cell_of_a_csv_file_of_one_column_is_a_blank_line_and_that_is_warned_of(desk):
    one = POLICY.replace("knows: [area, job]", "knows: [area]").replace(
        "    protect: [t]\n", "    protect: [t]\n    columns: [area]\n"
    )
    desk.policy(one)
    said = desk("validate", "policy.yaml")
    assert (said.code, said.out.count("P747 warn")) == (0, 1)
    desk.data("id,area,job,pay\n" + "".join(f"{n},{'north' if n < 6 else ''},clerk,{n}\n" for n in range(12)))
    assert desk.run().code == 0
    assert desk.released.read_text(encoding="utf-8") == "area\n" + 6 * "north\n" + 6 * "\n"
    two = one.replace("[area]\n", "[area, pay]\n")
    for other in (one.replace("r.csv", "r.parquet"), two, two.replace("pay: {role: sensitive", "pay: {role: odd"), POLICY):
        desk.policy(other)
        assert "P747" not in desk("validate", "policy.yaml").out

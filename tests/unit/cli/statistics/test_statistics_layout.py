"""Figures whose keys stand in columns of their own, and figures rounded to what their noise leaves: the same release, written for a spreadsheet."""

from __future__ import annotations

import csv
import json
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

import pyarrow.parquet as pq
import pytest

from privrelease.cli.main import main
from privrelease.execute.statistics import files
from privrelease.ledger.memory import MemoryLedger
from privrelease.pipeline import ledger as ledger_commands

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: data.csv
    snapshot: first
    population: everybody
    unit: {column: id, max_rows: 1}
    columns:
      id: {role: direct, type: string}
      area: {role: quasi, type: category, domain: [north, south]}
      sex: {role: quasi, type: category, domain: [F, M]}
      pay: {role: sensitive, type: number, domain: [0, 20000], grid: 0.01}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {epsilon: 1}
    queries:
      - {id: n, count: true}
      - {id: pay, mean: pay, by: [sex]}
      - {id: total, sum: pay, by: [area, sex]}
      - {id: bands, histogram: pay, bins: {width: 10000}, by: [area]}
    output: [{path: out/s.csv}, {path: out/s.parquet}]
"""
DATA = "id,area,sex,pay\n" + "".join(f"{n},{'north' if n % 3 else 'south'},{'FM'[n % 2]},{n * 41}.17\n" for n in range(300))
COLUMNS = ["query", "sex", "area", "bin", "value", "low", "high", "mechanism", "scale", "epsilon", "delta"]


@pytest.fixture(autouse=True)
def written(tmp_path, monkeypatch):
    """Return what runs a policy with the old words replaced, and returns its exit code and its lines."""
    monkeypatch.chdir(tmp_path)
    kept = MemoryLedger()
    monkeypatch.setattr(ledger_commands, "opened", lambda *_: kept)
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")

    def run(keys: str = "") -> tuple[int, list[dict[str, str]]]:
        text = POLICY.replace("    queries:\n", f"{keys}    queries:\n")
        (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
        code = main(["run", "p.yaml", "-q"])
        with (tmp_path / "out" / "s.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert len(kept.claims) == 1  # the second run asks the same, and is served the same noise
        return code, lines

    return run


def test_keys_in_columns_say_what_one_text_says(written, tmp_path):
    code, plain = written()
    assert code == 0
    code, wide = written("    groups: columns\n")
    assert code == 0
    assert list(wide[0]) == COLUMNS
    assert [{k: line[k] for k in ("sex", "area", "bin") if line[k]} for line in wide] == [
        json.loads(line["group"]) for line in plain
    ]
    others = [name for name in COLUMNS if name not in {"sex", "area", "bin"}]
    assert [[line[name] for name in others] for line in wide] == [[line[name] for name in others] for line in plain]
    table = pq.read_table((tmp_path / "out" / "s.parquet").resolve())
    assert table.column_names == COLUMNS
    assert table["sex"].to_pylist() == [line["sex"] or None for line in wide]
    manifest = json.loads((tmp_path / "out" / "s.manifest.json").read_text(encoding="utf-8"))
    assert [column["name"] for column in manifest["outputs"][0]["columns"]] == COLUMNS


def test_figures_keep_two_digits_of_their_noise(written):
    """By hand of decimal texts: an interval of 95 % whose half is between 10 and 100 leaves whole numbers, between 100 and 1000 tens."""
    _, exact = written()
    code, lines = written("    post: [rounded]\n")
    assert code == 0
    changed = 0
    for line, before in zip(lines, exact, strict=True):
        value, low, high = (Decimal(before[name]) for name in ("value", "low", "high"))
        step = Decimal(1).scaleb(((high - low) / 2).adjusted() - 1)
        for name, number, way in (("value", value, ROUND_HALF_EVEN), ("low", low, ROUND_FLOOR), ("high", high, ROUND_CEILING)):
            assert Decimal(line[name]) == (number / step).to_integral_value(way) * step
        changed += line["value"] != before["value"]
        assert Decimal(line["low"]) <= min(Decimal(line["value"]), low)
    assert changed > 4


@pytest.mark.parametrize(
    "fault", [{"sex": None}, {"sex": "M"}, {"area": "north"}], ids=["a key lost", "another key", "a key too many"]
)
def test_a_key_that_is_not_the_querys_is_found(written, monkeypatch, fault, capsys):
    real = files._row

    def planted(figure, columns, mark):
        row = dict(zip(columns, real(figure, columns, mark), strict=True))
        return list((row | fault if (row["query"], row["sex"]) == ("pay", "F") else row).values())

    assert written("    groups: columns\n")[0] == 0
    monkeypatch.setattr(files, "_row", planted)
    assert written("    groups: columns\n")[0] == 1
    assert "A235" in capsys.readouterr().err

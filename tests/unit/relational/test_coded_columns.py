"""Columns as numbered cells: what each is called, without writing a million labels to judge a policy."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from privrelease.policy.loader import check_policy
from privrelease.policy.synthetic.domain import coded_domain
from privrelease.relational import coded_columns
from privrelease.relational.coded_columns import MISSING, BinLabels, BinnedCells
from privrelease.relational.schema import ColumnType

EPOCH = date(1970, 1, 1)
CASES = [
    (ColumnType.INTEGER, Fraction(1), str),
    (ColumnType.INTEGER, Fraction(5), lambda step: str(5 * step)),
    (ColumnType.NUMBER, Fraction(1, 10), lambda step: str(Decimal(step) / 10)),
    (ColumnType.DATE, Fraction(1), lambda step: str(EPOCH + timedelta(days=step))),
]
STARTS = [((-2, -1, 0, 1), 1), ((0, 4, 5), 5), ((0, 4, 5), 9), ((7,), 7), ((7,), 20)]


@pytest.mark.parametrize(("starts", "end"), STARTS)
@pytest.mark.parametrize(("kind", "grid", "written"), CASES)
def test_a_bin_is_called_by_its_first_and_last_value(kind, grid, written, starts, end):
    bins = BinnedCells("c", kind, grid, starts, end)
    expected = []
    for cell, first in enumerate(starts):
        last = starts[cell + 1] - 1 if cell + 1 < len(starts) else end
        expected.append(written(first) if first == last else f"{written(first)} to {written(last)}")
    assert bins.labels == (*expected, MISSING)
    lazy = BinLabels(bins)
    assert (len(lazy), tuple(lazy)) == (bins.size, bins.labels)
    assert coded_domain([bins]).columns[0].size == bins.size


def test_the_domain_of_a_million_values_is_made_without_their_labels(monkeypatch):
    written = []
    monkeypatch.setattr(coded_columns, "value_of", lambda step, *_: written.append(step) or step)
    domain = coded_domain([BinnedCells("n", ColumnType.INTEGER, Fraction(1), tuple(range(1, 1_000_001)), 1_000_000)])
    assert (domain.sizes, written) == ((1_000_001,), [])
    assert domain.columns[0].labels[4] == "5"
    assert written == [5]


def test_a_policy_over_a_million_values_is_judged_without_their_labels(tmp_path, monkeypatch):
    (tmp_path / "p.yaml").write_text(
        """apiVersion: privrelease/v1
kind: ReleasePolicy
id: p
version: 1.0.0
title: A million values
datasets:
  d:
    source: d.csv
    snapshot: a
    population: p
    unit: {column: pid, max_rows: 1}
    columns:
      pid: {role: direct, type: string}
      n: {role: quasi, type: integer, domain: [1, 1000000]}
ledger: {cap: {epsilon: 1}, url: "sqlite:///l.db"}
releases:
  - {id: s, kind: synthetic, from: d, method: histogram, columns: [n], rows: 9, budget: {epsilon: 1}, output: {path: o.parquet}}
""",
        encoding="utf-8",
    )
    written = []
    monkeypatch.setattr(coded_columns, "value_of", lambda step, *_: written.append(step) or step)
    loaded, findings = check_policy(tmp_path / "p.yaml")
    assert loaded is not None, findings
    assert len(written) < 100

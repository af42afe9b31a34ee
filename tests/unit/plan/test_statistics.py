"""What a plan of statistics says beforehand, against figures worked by hand and the table of reference/dp-and-synthesis.md."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from privrelease.plan.build import build_plan
from privrelease.plan.explain import explain
from privrelease.plan.statistics.forecast import forecast_of, mean_forecast_of
from privrelease.plan.statistics.plan import StatisticsPlan
from privrelease.policy.loader import load_policy

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """apiVersion: privrelease/v1
kind: ReleasePolicy
id: made
version: 1.0.0
title: Made-up
datasets:
  d:
    source: nowhere.csv
    population: everybody
    unit: {{column: id, max_rows: 1}}
    columns:
      id: {{role: direct, type: string}}
      name: {{role: direct, type: string}}
      x: {{role: sensitive, type: number, domain: [0, 100], grid: 0.5}}
releases:
  - id: s
    kind: statistics
    from: d
    budget: {{epsilon: {epsilon}, delta: 1e-5}}
    queries: [{{id: q, {query}}}]
    output: out/s.csv
"""


def planned(folder: Path, query: str, epsilon: str = "1") -> StatisticsPlan:
    (folder / "p.yaml").write_text(POLICY.format(query=query, epsilon=epsilon), encoding="utf-8")
    plan = build_plan(load_policy(folder / "p.yaml"))
    (release,) = plan.releases
    assert isinstance(release, StatisticsPlan)
    return release


@pytest.mark.parametrize(
    ("epsilon", "laplace", "gaussian"), [("0.1", 14.136, 30.75), ("0.5", 2.799, 7.03), ("1", 1.357, 3.73), ("2", 0.602, 1.99)]
)
def test_standard_deviations_of_a_count_are_those_of_the_reference(tmp_path, epsilon, laplace, gaussian):
    (draw,) = planned(tmp_path, "count: true", epsilon).draws
    assert forecast_of(draw).deviation == pytest.approx(laplace, abs=5e-4)
    (draw,) = planned(tmp_path, "count: true, mechanism: gaussian", epsilon).draws
    assert forecast_of(draw).deviation == pytest.approx(gaussian, rel=0.015)  # a little more: the analytic sigma exceeds delta
    assert draw.noise is not None
    assert draw.noise.delta(1, draw.epsilon.value) <= 1e-5


def test_a_mean_is_forecast_from_the_rows_that_the_policy_expects(tmp_path):
    plan = planned(tmp_path, "mean: x, expected_rows: 1000")
    found = mean_forecast_of(plan.queries[0])
    assert found is not None
    # sum: sensitivity 100 steps of 0.5 at epsilon 1/2: b = 200 steps = 100; count: b = 2
    a, b = math.exp(-1 / 200), math.exp(-1 / 2)
    of_sum, of_count = 0.5 * math.sqrt(2 * a) / (1 - a), math.sqrt(2 * b) / (1 - b)
    assert found.least == pytest.approx(of_sum / 1000)
    assert found.most == pytest.approx(math.hypot(of_sum, 50 * of_count) / 1000)
    assert found.half_width < 1
    (release,) = explain(build_plan(load_policy(tmp_path / "p.yaml"))).releases
    assert "the mean, with 1000 rows: standard deviation 0.141" in "\n".join(release.as_lines())
    assert mean_forecast_of(planned(tmp_path, "mean: x").queries[0]) is None


def test_columns_that_no_query_asks_for_are_not_read_and_no_domain_refuses_a_row(tmp_path):
    source = planned(tmp_path, "sum: x").source
    assert [column.name for column in source.columns] == ["id", "x"]
    assert [column.name for column in source.unread] == ["name"]
    assert all(column.domain is None for column in source.columns)


def test_a_plan_needs_no_row_and_no_source(tmp_path):
    plan = planned(tmp_path, "median: x")
    assert not (tmp_path / "nowhere.csv").exists()
    assert plan.cost.epsilon.value == 1

"""Cell suppression against the exhaustive optimum of small tables."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement
from tests.depth import depth
from tests.property.cell_suppression import class_table, faults


def group_cost(group, costs):
    """Cost of making a group of rows one class: a column that is not constant goes; and whether it still shows anything."""
    total = Fraction(0)
    shown = False
    for column, cost in enumerate(costs):
        values = {row[column] for row in group}
        if len(values) > 1:
            total += cost * sum(row[column] > 0 for row in group)
        elif values != {0}:
            shown = True
    return total, shown


def exhaustive_optimum(rows, limits, costs):
    """Least cost over all partitions of the rows into classes and a residual group; by subsets, with the figures that limits need."""
    n = len(rows)
    safe = 1 if limits.at_risk is None else -(-limits.at_risk.above.denominator // limits.at_risk.above.numerator)
    best = [defaultdict(lambda: None) for _ in range(1 << n)]
    best[0][(0, 0, 0)] = Fraction(0)
    options = {}
    for subset in range(1, 1 << n):
        group = [rows[index] for index in range(n) if subset >> index & 1]
        whole = sum((cost * (row[column] > 0) for row in group for column, cost in enumerate(costs)), Fraction(0))
        options[subset] = [(whole, (0, 0, 0))]
        cost, shown = group_cost(group, costs)
        if not shown:
            options[subset] = [(cost, (0, 0, 0))]
        elif len(group) >= limits.k:
            options[subset].append((cost, (1, len(group), len(group) if len(group) < safe else 0)))
    for subset in range(1, 1 << n):
        lowest = subset & -subset
        part = subset
        while part:
            if part & lowest:
                for figures, before in list(best[subset ^ part].items()):
                    for cost, change in options[part]:
                        after = tuple(a + b for a, b in zip(figures, change, strict=True))
                        if best[subset][after] is None or before + cost < best[subset][after]:
                            best[subset][after] = before + cost
            part = (part - 1) & subset
    allowed = [
        cost
        for (classes, records, exposed), cost in best[(1 << n) - 1].items()
        if cost is not None
        and (limits.average is None or classes <= limits.average * records)
        and (limits.at_risk is None or exposed <= limits.at_risk.share * records)
    ]
    return min(allowed)


def solved_cost(rows, limits, costs):
    table = class_table(rows)
    problem = Problem(table, (Requirement("r", tuple(range(len(costs))), limits),), costs, residual="keep")
    solution = suppress_cells(problem)
    assert faults(problem, solution) == []
    return sum((int(lost) * cost for lost, cost in zip(solution.lost_cells, costs, strict=True)), Fraction(0))


LIMITS = [
    Thresholds(highest=Fraction(1, 2)),
    Thresholds(highest=Fraction(1, 3)),
    Thresholds(highest=Fraction(1, 2), average=Fraction(1, 3)),
    Thresholds(at_risk=RecordsAtRisk(Fraction(1, 3), Fraction(1, 4))),
]


@pytest.mark.parametrize("limits", LIMITS, ids=["k = 2", "k = 3", "k = 2 and average 1/3", "a quarter above 1/3"])
def test_small_tables_come_close_to_the_exhaustive_optimum(limits, capsys):
    generator = np.random.default_rng(20240229)
    solved, optimal = Fraction(0), Fraction(0)
    for _ in range(depth(20, 60)):
        n, q = int(generator.integers(4, 9)), int(generator.integers(2, 5))
        rows = [tuple(int(code) for code in row) for row in generator.integers(0 if generator.random() < 0.3 else 1, 4, (n, q))]
        costs = (Fraction(1),) * q
        mine, least = solved_cost(rows, limits, costs), exhaustive_optimum(rows, limits, costs)
        assert mine >= least
        solved, optimal = solved + mine, optimal + least
    with capsys.disabled():
        print(f"\nmean excess over the exhaustive optimum, {limits}: {float(solved / optimal - 1):.1%}")  # noqa: T201 # asked for
    assert solved <= optimal * Fraction(5, 4)


def test_the_exhaustive_optimum_is_itself_right_on_a_table_solved_by_hand():
    # Two pairs that differ in one column each, and one stray row: 2 + 2 cells for the pairs, 2 for the stray row.
    rows = [(1, 1), (1, 2), (2, 3), (3, 3), (4, 4)]
    assert exhaustive_optimum(rows, Thresholds(highest=Fraction(1, 2)), (Fraction(1), Fraction(1))) == 6

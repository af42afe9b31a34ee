"""Adult protected by the solver, beside ARX 3.9.2: `../shared/reference/arx.md`, "Cell suppression"."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement

if TYPE_CHECKING:
    from pathlib import Path

K5 = Thresholds(highest=Fraction("0.2"))
AVERAGE = Thresholds(highest=Fraction("0.5"), average=Fraction("0.2"))

#: quasi-identifiers, thresholds, cells ARX needs, cells we must not exceed: what was reached, with a little room
FIGURES = [
    (2, K5, 22, 22),
    (3, K5, 425, 425),
    (4, K5, 1_886, 1_855),
    (5, K5, 8_579, 8_030),
    (6, K5, 12_201, 11_300),
    (7, K5, 19_074, 17_600),
    (8, K5, 34_931, 31_850),
    (9, K5, 38_219, 35_400),
    (5, AVERAGE, 3_497, 3_300),
    (7, AVERAGE, 10_745, 9_100),
    (9, AVERAGE, 30_608, 25_900),
]


@pytest.fixture(scope="module")
def rows(shared: Path) -> np.ndarray:
    """Adult as codes from 1, in file order and header order."""
    path = shared / "data" / "adult.csv"
    with path.open(encoding="utf-8") as stream:
        names = stream.readline().strip().split(";")
    data = pa_csv.read_csv(
        path,
        parse_options=pa_csv.ParseOptions(delimiter=";"),
        convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    columns = [np.unique(data[name].to_numpy(), return_inverse=True)[1] + 1 for name in names]
    return np.stack(columns, axis=1)


#: Quasi-identifiers: ARX's cells and its non-uniform entropy among suppressed cells (arx.md, k = 5), and the least entropy under `information`.
ENTROPIES = [
    (5, 8_579, 0.914479, 0.9215),
    (7, 19_074, 0.825705, 0.8362),
    (8, 34_931, 0.741987, 0.7571),
    (9, 38_219, 0.727511, 0.7448),
]


def entropy_kept(table, solution):
    """1 - Σ lost / Σ most bits, lost by the frequencies among a column's suppressed cells, from the definition in arx.md."""
    lost = most = 0.0
    for column in range(len(table.columns)):
        gone = solution.suppressed[:, column] | solution.dropped
        for codes, records, bits in (
            (table.codes[:, column], table.counts, "most"),
            (table.codes[solution.class_index[gone], column], solution.records[gone], "lost"),
        ):
            of_value = np.bincount(codes, weights=records)
            of_value = of_value[of_value > 0]
            told = float(-(of_value * np.log2(of_value / of_value.sum())).sum()) if len(of_value) else 0.0
            lost, most = (lost + told, most) if bits == "lost" else (lost, most + told)
    return 1 - lost / most


@pytest.mark.parametrize(("q", "arx", "arx_entropy", "least"), ENTROPIES)
def test_a_preference_keeps_more_information_than_arx_and_balanced_fewer_cells_too(rows, q, arx, arx_entropy, least):
    codes, counts = np.unique(rows[:, :q], axis=0, return_counts=True)
    table = ClassTable(tuple(f"c{column}" for column in range(q)), codes.astype(np.int32), counts)
    known = Requirement("all", tuple(range(q)), Thresholds(highest=Fraction("0.2")))
    balanced, information = (
        suppress_cells(Problem(table, (known,), (Fraction(1),) * q, prefer=prefer)) for prefer in ("balanced", "information")
    )
    assert int(balanced.lost_cells.sum()) < arx
    assert entropy_kept(table, balanced) > arx_entropy
    assert entropy_kept(table, information) >= least


@pytest.mark.parametrize(("q", "limits", "arx", "most"), FIGURES)
def test_fewer_cells_than_arx_and_every_limit_holds_on_the_rows(rows, q, limits, arx, most):
    codes, counts = np.unique(rows[:, :q], axis=0, return_counts=True)
    table = ClassTable(tuple(f"c{column}" for column in range(q)), codes.astype(np.int32), counts)
    problem = Problem(table, (Requirement("all", tuple(range(q)), limits),), (Fraction(1),) * q)
    solution = suppress_cells(problem)

    released: Counter[tuple[int, ...]] = Counter()
    lost = 0
    for index, records, mask, dropped in zip(
        solution.class_index.tolist(),
        solution.records.tolist(),
        solution.suppressed.tolist(),
        solution.dropped.tolist(),
        strict=True,
    ):
        lost += records * (q if dropped else sum(mask))
        if not dropped and not all(mask):
            released[tuple(0 if hidden else code for hidden, code in zip(mask, codes[index].tolist(), strict=True))] += records
    assert lost == int(solution.lost_cells.sum())
    assert lost <= most <= arx
    assert Fraction(1, min(released.values())) <= limits.highest
    if limits.average is not None:
        assert Fraction(len(released), sum(released.values())) <= limits.average
    assert int(solution.records.sum()) == 30_162

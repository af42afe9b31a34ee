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

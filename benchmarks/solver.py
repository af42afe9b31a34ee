"""The suppression solver: cells on Adult and on the stand-in, with those of ARX 3.9.2 (reference/arx.md), and CPU seconds.

Solver CPU is that of one thread, median of three; reading and coding are not counted. Seconds of ARX are not shown: they are of another machine.
"""

from __future__ import annotations

import statistics
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from measure import SHARED, machine, print_table, standin

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement

K5 = Thresholds(highest=Fraction("0.2"))
AVERAGE = Thresholds(highest=Fraction("0.5"), average=Fraction("0.2"))

#: data, quasi-identifiers, thresholds: cells of ARX
ARX = {
    ("Adult", 2, K5): 22,
    ("Adult", 3, K5): 425,
    ("Adult", 4, K5): 1_886,
    ("Adult", 5, K5): 8_579,
    ("Adult", 6, K5): 12_201,
    ("Adult", 7, K5): 19_074,
    ("Adult", 8, K5): 34_931,
    ("Adult", 9, K5): 38_219,
    ("Adult", 5, AVERAGE): 3_497,
    ("Adult", 7, AVERAGE): 10_745,
    ("Adult", 9, AVERAGE): 30_608,
    ("stand-in", 5, K5): 27_453,
    ("stand-in", 7, K5): 114_622,
    ("stand-in", 9, K5): 360_749,
    ("stand-in", 9, AVERAGE): 193_018,
}


def class_table(data: pa.Table, q: int) -> ClassTable:
    """Code the first q columns of a table of text by ascending values, as a run does, and collapse it."""
    columns = []
    for name in data.column_names[:q]:
        coded = data[name].combine_chunks().dictionary_encode()
        order = np.argsort(np.argsort(coded.dictionary.to_numpy(zero_copy_only=False)))
        columns.append((order[coded.indices.to_numpy()] + 1).astype(np.int32))
    packed = np.zeros(len(data), np.int64)
    for codes in columns:
        packed = packed * (int(codes.max()) + 1) + codes
    _, first, counts = np.unique(packed, return_index=True, return_counts=True)
    return ClassTable(tuple(data.column_names[:q]), np.stack([codes[first] for codes in columns], axis=1), counts)


def measured(table: ClassTable, thresholds: Thresholds) -> tuple[int, float]:
    """Return the cells lost and the median CPU seconds."""
    q = len(table.columns)
    problem = Problem(table, (Requirement("all", tuple(range(q)), thresholds),), (Fraction(1),) * q)
    seconds = []
    for _ in range(3):
        start = time.thread_time()
        solution = suppress_cells(problem)
        seconds.append(time.thread_time() - start)
    return int(solution.lost_cells.sum()), statistics.median(seconds)


def main() -> None:
    """Print one table. An argument names another stand-in file; without the shared folder there is nothing to measure."""
    adult = SHARED / "data" / "adult.csv"
    if not adult.is_file():
        sys.exit("the solver's benchmark needs the shared folder: set PRIVRELEASE_SHARED")
    names = adult.open(encoding="utf-8").readline().strip().split(";")
    texts = pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    data = {
        "Adult": pa_csv.read_csv(adult, parse_options=pa_csv.ParseOptions(delimiter=";"), convert_options=texts),
        "stand-in": pq.read_table(Path(sys.argv[1]) if len(sys.argv) > 1 else standin()),
    }
    suppress_cells(Problem(class_table(data["Adult"], 2), (Requirement("warm", (0, 1), K5),), (Fraction(1),) * 2))
    rows = []
    for (source, q, thresholds), arx_cells in ARX.items():
        cells, seconds = measured(class_table(data[source], q), thresholds)
        rows.append(
            [
                source,
                str(q),
                "k = 5" if thresholds is K5 else "average 0.2, k = 2",
                f"{cells:,}",
                f"{arx_cells:,}",
                f"{100 * (cells / arx_cells - 1):+.1f} %",
                f"{seconds:.3f}",
            ]
        )
    print_table(
        f"Suppression solver against ARX 3.9.2 ({machine()})",
        ["data", "QIs", "limits", "cells", "ARX", "difference", "CPU s"],
        rows,
    )


if __name__ == "__main__":
    main()

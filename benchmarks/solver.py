"""The suppression solver: cells on Adult and on the stand-in (`prefer: cells`), with those of ARX 3.9.2 (reference/arx.md), and CPU seconds;
cells and non-uniform entropy under each preference.

Solver CPU is that of one thread, median of three; reading and coding are not counted. Seconds of ARX are not shown: they are of another machine.
"""

from __future__ import annotations

import statistics
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from measure import SHARED, machine, print_table, standin

from privrelease.audit.microdata.utility.entropy import entropy_loss, kept
from privrelease.audit.microdata.utility.value_counts import ValueCounts
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement, Solution

if TYPE_CHECKING:
    from privrelease.disclosure.suppression.cell_costs import Preference

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

#: Quasi-identifiers: non-uniform entropy among suppressed cells that ARX keeps of Adult, k = 5
ARX_ENTROPY = {5: 0.914479, 7: 0.825705, 8: 0.741987, 9: 0.727511}


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


def measured(table: ClassTable, thresholds: Thresholds, prefer: Preference = "cells") -> tuple[Solution, float]:
    """Return the solution and the median CPU seconds."""
    q = len(table.columns)
    problem = Problem(table, (Requirement("all", tuple(range(q)), thresholds),), (Fraction(1),) * q, prefer=prefer)
    seconds = []
    for _ in range(3):
        start = time.thread_time()
        solution = suppress_cells(problem)
        seconds.append(time.thread_time() - start)
    return solution, statistics.median(seconds)


def entropies(table: ClassTable, solution: Solution) -> tuple[float, float]:
    """Return the non-uniform entropy kept: by the frequencies among suppressed cells, as ARX does, and of the whole file."""
    lost = []
    for column in range(len(table.columns)):
        codes = table.codes[:, column]
        before = np.bincount(codes, weights=table.counts).astype(np.int64)
        gone = solution.suppressed[:, column] | solution.dropped
        of_gone = codes[solution.class_index[gone]]
        cells = np.bincount(of_gone, weights=solution.records[gone], minlength=len(before)).astype(np.int64)
        cells[0] = 0
        after = before - cells
        after[0] = before[0] + cells.sum()
        loss = entropy_loss(ValueCounts(table.columns[column], before, after))
        if loss is not None:
            lost.append(loss)
    ours, whole = (kept([(getattr(one, name), one.most) for one in lost]) for name in ("suppressed", "whole_file"))
    return ours or 0.0, whole or 0.0


def print_preferences(adult: pa.Table) -> None:
    """Print cells, both entropies and CPU seconds of Adult under each preference, k = 5."""
    rows = []
    for q, arx in ARX_ENTROPY.items():
        table = class_table(adult, q)
        for prefer in ("cells", "balanced", "information"):
            solution, seconds = measured(table, K5, prefer)
            figures = [f"{kept:.4f}" for kept in entropies(table, solution)]
            cells = f"{int(solution.lost_cells.sum()):,}"
            rows.append([str(q), prefer, cells, *figures, f"{ARX['Adult', q, K5]:,}", f"{arx:.4f}", f"{seconds:.3f}"])
    head = ["QIs", "prefer", "cells", "entropy, suppressed cells", "entropy, whole file", "ARX: cells", "ARX: entropy", "CPU s"]
    print_table(f"Cells and entropy by preference, Adult, k = 5 ({machine()})", head, rows)


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
        solution, seconds = measured(class_table(data[source], q), thresholds)
        cells = int(solution.lost_cells.sum())
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
    print_preferences(data["Adult"])


if __name__ == "__main__":
    main()

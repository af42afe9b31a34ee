"""The suppression solver: cells on Adult and on the stand-in (`prefer: cells`), with those of ARX 3.9.2 (reference/arx.md), and CPU seconds;
cells and non-uniform entropy under each preference.

Solver CPU is that of one thread, median of three; reading and coding are not counted. The recorded cells of ARX come without seconds, since those are of
another machine. Where `PRIVRELEASE_ARX` names its jar (see `arx.py`), ARX suppresses the same rows by turns with ours, and its cells and CPU seconds
are printed next to them: a first run in a new JVM and the median of warm ones. ARX groups rows in that time, so ours is also given with grouping.
"""

from __future__ import annotations

import statistics
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from arx import WARM, WARM_ROWS, Arx, ArxError, Suppressed, given, left_out, write_rows
from measure import OUT, SHARED, machine, print_table, standin

from privrelease.audit.microdata.utility.entropy import entropy_loss, kept
from privrelease.audit.microdata.utility.value_counts import ValueCounts
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement, Solution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from privrelease.disclosure.suppression.cell_costs import Preference

K5 = Thresholds(highest=Fraction("0.2"))
AVERAGE = Thresholds(highest=Fraction("0.5"), average=Fraction("0.2"))

TURNS = 3
#: The least seconds that the driver prints.
CLOCK = 1e-6

#: data, quasi-identifiers, thresholds: cells of ARX
ARX: dict[tuple[str, int, Thresholds], int] = {
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


def codes_of(data: pa.Table, q: int) -> list[NDArray[np.int32]]:
    """Code the first q columns of a table of text by ascending values, as a run does."""
    columns = []
    for name in data.column_names[:q]:
        coded = data[name].combine_chunks().dictionary_encode()
        order = np.argsort(np.argsort(coded.dictionary.to_numpy(zero_copy_only=False)))
        columns.append((order[coded.indices.to_numpy()] + 1).astype(np.int32))
    return columns


def grouped(names: list[str], columns: list[NDArray[np.int32]]) -> ClassTable:
    """Collapse rows of codes to classes."""
    packed = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        packed = packed * (int(codes.max()) + 1) + codes
    _, first, counts = np.unique(packed, return_index=True, return_counts=True)
    return ClassTable(tuple(names), np.stack([codes[first] for codes in columns], axis=1), counts)


def class_table(data: pa.Table, q: int) -> ClassTable:
    """Code and collapse the first q columns of a table of text."""
    return grouped(data.column_names[:q], codes_of(data, q))


def measured(
    table: ClassTable, thresholds: Thresholds, prefer: Preference = "cells", *, runs: int = 3
) -> tuple[Solution, float]:
    """Return the solution and the median CPU seconds."""
    q = len(table.columns)
    problem = Problem(table, (Requirement("all", tuple(range(q)), thresholds),), (Fraction(1),) * q, prefer=prefer)
    seconds = []
    for _ in range(runs):
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


def print_preferences(adult: pa.Table, arx_here: Mapping[int, float]) -> None:
    """Print cells, both entropies and CPU seconds of Adult under each preference, k = 5; the entropy of ARX as recorded and as measured here."""
    rows = []
    for q, arx in ARX_ENTROPY.items():
        table = class_table(adult, q)
        for prefer in ("cells", "balanced", "information"):
            solution, seconds = measured(table, K5, prefer)
            figures = [f"{kept:.4f}" for kept in entropies(table, solution)]
            cells = f"{int(solution.lost_cells.sum()):,}"
            here = [f"{arx_here[q]:.4f}" if q in arx_here else "-"] if arx_here else []
            rows.append([str(q), prefer, cells, *figures, f"{ARX['Adult', q, K5]:,}", f"{arx:.4f}", *here, f"{seconds:.3f}"])
    head = ["QIs", "prefer", "cells", "entropy, suppressed cells", "entropy, whole file", "ARX: cells", "ARX: entropy"]
    head += [*(["ARX here: entropy"] if arx_here else []), "CPU s"]
    print_table(f"Cells and entropy by preference, Adult, k = 5 ({machine()})", head, rows)


class Turns(NamedTuple):
    """One case: our solution, its CPU seconds without and with the grouping of rows, and what ARX did, one of each a turn."""

    solution: Solution
    seconds: list[float]
    with_grouping: list[float]
    arx: list[Suppressed]


def by_turns(
    data: pa.Table, q: int, thresholds: Thresholds, arx: Arx | None, file: Path, *, entropy: bool, turns: int
) -> tuple[Turns, Arx | None]:
    """Suppress the same rows in turn; return ARX too, or none from its first fault on."""
    names, codes = data.column_names[:q], codes_of(data, q)
    found = Turns(measured(grouped(names, codes), thresholds, runs=1)[0], [], [], [])
    warm = WARM if len(data) <= WARM_ROWS else 1
    for turn in range(turns):
        for ours in (True, False) if turn % 2 == 0 else (False, True):
            if ours:
                start = time.thread_time()
                table = grouped(names, codes)
                grouping = time.thread_time() - start
                _, seconds = measured(table, thresholds, runs=1)
                found.seconds.append(seconds)
                found.with_grouping.append(grouping + seconds)
            elif arx is not None:
                try:
                    found.arx.append(arx.suppress(file, q, thresholds, warm=warm, entropy=entropy and turn == 0))
                except ArxError as fault:
                    left_out(fault)
                    arx = None
    return found, arx


def of_arx(found: Turns) -> list[str]:
    """Return the cells of a row that ARX adds: its cells, its seconds, ours with grouping, and the ratio to its warm runs, turn by turn."""
    if not found.arx:
        return ["-"] * 5
    warm = [statistics.median(one.warm) for one in found.arx]
    ratios = [ours / max(theirs, CLOCK) for ours, theirs in zip(found.with_grouping, warm, strict=False)]
    return [
        f"{found.arx[0].cells:,}",
        f"{statistics.median(one.first for one in found.arx):.3f}",
        f"{statistics.median(warm):.3f}",
        f"{statistics.median(found.with_grouping):.3f}",
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    ]


def print_cells(
    data: Mapping[str, pa.Table],
    cases: Mapping[tuple[str, int, Thresholds], int],
    arx: Arx | None,
    folder: Path = OUT,
    turns: int = TURNS,
) -> dict[int, float]:
    """Print cells and CPU seconds of each case, next to the recorded cells of ARX, and to ARX itself where it is given.

    Returns the non-uniform entropy that ARX keeps of Adult, by quasi-identifiers, where it was measured.
    """
    files = {source: write_rows(table, folder / f"arx-{source}.csv") for source, table in data.items()} if arx else {}
    running, rows, entropies_here, others, name = arx, [], {}, [], "ARX here"
    for (source, q, thresholds), recorded in cases.items():
        entropy = (source, thresholds) == ("Adult", K5) and q in ARX_ENTROPY
        found, running = by_turns(data[source], q, thresholds, running, files.get(source, folder), entropy=entropy, turns=turns)
        cells = int(found.solution.lost_cells.sum())
        limits = "k = 5" if thresholds is K5 else "average 0.2, k = 2"
        difference = f"{100 * (cells / recorded - 1):+.1f} %"
        row = [source, str(q), limits, f"{cells:,}", f"{recorded:,}", difference, f"{statistics.median(found.seconds):.3f}"]
        rows.append([*row, *(of_arx(found) if arx else [])])
        for one in found.arx:
            name = f"ARX {one.version} here"
            if one.entropy is not None:
                entropies_here[q] = one.entropy
        if any(one.cells != recorded for one in found.arx):
            others.append(f"{source}, {q} columns, {limits}")
    head = ["data", "QIs", "limits", "cells", "ARX", "difference", "CPU s"]
    if arx:
        head += [f"{name}: cells", "first run, CPU s", "warm, CPU s", "ours with grouping, CPU s", "ratio to warm"]
    print_table(f"Suppression solver against ARX 3.9.2 ({machine()})", head, rows)
    for case in others:
        print(f"\n{name} suppresses other cells than recorded: {case}")
    return entropies_here


def main() -> None:
    """Print the tables. An argument names another stand-in file; without the shared folder there is nothing to measure."""
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
    print_preferences(data["Adult"], print_cells(data, ARX, given()))


if __name__ == "__main__":
    main()

"""Worst cases of the suppression solver, k = 5: all rows distinct, one column of 300,000 values, 25 columns, three threats.

CPU seconds and cells of the solver, in a process of its own for each case, and CPU seconds of a whole run of the largest.
`PRIVRELEASE_BEFORE=…/bin/privrelease` names the command of another version, installed in an environment of its own: both then run by turns,
and the ratio is printed, the median of the turns. Where `PRIVRELEASE_ARX` names ARX's jar (see `arx.py`), ARX has its turn too in the cases that it
can run: one threat, and no more columns than its search for an optimum takes; its seconds are those of a first run, rows grouped. Rows are drawn
with a fixed seed. ``--quick``: no whole run. ``--solve CASE`` prints the figures of one case and is what the processes run, under either version.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from arx import ArxError, given, left_out, write_rows
from measure import OUT, by_turns, machine, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa
    from arx import Arx
    from numpy.typing import NDArray

TURNS = 3
LARGEST = "1,000,000 rows, all distinct"
#: Columns beyond which ARX has refused to search for an optimum.
ARX_COLUMNS = 15

#: Cells and CPU seconds of one run of a case.
Run = tuple[int, float]


class Case(NamedTuple):
    """Rows to protect, the columns that each threat knows, and the most that the solver may take of the version before."""

    rows: Callable[[], NDArray[np.int32]]
    threats: tuple[tuple[int, ...], ...]
    limit: str = ""


def uniform(rows: int, columns: int, values: int) -> NDArray[np.int32]:
    """Draw every cell from as many values."""
    return np.random.default_rng(1).integers(1, values + 1, (rows, columns)).astype(np.int32)


def one_long_column() -> NDArray[np.int32]:
    """Draw 1,000,000 rows of one column of 300,000 values and eight of ten."""
    rows = uniform(1_000_000, 9, 10)
    rows[:, 0] = np.random.default_rng(2).integers(1, 300_001, len(rows))
    return rows


def wide() -> NDArray[np.int32]:
    """Draw 30,000 rows of 25 columns: one of 300 profiles each, every cell replaced with probability 0.1."""
    drawn = np.random.default_rng(3)
    profiles, of_row = drawn.integers(1, 11, (300, 25)), drawn.integers(0, 300, 30_000)
    return np.where(drawn.random((30_000, 25)) < 0.1, drawn.integers(1, 11, (30_000, 25)), profiles[of_row]).astype(np.int32)


NINE = (tuple(range(9)),)
CASES = {
    "100,000 rows, all distinct": Case(lambda: uniform(100_000, 9, 50), NINE, "0.30"),
    LARGEST: Case(lambda: uniform(1_000_000, 9, 50), NINE),
    "one column of 300,000 values": Case(one_long_column, NINE),
    "25 columns": Case(wide, (tuple(range(25)),)),
    "three threats": Case(lambda: uniform(100_000, 9, 50), ((0, 1, 2, 3, 4), (3, 4, 5, 6, 7), (6, 7, 8, 0, 1))),
}


def solve(case: Case) -> str:
    """Return cells and CPU seconds of the solver; the rooms are named as this version or one of before the grid names them."""
    try:
        from privrelease.disclosure.classes.equivalence_classes import ClassTable
        from privrelease.disclosure.risk.thresholds import Thresholds
        from privrelease.disclosure.suppression.cell_suppression import suppress_cells
        from privrelease.disclosure.suppression.problem import Problem, Requirement
    except ImportError:
        from privrelease.disclosure.solvers.cell_suppression import suppress_cells
        from privrelease.disclosure.solvers.problem import Problem, Requirement
        from privrelease.disclosure.thresholds import Thresholds

        from privrelease.disclosure.classes import ClassTable

    def problem(rows: NDArray[np.int32], threats: tuple[tuple[int, ...], ...]) -> Problem:
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        q, k5 = codes.shape[1], Thresholds(highest=Fraction(1, 5))
        table = ClassTable(tuple(f"c{column}" for column in range(q)), np.ascontiguousarray(codes), counts)
        asked = tuple(Requirement(f"t{place}", columns, k5) for place, columns in enumerate(threats))
        return Problem(table, asked, (Fraction(1),) * q)

    suppress_cells(problem(uniform(200, 13, 3), ((0, 1, 2), tuple(range(13)))))  # what is loaded or compiled at first use
    whole = problem(case.rows(), case.threats)
    start = time.thread_time()
    solution = suppress_cells(whole)
    return f"{int(solution.lost_cells.sum())} {time.thread_time() - start}"


def in_a_process(python: str, name: str) -> Run:
    """Return cells and CPU seconds of the solver of an interpreter's version."""
    command = [python, str(Path(__file__).resolve()), "--solve", name]
    cells, seconds = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(cells), float(seconds)


def texts_of(rows: NDArray[np.int32], columns: Iterable[str]) -> pa.Table:
    """Return rows of codes as named columns of text."""
    import pyarrow as pa

    names = pa.array([f"v{value:02}" for value in range(int(rows.max()) + 1)])
    return pa.table({column: names.take(pa.array(codes)) for column, codes in zip(columns, rows.T, strict=True)})


def with_arx(arx: Arx, case: Case, file: Path) -> Run:
    """Return cells and CPU seconds of ARX's first run."""
    from privrelease.disclosure.risk.thresholds import Thresholds

    found = arx.suppress(file, len(case.threats[0]), Thresholds(highest=Fraction(1, 5)))
    return found.cells, found.first


def by_each(runs: dict[str, Callable[[], Run]], turns: int) -> dict[str, list[Run]]:
    """Return cells and CPU seconds of one case of each program, by turns; a fault of ARX takes it out."""
    found: dict[str, list[Run]] = {program: [] for program in runs}
    for turn in range(turns):
        for program in sorted(found, reverse=bool(turn % 2)):
            try:
                found[program].append(runs[program]())
            except ArxError as fault:
                left_out(fault)
                del found[program]
    return found


def write_largest(folder: Path) -> Path:
    """Write the largest case as Parquet with a policy; return the policy."""
    import pyarrow.parquet as pq

    from policies import COLUMNS, write_policy

    pq.write_table(texts_of(CASES[LARGEST].rows(), COLUMNS), folder / "distinct.parquet")
    policy = write_policy(folder, "distinct", "distinct.parquet")
    policy.write_text(policy.read_text(encoding="utf-8").replace("limit: 0.5", "limit: 0.9"), encoding="utf-8")
    return policy


def compared(ours: list[float], before: list[float]) -> tuple[str, ...]:
    """Return the medians and the ratio, turn by turn."""
    ratios = [mine / theirs for mine, theirs in zip(ours, before, strict=True)]
    spread = f"{statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"
    return f"{statistics.median(ours):.2f}", f"{statistics.median(before):.2f}", spread


def of_arx(ours: list[float], runs: list[Run]) -> tuple[str, ...]:
    """Return the cells of a row that ARX adds: its cells, its seconds and the ratio to it."""
    if not runs:
        return ("-", "-", "-")
    _, *others = compared(ours, [seconds for _, seconds in runs])
    return (f"{runs[0][0]:,}", *others)


def whole_run(before: str | None) -> tuple[str, ...]:
    """Return the CPU seconds of a whole run of the largest case, of both versions where there is another."""
    programs = {"ours": [sys.executable, "-m", "privrelease.cli.main"]} | ({"before": [before]} if before else {})
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        commands = {}
        for program, start in programs.items():
            folder = Path(name) / program
            folder.mkdir()
            commands[program] = [*start, "run", str(write_largest(folder)), "--data-root", str(folder), "--quiet"]
        used = {program: [one.cpu for one in of] for program, of in by_turns(commands, turns=1).items()}
    return compared(used["ours"], used["before"]) if before else (f"{used['ours'][0]:.1f}", "", "")


def main() -> None:
    """Print the table; arguments that are no options choose cases by a word of their names."""
    if "--solve" in sys.argv:
        print(solve(CASES[sys.argv[-1]]))
        return
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    before, words = os.environ.get("PRIVRELEASE_BEFORE"), [word for word in sys.argv[1:] if not word.startswith("-")]
    programs = {"ours": sys.executable} | ({"before": str(Path(before).with_name("python"))} if before else {})
    rows, arx = [], given()
    beside = arx is not None
    for name, case in CASES.items():
        if words and not any(word in name for word in words):
            continue
        runs: dict[str, Callable[[], Run]] = {one: partial(in_a_process, python, name) for one, python in programs.items()}
        if arx is not None and len(case.threats) == 1 and len(case.threats[0]) <= ARX_COLUMNS:
            drawn = case.rows()
            file = write_rows(texts_of(drawn, [f"c{place}" for place in range(drawn.shape[1])]), OUT / "arx-worst.csv")
            runs["arx"] = partial(with_arx, arx, case, file)
        found = by_each(runs, TURNS if name != LARGEST else 1)
        arx = None if "arx" in runs.keys() - found else arx
        cells = [f"{found[program][0][0]:,}" if program in found else "" for program in ("ours", "before")]
        ours = [seconds for _, seconds in found["ours"]]
        seconds = compared(ours, [one for _, one in found["before"]]) if before else (f"{statistics.median(ours):.2f}", "", "")
        row = (name, "solver", *cells, *seconds, case.limit)
        rows.append((*row, *of_arx(ours, found.get("arx", []))) if beside else row)
        print(" | ".join(rows[-1]), flush=True)
    if "--quick" not in sys.argv and (not words or any(word in LARGEST for word in words)):
        rows.append((LARGEST, "run", "", "", *whole_run(before), "0.50", *([""] * 3 if beside else [])))
    header = ("case", "what", "cells", "before: cells", "CPU s", "before: CPU s", "ratio", "limit of the ratio")
    header += ("ARX: cells", "ARX: CPU s", "ratio to ARX") if beside else ()
    print_table("Worst cases of cell suppression, k = 5", header, rows)


if __name__ == "__main__":
    main()

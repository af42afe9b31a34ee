"""One, two and three overlapping threats on the stand-in, k = 5: CPU seconds of the solver and of a whole run, and suppressed cells.

Solver: one thread, over the coded class table. Run: `privrelease run`, Parquet to Parquet, every process it starts. ``--quick``: solver only.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
from measure import OUT, machine, print_table, standin, usage_of
from solver import K5, class_table

from policies import COLUMNS, write_policy
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement

#: The columns that each threat knows, by their places among the nine. The limits are of two and of three that know six each, three of them shared
#: with the next. Three that know less are settled in few rounds.
THREATS = {
    "one": (tuple(range(9)),),
    "two": (tuple(range(6)), tuple(range(3, 9))),
    "three": (tuple(range(6)), tuple(range(3, 9)), (6, 7, 8, 0, 1, 2)),
    "three that know less": ((0, 1, 2, 3, 4), (3, 4, 5, 6), (5, 6, 7, 8, 0)),
    "three that share more": (tuple(range(6)), tuple(range(2, 8)), tuple(range(3, 9))),
}
#: Cells of version a4653a8, which no case may exceed.
BEFORE = {"one": 296_949, "two": 96_524, "three": 130_941, "three that know less": 33_969, "three that share more": 120_287}
#: Limits of a whole run: CPU seconds of a quiet machine.
LIMITS = {"two": "8 s", "three": "11 s"}


def know(policy: Path, known: tuple[tuple[int, ...], ...]) -> None:
    """Write the threats of a policy anew, each with the columns that it knows, and protect against all."""
    head, _, rest = policy.read_text(encoding="utf-8").partition("threats:\n")
    _, _, tail = rest.partition("releases:\n")
    threats = "".join(
        f"  t{place}: {{dataset: rows, knows: [{', '.join(COLUMNS[one] for one in columns)}], attacker: prosecutor, highest_risk: 0.2}}\n"
        for place, columns in enumerate(known)
    )
    protect = ", ".join(f"t{place}" for place in range(len(known)))
    policy.write_text(f"{head}threats:\n{threats}releases:\n{tail.replace('[everyone]', f'[{protect}]')}", encoding="utf-8")


def of_run(known: tuple[tuple[int, ...], ...]) -> float:
    """Return the CPU seconds of a whole run."""
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        shutil.copy(standin(), folder / "standin.parquet")
        policy = write_policy(folder, "rows", "standin.parquet")
        know(policy, known)
        command = [sys.executable, "-m", "privrelease.cli.main", "run", str(policy), "--data-root", str(folder)]
        return usage_of([*command, "--quiet"]).cpu


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    table = class_table(pq.read_table(standin()), 9)
    rows = []
    for name, known in THREATS.items():
        asked = tuple(Requirement(f"t{place}", columns, K5) for place, columns in enumerate(known))
        start = time.thread_time()
        solution = suppress_cells(Problem(table, asked, (Fraction(1),) * 9))
        seconds = time.thread_time() - start
        whole = "" if "--quick" in sys.argv else f"{of_run(known):.1f}"
        cells = f"{int(solution.lost_cells.sum()):,}"
        rows.append((name, cells, f"{BEFORE[name]:,}", f"{seconds:.1f}", whole, LIMITS.get(name, "")))
        print(" | ".join(rows[-1]), flush=True)
    print_table(
        "Several threats, 1,193,504 rows, 9 QIs, k = 5",
        ("threats", "cells", "cells before", "solver, CPU s", "run, CPU s", "limit of the run"),
        rows,
    )
    print(f"\n{machine()}; python {sys.argv[0]}")


if __name__ == "__main__":
    main()

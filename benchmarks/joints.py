"""Joints of many cells: exact aggregate, noise, and the stored form of an envelope's answer, in CPU seconds of a process of its own.

Adult's five columns (27,648 cells, a cell for missing keys of work class; needs the shared folder), and 10 million cells over a million made-up rows,
with the peak memory of the whole process. Next to them a choice among 100,000 candidates. Limits: 0.3 s for the joint of Adult, 4 s and 500 MiB for
10 million cells, 0.2 s for a choice.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from measure import OUT, SHARED, machine, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from privrelease.relational.aggregates import Aggregate
    from privrelease.relational.schema import TableSource

RUNS = 5
LIMITS = {"adult": (0.3, None), "wide": (4.0, 500.0), "choice": (0.2, None)}
ROWS, SIDE, DEEP = 1_000_000, 200, 250


def cpu(work: Callable[[], object]) -> tuple[float, object]:
    """Return the CPU seconds of this process that ``work`` took, and what it returned."""
    before = time.process_time()
    found = work()
    return time.process_time() - before, found


def adult() -> tuple[TableSource, Aggregate]:
    """Return Adult (48,842 rows) and its joint of five columns: 16 x 9 x 16 x 6 x 2 cells."""
    import duckdb

    from privrelease.relational.aggregates import Aggregate, BinKey, ColumnKey, Measure
    from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

    path = OUT / "adult_full.parquet"
    if not path.is_file():
        source = SHARED / "data" / "adult_full.csv.gz"
        if not source.is_file():
            sys.exit("the joint of Adult needs the shared folder: set PRIVRELEASE_SHARED")
        duckdb.sql(f"COPY (SELECT * FROM read_csv('{source}', nullstr='?')) TO '{path}' (FORMAT parquet)")  # noqa: S608 -- our own path
    names = ("workclass", "education", "relationship", "sex")
    keys = []
    for name in names:
        found = duckdb.sql(f"SELECT DISTINCT {name} FROM '{path}' WHERE {name} IS NOT NULL ORDER BY 1").fetchall()  # noqa: S608 -- our own names
        keys.append(ColumnKey(name, tuple(text for (text,) in found), missing=name == "workclass"))
    columns = (
        Column("age", ColumnType.INTEGER, Role.QUASI),
        *(Column(name, ColumnType.CATEGORY, Role.QUASI) for name in names),
    )
    age = BinKey("age", tuple(Fraction(15 + 5 * i) for i in range(17)))
    return (
        TableSource("adult", SourceKind.PARQUET, str(path), path.name, columns, unlisted_columns="drop"),
        Aggregate((Measure("rows"),), (age, *keys)),
    )


def wide() -> tuple[TableSource, Aggregate]:
    """Return a million made-up rows and a joint of 10 million cells, each key with a cell for missing ones."""
    import duckdb

    from privrelease.relational.aggregates import Aggregate, BinKey, ColumnKey, Measure
    from privrelease.relational.schema import Column, ColumnType, Role, SourceKind, TableSource

    path = OUT / "wide_joint.parquet"
    if not path.is_file():
        made = f"""SELECT nullif('a' || (hash(i) % {SIDE}), 'a0') AS a, nullif('b' || (hash(i, 7) % {SIDE}), 'b0') AS b,
            nullif(CAST(hash(i, 9) % {DEEP} AS INTEGER), 0) AS x FROM range({ROWS}) t(i)"""  # noqa: S608 -- our own rows
        duckdb.sql(f"COPY ({made}) TO '{path}' (FORMAT parquet)")
    keys = [ColumnKey(name, tuple(f"{name}{i}" for i in range(1, SIDE)), missing=True) for name in ("a", "b")]
    x = BinKey("x", tuple(map(Fraction, range(1, DEEP + 1))), missing=True)
    columns = (
        Column("a", ColumnType.CATEGORY, Role.QUASI),
        Column("b", ColumnType.CATEGORY, Role.QUASI),
        Column("x", ColumnType.INTEGER, Role.QUASI),
    )
    return TableSource("wide", SourceKind.PARQUET, str(path), path.name, columns), Aggregate((Measure("rows"),), (*keys, x))


def joint(which: Callable[[], tuple[TableSource, Aggregate]], parts: str) -> dict[str, float]:
    """Measure one joint in this process; ``parts``: ``exact`` for the aggregate alone, ``all`` for noise and the stored form too."""
    from privrelease.dp.envelope import Envelope
    from privrelease.dp.envelope_records import Reserved, Transcript
    from privrelease.dp.queries import Setting
    from privrelease.dp.randomness import SystemRandomness
    from privrelease.dp.sensitivity import Contribution
    from privrelease.engine.open import open_engine
    from privrelease.engine.protocol.base import EngineSettings
    from privrelease.execute.common.asking import canonical
    from privrelease.execute.common.envelopes import EngineCounts, marginal
    from privrelease.relational.aggregates import Bounding
    from privrelease.units import Delta, Rho

    source, aggregate = which()
    asked = canonical([aggregate])
    ((name, one),) = asked.items()
    with open_engine(EngineSettings(readable=(OUT,))) as engine:
        staged = engine.stage(source)
        bounding = Bounding(None, 1, 5)
        exact, found = cpu(lambda: engine.aggregates(staged, bounding, (one,)))
        cells = found[0].figures[0]  # type: ignore[index] # what was measured
        figures = {"cells": cells.size, "rows": int(cells.sum()), "exact": exact}
        del found, cells
        figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if parts == "all":
            held = Reserved(Rho(Fraction(1, 20)), Delta(0))
            counts = EngineCounts(engine, staged, bounding, asked)
            envelope = Envelope(held, Setting(Contribution(1)), counts, lambda _: None, SystemRandomness())
            figures["measure"], _ = cpu(lambda: envelope.measure(marginal(name, one), held.rho))
            answers = envelope.answers or ()
            figures["store"], stored = cpu(lambda: Transcript("d", "k:aa", "r", 1, answers).to_bytes())
            figures["stored"] = len(stored) / 2**20  # type: ignore[arg-type] # bytes
            figures["read"], _ = cpu(lambda: Transcript.from_bytes(stored))  # type: ignore[arg-type] # bytes
    return figures


def choice() -> dict[str, float]:
    """Measure the slowest of four choices among 100,000 candidates, the mean of three each."""
    import numpy as np

    from privrelease.dp.mechanisms import ExponentialMechanism
    from privrelease.dp.randomness import SystemRandomness

    one_best = np.append(np.zeros(99_999, np.int64), 10**9)
    cases = [
        (one_best, Fraction(10)),
        (np.zeros(100_000, np.int64), Fraction(10)),
        (np.arange(100_000), Fraction(10)),
        (one_best, Fraction(10**30 + 1, 10**25)),
    ]
    taken = []
    for scores, scale in cases:
        mechanism = ExponentialMechanism(scale)
        taken.append(cpu(lambda: [mechanism.choose(scores, SystemRandomness()) for _ in range(3)])[0] / 3)  # noqa: B023 -- called at once
    return {"exact": max(taken)}


WORK: dict[str, Callable[[], dict[str, float]]] = {
    "adult": lambda: joint(adult, "exact"),
    "wide": lambda: joint(wide, "exact"),
    "adult-all": lambda: joint(adult, "all"),
    "wide-all": lambda: joint(wide, "all"),
    "choice": choice,
}


def measured(name: str) -> dict[str, float]:
    """Return the medians of every figure over processes of their own, after one that is not counted; of the peak the largest."""
    command = [sys.executable, str(Path(__file__)), name]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(RUNS + 1)][1:]
    return {key: (max if key == "peak" else statistics.median)(run[key] for run in runs) for key in runs[0]}


def main() -> int:
    """Print the table; return 1 where a limit is passed."""
    if len(sys.argv) > 1:
        print(json.dumps(WORK[sys.argv[1]]()))
        return 0
    OUT.mkdir(exist_ok=True)
    rows, passed = [], True
    for name, (seconds, memory) in LIMITS.items():
        found = measured(name)
        passed &= found["exact"] <= seconds and (memory is None or found["peak"] <= memory)
        more = {} if name == "choice" else measured(f"{name}-all")
        rows.append(
            (
                {"adult": "joint of Adult", "wide": "joint of made-up rows", "choice": "choice among 100,000"}[name],
                f"{found['cells']:,.0f}" if more else "",
                f"{found['rows']:,.0f}" if more else "",
                f"{found['exact']:.3f} (at most {seconds})",
                "" if memory is None else f"{found['peak']:.0f} (at most {memory:.0f})",
                *(f"{more[key]:.2f}" if more else "" for key in ("measure", "store", "read", "stored")),
            )
        )
    header = (
        "what",
        "cells",
        "rows",
        "exact, CPU s",
        "peak of the process, MiB",
        "aggregate and noise, CPU s",
        "to be stored, CPU s",
        "read again, CPU s",
        "stored, MiB",
    )
    print_table("Joints of many cells", header, rows)
    print(f"\n{machine()}; {RUNS} processes, medians, of the peak the largest; python {sys.argv[0]}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

"""What generalising adds to a whole run and to its audit: the stand-in in ARX's hierarchies, beside a run over a source that holds the labels already.

Both runs have the same classes and release the same rows, so that the difference is the work of labels: making them, and asking what they stand for. And
one column of 10 million distinct numbers written in intervals.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from decimal import Decimal
from functools import partial
from pathlib import Path

from measure import OUT, machine, median_usage, print_table, standin

from policies import COLUMNS, write_policy

LEVELS = (1, 1, 1, 1, 2, 1, 1, 1, 1)
NUMBERS = 10_000_000


def hierarchy(name: str) -> Path:
    """Return ARX's hierarchy of a column, next to the stand-in's source."""
    from privrelease.examples.demo import census_data

    found = census_data()
    if found is None:
        sys.exit("set PRIVRELEASE_SHARED to the folder whose data/ holds Adult and its hierarchies")
    return found.with_name(f"adult_hierarchy_{name}.csv")


def labelled(folder: Path) -> Path:
    """Write the stand-in with the labels in place of its values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(standin())
    columns = {}
    for name, level in zip(COLUMNS, LEVELS, strict=True):
        with hierarchy(name).open(newline="", encoding="utf-8") as stream:
            to = {line[0]: line[level] for line in csv.reader(stream, delimiter=";")}
        coded = table[name].combine_chunks().cast(pa.string()).dictionary_encode()
        columns[name] = pa.array([to[value] for value in coded.dictionary.to_pylist()]).take(coded.indices)
    pq.write_table(pa.table(columns), folder / "labelled.parquet", compression="zstd")
    return folder / "labelled.parquet"


def generalising(folder: Path) -> Path:
    """Write the policy that makes these labels of the stand-in."""
    policy = write_policy(folder, "generalised", standin().name)
    text = policy.read_text(encoding="utf-8")
    for name in COLUMNS:
        shutil.copy(hierarchy(name), folder / f"{name}.csv")
        text = text.replace(
            f"      {name}: {{role: quasi, type: category}}",
            f"      {name}: {{role: quasi, type: category, hierarchy: {{csv: {name}.csv}}}}",
        )
    steps = "".join(
        f"      - {{generalise: [{', '.join(one for one, at in zip(COLUMNS, LEVELS, strict=True) if at == level)}], level: {level}}}\n"
        for level in sorted(set(LEVELS))
    )
    policy.write_text(text.replace("    transform:\n", f"    transform:\n{steps}"), encoding="utf-8")
    return policy


def whole_runs(folder: Path) -> list[tuple[str, ...]]:
    """Run and audit both; the difference of the runs, the ratio of the audits."""
    program, rows = [sys.executable, "-m", "privrelease.cli.main"], []
    labelled(folder)
    policies = {
        "labels in the source": write_policy(folder, "labelled", "labelled.parquet"),
        "generalise nine columns": generalising(folder),
    }
    used = {}
    for what, policy in policies.items():
        root = ["--data-root", str(standin().parent)] if policy.stem == "generalised" else []
        for verb in ("run", "audit"):
            file = (
                ["--release", "microdata", "--file", str(folder / "out" / f"{policy.stem}.parquet")] if verb == "audit" else []
            )
            used[what, verb] = median_usage([*program, verb, str(policy), *file, *root, "--quiet"])
            rows.append((f"{verb}, {what}", f"{used[what, verb].cpu:.2f}", f"{used[what, verb].peak_mib:,.0f}"))
    plain, coarse = policies
    more, memory = (
        used[coarse, "run"].cpu - used[plain, "run"].cpu,
        used[coarse, "run"].peak_mib - used[plain, "run"].peak_mib,
    )
    rows.append(("generalising adds to a run", f"{more:.2f} (limit 1)", f"{memory:,.0f} (limit 50)"))
    rows.append(("audit, ratio", f"{used[coarse, 'audit'].cpu / used[plain, 'audit'].cpu:.2f} (limit 1.3)", ""))
    return rows


def intervals(folder: Path) -> tuple[str, ...]:
    """Write 10 million distinct numbers in intervals."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from privrelease.disclosure.hierarchies.labels import generalised
    from privrelease.engine.open import open_engine
    from privrelease.engine.protocol.base import EngineSettings, Recode
    from privrelease.relational.hierarchies import Generalised, Intervals
    from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, SourceKind, TableSource

    path = folder / "numbers.parquet"
    pq.write_table(pa.table({"n": np.random.default_rng(1).permutation(NUMBERS)}), path)
    column = Column("n", ColumnType.INTEGER, Role.QUASI, format=ColumnFormat(missing=()))
    declared = Generalised(Intervals((Decimal(10_000),), step=Decimal(1)), 1)
    recode = Recode(Column("n", ColumnType.CATEGORY, Role.QUASI), partial(generalised, declared))
    with open_engine(EngineSettings(threads=1, readable=(folder,))) as engine:
        staged = engine.stage(TableSource("numbers", SourceKind.PARQUET, str(path), path.name, (column,)))
        start = time.process_time()
        engine.recode(staged, (recode,))
        return (f"intervals of {NUMBERS:,} distinct numbers", f"{time.process_time() - start:.2f} (limit 3)", "")


def main() -> None:
    """Print the table."""
    OUT.mkdir(parents=True, exist_ok=True)
    print(machine())
    with tempfile.TemporaryDirectory(dir=OUT) as name:
        folder = Path(name)
        rows = [*whole_runs(folder), intervals(folder)]
    print_table("Generalisation, stand-in, 1,193,504 rows, 9 QIs, Parquet", ("work", "CPU s", "peak MiB"), rows)


if __name__ == "__main__":
    main()

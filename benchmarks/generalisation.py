"""What generalising adds to a whole run and to its audit: the stand-in in ARX's hierarchies, beside a run over a source that holds the labels already.

Both runs have the same classes and release the same rows, so that the difference is the work of labels: making them, and asking what they stand for; so
have the audits with five attacks. They are measured by turns, and what is printed is the median over turns with the least and greatest. And one column of
10 million distinct numbers written in intervals. ``generalisation.py TURNS``: how many turns, else 5.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from decimal import Decimal
from functools import partial
from multiprocessing import Process
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from attacks import ATTACKS
from measure import OUT, by_turns, control, machine, print_table, standin, usage_of

from policies import COLUMNS, write_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from measure import Usage

LEVELS = (1, 1, 1, 1, 2, 1, 1, 1, 1)
NUMBERS = 10_000_000
TURNS = 5


def hierarchy(name: str) -> Path:
    """Return ARX's hierarchy of a column, next to the stand-in's source."""
    from privrelease.examples.demo import census_data

    found = census_data()
    if found is None:
        sys.exit("set PRIVRELEASE_SHARED to the folder whose data/ holds Adult and its hierarchies")
    return found.with_name(f"adult_hierarchy_{name}.csv")


def with_labels(table: pa.Table) -> pa.Table:
    """Return the columns with the labels in place of their values."""
    import pyarrow as pa

    columns = {}
    for name, level in zip(COLUMNS, LEVELS, strict=True):
        with hierarchy(name).open(newline="", encoding="utf-8") as stream:
            to = {line[0]: line[level] for line in csv.reader(stream, delimiter=";")}
        coded = table[name].combine_chunks().cast(pa.string()).dictionary_encode()
        columns[name] = pa.array([to[value] for value in coded.dictionary.to_pylist()]).take(coded.indices)
    return pa.table(columns)


def sources(folder: Path) -> None:
    """Write the stand-in's labels, and a control of other persons for each kind of source."""
    import pyarrow.parquet as pq

    others = control()
    pq.write_table(with_labels(pq.read_table(standin())), folder / "labelled.parquet", compression="zstd")
    pq.write_table(others, folder / "control.parquet")
    pq.write_table(with_labels(others), folder / "control_labels.parquet")


def plain(folder: Path, name: str) -> Path:
    """Write a policy over the labels, which are values of the source there."""
    return write_policy(folder, name, "labelled.parquet")


def generalising(folder: Path, name: str) -> Path:
    """Write the policy that makes these labels of the stand-in."""
    policy = write_policy(folder, name, standin().name)
    text = policy.read_text(encoding="utf-8")
    for column in COLUMNS:
        shutil.copyfile(hierarchy(column), folder / f"{column}.csv")
        text = text.replace(
            f"      {column}: {{role: quasi, type: category}}",
            f"      {column}: {{role: quasi, type: category, hierarchy: {{csv: {column}.csv}}}}",
        )
    steps = "".join(
        f"      - {{generalise: [{', '.join(one for one, at in zip(COLUMNS, LEVELS, strict=True) if at == level)}], level: {level}}}\n"
        for level in sorted(set(LEVELS))
    )
    policy.write_text(text.replace("    transform:\n", f"    transform:\n{steps}"), encoding="utf-8")
    return policy


def whole_runs(folder: Path, turns: int) -> list[tuple[str, ...]]:
    """Run and audit both by turns, with five attacks and without: the difference of the runs, the ratios of the audits."""
    writing = Process(target=sources, args=(folder,))  # apart: what a process holds is the least peak of those that it starts
    writing.start()
    writing.join()
    policies = {
        "labels in the source": plain(folder, "labelled"),
        "generalise": generalising(folder, "generalised"),
        "labels in the source, five attacks": plain(folder, "labelled-attacked"),
        "generalise, five attacks": generalising(folder, "generalised-attacked"),
    }
    for what, policy in policies.items():
        if "attacks" in what:
            its = ATTACKS if what.startswith("generalise") else ATTACKS.replace("control.parquet", "control_labels.parquet")
            policy.write_text(policy.read_text(encoding="utf-8") + its, encoding="utf-8")
    program = [sys.executable, "-m", "privrelease.cli.main"]
    root = ["--data-root", str(standin().parent), "--quiet"]
    runs = {what: [*program, "run", str(policy), *root] for what, policy in policies.items()}
    audits = {
        what: [
            *program,
            "audit",
            str(at),
            "--release",
            "microdata",
            "--file",
            str(folder / "out" / f"{at.stem}.parquet"),
            *root,
        ]
        for what, at in policies.items()
    }
    for command in runs.values():
        usage_of(command)  # makes what the audits are of
    used = {("audit", what): found for what, found in by_turns(audits, turns=turns).items()}
    measured = by_turns({what: command for what, command in runs.items() if "attacks" not in what}, turns=turns)
    used |= {("run", what): found for what, found in measured.items()}
    rows = [
        (f"{verb}, {what}", f"{median(one.cpu for one in found):.2f}", f"{max(one.peak_mib for one in found):,.0f}")
        for (verb, what), found in sorted(used.items())
    ]
    return rows + compared(used)


def compared(used: dict[tuple[str, str], list[Usage]]) -> list[tuple[str, ...]]:
    """Return the medians over turns of what labels add to a run, and of the ratios of audits."""
    without, labels = used["run", "labels in the source"], used["run", "generalise"]
    more = [b.cpu - a.cpu for a, b in zip(without, labels, strict=True)]
    memory = [b.peak_mib - a.peak_mib for a, b in zip(without, labels, strict=True)]
    plainly, coarsely = (used["audit", what] for what in ("labels in the source", "generalise"))
    attacked, coarsely_attacked = (used["audit", f"{what}, five attacks"] for what in ("labels in the source", "generalise"))
    alone = [
        (d.cpu - c.cpu) / (b.cpu - a.cpu) for a, b, c, d in zip(plainly, attacked, coarsely, coarsely_attacked, strict=True)
    ]
    whole = [b.cpu / a.cpu for a, b in zip(attacked, coarsely_attacked, strict=True)]
    audit = [b.cpu / a.cpu for a, b in zip(plainly, coarsely, strict=True)]
    return [
        ("generalising adds to a run", f"{spread(more)} (limit 1)", f"{median(memory):,.0f} (limit 50)"),
        ("audit, ratio", f"{spread(audit)} (limit 1.3)", ""),
        ("audit with five attacks, ratio", f"{spread(whole)} (limit 1.5)", ""),
        ("five attacks alone, ratio", f"{spread(alone)} (limit 1.5)", ""),
    ]


def spread(of: Sequence[float]) -> str:
    """Return the median, and the least and greatest."""
    return f"{median(of):.2f}, {min(of):.2f} to {max(of):.2f}"


def intervals(folder: Path) -> tuple[str, ...]:
    """Write 10 million distinct numbers in intervals."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from privrelease.disclosure.hierarchies.labels import generalised, recoding_of
    from privrelease.engine.open import open_engine
    from privrelease.engine.protocol.base import EngineSettings, Recode
    from privrelease.relational.hierarchies import Generalised, Intervals
    from privrelease.relational.schema import Column, ColumnFormat, ColumnType, Role, SourceKind, TableSource

    path = folder / "numbers.parquet"
    pq.write_table(pa.table({"n": np.random.default_rng(1).permutation(NUMBERS)}), path)
    column = Column("n", ColumnType.INTEGER, Role.QUASI, format=ColumnFormat(missing=()))
    declared = Generalised(Intervals((Decimal(10_000),), step=Decimal(1)), 1)
    recode = Recode(Column("n", ColumnType.CATEGORY, Role.QUASI), partial(generalised, declared), recoding_of(declared))
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
        rows = [*whole_runs(folder, int(sys.argv[1]) if len(sys.argv) > 1 else TURNS), intervals(folder)]
    print_table("Generalisation, stand-in, 1,193,504 rows, 9 QIs, Parquet", ("work", "CPU s", "peak MiB"), rows)


if __name__ == "__main__":
    main()

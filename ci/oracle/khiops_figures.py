"""Co-clusterings of khiops, for tests/reference/test_modl_on_adult.py; runs in an environment of its own (`make test-oracle-synthesis`).

Usage: khiops_figures.py FILE, a JSON list of tables; what khiops finds goes to stdout as JSON, in the same order. A table has `cells` (codes by cell
and column), `counts` and `ordered` (by column). For each: the cost and the cost of one cell as khiops prints them, and the part of each code by column.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

# khiops starts MPI programs of this environment, also where root runs it
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

warnings.filterwarnings("ignore")

import khiops.core as kh  # noqa: E402 -- reads the environment when it is imported


def declared(ordered: list[bool]) -> kh.DictionaryDomain:
    """Declare the columns of a table: c0, c1, …, and the frequency."""
    names = [*(f"c{at}" for at in range(len(ordered))), "frequency"]
    table = kh.Dictionary()
    table.name = "table"
    for name, numeric in zip(names, [*ordered, True], strict=True):
        variable = kh.Variable()
        variable.name, variable.type = name, "Numerical" if numeric else "Categorical"
        table.add_variable(variable)
    domain = kh.DictionaryDomain()
    domain.add_dictionary(table)
    return domain


def parts(dimension: dict[str, Any], codes: list[int]) -> list[int]:
    """Return the part of each code of a column."""
    if dimension["type"] == "Numerical":
        ends = [one["bounds"][1] for one in dimension["intervals"][:-1]]
        return [sum(code > end for end in ends) for code in codes]
    found = {value: at for at, group in enumerate(dimension["valueGroups"]) for value in group["values"]}
    return [found.get(f"v{code}", dimension["defaultGroupIndex"]) for code in codes]


def figures(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Co-cluster one table."""
    ordered = table["ordered"]
    lines = ["\t".join([*(f"c{at}" for at in range(len(ordered))), "frequency"])]
    for cell, count in zip(table["cells"], table["counts"], strict=True):
        named = [str(code) if numeric else f"v{code}" for code, numeric in zip(cell, ordered, strict=True)]
        lines.append("\t".join([*named, str(count)]))
    (folder / "table.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = folder / "table.khcj"
    names = [f"c{at}" for at in range(len(ordered))]
    kh.train_coclustering(
        declared(ordered), "table", str(folder / "table.txt"), names, str(report), frequency_variable="frequency"
    )
    found = json.loads(report.read_text(encoding="utf-8"))["coclusteringReport"]
    by_name = {one["name"]: one for one in found["dimensionPartitions"]}
    many = [1 + max(cell[at] for cell in table["cells"]) for at in range(len(ordered))]
    # a column that khiops leaves out of its grid has one part
    grid = [
        parts(by_name[name], list(range(size))) if name in by_name else [0] * size
        for name, size in zip(names, many, strict=True)
    ]
    return {"cost": found["summary"]["cost"], "null": found["summary"]["nullCost"], "parts": grid}


def main() -> None:
    """Read tables and print what khiops makes of them."""
    found = []
    for table in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        with tempfile.TemporaryDirectory() as folder:
            found.append(figures(table, Path(folder)))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

"""Estimates of mbi from given noisy marginals, for tests/reference/test_mbi.py; runs in an environment of its own (`make test-oracle-synthesis`).

Usage: mbi_figures.py FILE, a JSON list of problems; their models go to stdout as JSON, in the same order. A problem has `names`, `sizes`, `total`,
`measured` (columns, counts, standard deviation), `iterations`, `wanted` (columns of the marginals to return) and `rows`: records to draw from the
model by mbi's own method, 0 for none.

64-bit floats are on: with mbi's default precision the descent stalls above some 100,000 rows. Its compilation cache is off.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax
import mbi
import numpy as np
from mbi.estimation import MirrorDescent
from mbi.marginal_loss import LinearMeasurement

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)


def figures(problem: dict[str, Any]) -> dict[str, Any]:
    """Misfit of the model, its wanted marginals, and those of records that are drawn from it."""
    domain = mbi.Domain(problem["names"], problem["sizes"])
    measured = [
        LinearMeasurement(np.array(counts, np.float64).ravel(), tuple(columns), deviation)
        for columns, counts, deviation in problem["measured"]
    ]
    model = MirrorDescent().estimate(domain, measured, known_total=float(problem["total"]), iters=problem["iterations"])
    found: dict[str, Any] = {"loss": 0.0}
    for columns, counts, deviation in problem["measured"]:
        misfit = (model.project(tuple(columns)).datavector() - np.array(counts, np.float64).ravel()) / deviation
        found["loss"] += 0.5 * float((misfit**2).sum())
    found["model"] = [np.asarray(model.project(tuple(columns)).datavector()).tolist() for columns in problem["wanted"]]
    if problem["rows"]:
        drawn = model.synthetic_data(rows=problem["rows"])
        found["rows"] = [np.asarray(drawn.project(tuple(columns)).datavector()).tolist() for columns in problem["wanted"]]
    return found


def main() -> None:
    """Read problems and print what mbi makes of them."""
    problems = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    json.dump([figures(problem) for problem in problems], sys.stdout)


if __name__ == "__main__":
    main()

"""A synthetic diabetes registry: no person in it exists.

``python -m privrelease.examples.registry OUT.parquet [ROWS] [SEED]`` writes it. The same seed gives the same rows. Attacks also need
others of the same population, who are not in it: :func:`write_example` writes both files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PREVALENCE", "registry", "write_example", "write_registry"]

#: Share of patients with the diagnosis; exact up to one patient.
PREVALENCE = 0.15


def _truncated_normal(
    random: np.random.Generator, mean: float, deviation: float, low: float, high: float, size: int
) -> NDArray[np.float64]:
    """Draw from a normal law cut (not clamped) to [low, high], by rejection."""
    values = random.normal(mean, deviation, size)
    outside = (values < low) | (values > high)
    while outside.any():
        values[outside] = random.normal(mean, deviation, int(outside.sum()))
        outside = (values < low) | (values > high)
    return values


def registry(rows: int = 10_000, seed: int = 20_260_101, first: int = 0) -> dict[str, NDArray[np.generic]]:
    """Return the columns of the registry, each an array of ``rows`` values.

    ``patient_id`` text, numbered from ``first``; ``age`` 18..85; ``sex`` F or M; ``region`` of four; ``glucose`` N(120, 30) mg/dL cut to
    [50, 400], one decimal; ``systolic`` mmHg; ``diagnosis`` positive for exactly 15 % (those of highest glucose, age and chance together);
    ``treatment_months`` 0 for the negative, 1..240 for the positive.

    >>> columns = registry(200)
    >>> int((columns["diagnosis"] == "positive").sum())
    30
    """
    import numpy as np

    random = np.random.Generator(np.random.PCG64(seed))
    age = np.floor(_truncated_normal(random, 54, 17, 18, 86, rows)).astype(np.int64).clip(18, 85)
    sex = np.where(random.random(rows) < 0.5, "F", "M")
    region = random.choice(np.array(["north", "south", "east", "west"]), rows, p=[0.35, 0.3, 0.2, 0.15])
    glucose = _truncated_normal(random, 120, 30, 50, 400, rows).round(1)
    systolic = _truncated_normal(random, 112, 15, 80, 220, rows) + 0.3 * (age - 18)
    score = (glucose - 120) / 30 + (age - 54) / 34 + random.normal(0, 0.8, rows)
    positive = np.zeros(rows, dtype=np.bool_)
    positive[np.argsort(-score, kind="stable")[: round(PREVALENCE * rows)]] = True
    months = np.where(positive, 1 + np.floor(random.gamma(2.0, 14.0, rows)).astype(np.int64).clip(0, 239), 0)
    patient = np.char.add("P", np.char.zfill((first + random.permutation(rows)).astype(np.str_), 6))
    return {
        "patient_id": patient,
        "age": age,
        "sex": sex,
        "region": region,
        "glucose": glucose,
        "systolic": systolic.round().astype(np.int64),
        "diagnosis": np.where(positive, "positive", "negative"),
        "treatment_months": months,
    }


def write_registry(path: Path, rows: int = 10_000, seed: int = 20_260_101, first: int = 0) -> None:
    """Write the registry as Parquet; the folder is made, an existing file is replaced at once or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    pq.write_table(
        pa.table({name: pa.array(values) for name, values in registry(rows, seed, first).items()}), partial, compression="zstd"
    )
    partial.replace(path)


def write_example(folder: Path) -> None:
    """Write what ``policies/diabetes.yaml`` reads and is not there yet: ``patients.parquet``, and ``control.parquet`` of as many others."""
    rows = 10_000
    for name, seed, first in (("patients", 20_260_101, 0), ("control", 20_260_102, rows)):
        path = folder / f"{name}.parquet"
        if not path.is_file():
            write_registry(path, rows, seed, first)


if __name__ == "__main__":
    write_registry(Path(sys.argv[1]), *(int(text) for text in sys.argv[2:4]))

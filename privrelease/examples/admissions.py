"""Synthetic hospital admissions: no person, ward or postal area in them exists.

``python -m privrelease.examples.admissions OUT.csv [ROWS] [SEED]`` writes them. The same seed gives the same rows. Codes of diagnoses have the form of
ICD-10 (a letter, two digits, a point and a digit) and are drawn at random; areas and wards are made up.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["WARDS", "admissions", "write_admissions"]

#: Wards, by the clinic that they belong to.
WARDS = {
    "surgery": ("surgery-a", "surgery-b", "trauma"),
    "medicine": ("cardiology", "oncology", "gastroenterology"),
    "care": ("paediatrics", "geriatrics", "obstetrics"),
}
#: Areas of three digits: four regions, of which the last is thinly settled.
_REGIONS = {"31": 0.4, "32": 0.3, "45": 0.25, "46": 0.05}
_LETTERS = "CEIJKMNS"


def admissions(rows: int = 8_000, seed: int = 20_260_301) -> dict[str, NDArray[np.generic]]:
    """Return the columns of the admissions, each an array of ``rows`` values; one admission a patient, in 2024 and 2025.

    ``patient``: text. ``born``: a day from 1936 on. ``sex``: F or M. ``postcode``: five digits. ``admitted``: a day. ``ward``: one of nine.
    ``diagnosis``: a made-up code. ``stay``: whole days, few of them long. ``weight``: whole kilograms; 3 % are not known (0 represents none).

    >>> columns = admissions(100)
    >>> sorted(columns), str(columns["born"].min()) >= "1936-01-01"
    (['admitted', 'born', 'diagnosis', 'patient', 'postcode', 'sex', 'stay', 'ward', 'weight'], True)
    """
    import numpy as np

    random = np.random.Generator(np.random.PCG64(seed))
    age = np.clip(np.floor(random.normal(55, 20, rows)), 0, 88).astype(np.int64)
    admitted = np.datetime64("2024-01-01") + random.integers(0, 731, rows)
    born = np.maximum(admitted - age * 365 - random.integers(0, 365, rows) - age // 4, np.datetime64("1936-01-01"))
    region = random.choice(np.array(list(_REGIONS)), rows, p=list(_REGIONS.values()))
    area = np.where(region == "46", random.integers(0, 2, rows), random.integers(0, 4, rows))
    postcode = np.char.add(
        np.char.add(region, area.astype(np.str_)), np.char.zfill(random.integers(0, 100, rows).astype(np.str_), 2)
    )
    letter = random.choice(np.array(list(_LETTERS)), rows)
    number = np.char.zfill(np.floor(random.gamma(2.0, 8.0, rows)).astype(np.int64).clip(0, 59).astype(np.str_), 2)
    digit = random.integers(0, 10, rows).astype(np.str_)
    known = random.random(rows) >= 0.03
    return {
        "patient": np.char.add("A", np.char.zfill(random.permutation(rows).astype(np.str_), 6)),
        "born": born,
        "sex": np.where(random.random(rows) < 0.52, "F", "M"),
        "postcode": postcode,
        "admitted": admitted,
        "ward": random.choice(np.array([ward for wards in WARDS.values() for ward in wards]), rows),
        "diagnosis": np.char.add(np.char.add(np.char.add(letter, number), "."), digit),
        "stay": 1 + np.floor(random.gamma(1.2, 5.0, rows)).astype(np.int64),
        "weight": np.where(known, np.floor(random.normal(76, 15, rows)).astype(np.int64).clip(30, 160), 0),
    }


def write_admissions(path: Path, rows: int = 8_000, seed: int = 20_260_301) -> None:
    """Write the admissions as CSV; the folder is made, an existing file is replaced at once or not at all. A weight that is not known is an empty cell."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    columns = {name: pa.array(values) for name, values in admissions(rows, seed).items()}
    columns["weight"] = pc.if_else(pc.equal(columns["weight"], 0), pa.scalar(None, pa.int64()), columns["weight"])
    csv.write_csv(pa.table(columns), partial)
    partial.replace(path)


if __name__ == "__main__":
    write_admissions(Path(sys.argv[1]), *(int(text) for text in sys.argv[2:4]))

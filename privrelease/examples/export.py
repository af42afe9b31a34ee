"""Made-up hospital admissions as an office exports them: Latin-1, semicolons, decimal commas, days as 31.12.2024, codes with zeros.

``python -m privrelease.examples.export FILE``: the raw file of ``docs/your-own-data.md``. No cell is about a real person.
"""

from __future__ import annotations

import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ROWS", "main", "write_export"]

ROWS: Final = 40_000

_HEADER: Final = (
    "Fallnummer",
    "PatientID",
    "Eintritt",
    "Geburtsjahr",
    "Geschlecht",
    "Kanton",
    "Gemeinde",
    "Eintrittsart",
    "Diagnose",
    "Kosten",
)
_CANTONS: Final = (("Zürich", 0.4), ("Bern", 0.3), ("Genève", 0.2), ("Neuchâtel", 0.1))
_ADMITTED: Final = (("Notfall", 0.5), ("geplant", 0.45), ("Verlegung", 0.05))
_DIAGNOSES: Final = (("E11", 0.35), ("I10", 0.4), ("J44", 0.2), ("C50", 0.05))
_FIRST_DAY, _DAYS = date(2024, 1, 1), 366


def write_export(path: Path, rows: int = ROWS, seed: int = 2024) -> None:
    """Write ``rows`` admissions of three fifths as many patients, each of whom has at most two; the same seed gives the same bytes.

    Raises OSError.
    """
    import numpy as np

    random = np.random.default_rng(seed)

    def drawn(choices: Sequence[tuple[str, float]]) -> list[str]:
        values, shares = zip(*choices, strict=True)
        return [str(value) for value in random.choice(values, rows, p=shares)]

    days = [f"{_FIRST_DAY + timedelta(days=int(day)):%d.%m.%Y}" for day in random.integers(0, _DAYS, rows)]
    born = np.clip(random.normal(1962, 18, rows).astype(int), 1930, 2006)
    costs = np.clip(random.gamma(2.0, 2200.0, rows), 200.0, 40_000.0)
    columns = (
        [f"F{number:06d}" for number in range(rows)],
        [f"{number * 3 // 5:06d}" for number in range(rows)],
        days,
        [str(year) for year in born],
        drawn((("m", 0.5), ("w", 0.5))),
        drawn(_CANTONS),
        [f"{number:04d}" for number in random.integers(1, 61, rows)],
        drawn(_ADMITTED),
        drawn(_DIAGNOSES),
        [f"{cost:.1f}".replace(".", ",") for cost in costs],
    )
    lines = (";".join(cells) for cells in zip(*columns, strict=True))
    path.write_text("\n".join((";".join(_HEADER), *lines)) + "\n", encoding="latin-1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file that the command names."""
    named = list(sys.argv[1:] if arguments is None else arguments)
    if len(named) != 1 or named[0].startswith("-"):
        sys.stderr.write("usage: python -m privrelease.examples.export FILE\n")
        return 2
    write_export(Path(named[0]))
    sys.stdout.write(f"wrote {named[0]}: {ROWS:,} made-up admissions\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

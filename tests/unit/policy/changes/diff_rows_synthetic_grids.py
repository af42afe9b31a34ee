"""What every change of the keys of co-clustering and of Bayesian networks must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import HEAD


def by(method: str, **keys: str) -> Base:
    """A policy with one synthetic release by a method."""
    return HEAD | {
        "ledger": {"cap": {"epsilon": "10"}, "url": "sqlite:///ledger.db"},
        "datasets": {
            "patients": {
                "source": "data/patients.csv",
                "population": "residents",
                "snapshot": "2026-Q3",
                "unit": {"column": "patient", "max_rows": "1"},
                "columns": {
                    "patient": {"role": "direct", "type": "string"},
                    "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
                    "arm": {"role": "quasi", "type": "category", "domain": {"values": "[a, b, c]"}},
                },
            }
        },
        "releases": {
            "y": {
                "kind": "synthetic",
                "from": "patients",
                "method": method,
                "columns": "[sex, arm]",
                "rows": "noisy",
                "budget": {"epsilon": "2"},
                "output": "out/y.csv",
                **keys,
            }
        },
    }


GRID, NETWORK = by("dpcocgen"), by("privbayes")


def one(base: Base, key: str, first: str, second: str, verdicts: str) -> list[Row]:
    values: tuple[Any, Any] = (first, second)
    return rows(base, f"releases.y.{key}", values, verdicts)


#: The budget stays, so that none is weaker; another grid or network is other data to whoever relies on it.
SYNTHETIC_GRIDS = [
    *one(GRID, "method", "dpcocgen", "privbayes", "altered B"),
    *one(GRID, "split", "0.25", "0.5", "added B removed B raised B lowered B"),
    *one(GRID, "max_cells", "12", "144", "added B removed B raised B lowered B"),
    *one(GRID, "refine", "false", "true", "added B removed B on B off B"),
    *one(NETWORK, "theta", "4", "8", "added B removed B raised B lowered B"),
    *one(NETWORK, "degree", "1", "3", "added B removed B raised B lowered B"),
]

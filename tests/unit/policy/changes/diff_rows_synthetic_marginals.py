"""What every change of the keys of MST and AIM must read as: another workload, size or number of rounds makes another model."""

from __future__ import annotations

from itertools import permutations

from privrelease.policy.language.synthetic import METHODS
from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_data import HEAD

MADE: Base = HEAD | {
    "datasets": {
        "patients": {
            "source": "data/patients.csv",
            "unit": {"column": "patient", "max_rows": "1"},
            "columns": {
                "patient": {"role": "direct", "type": "string"},
                "age": {"role": "quasi", "type": "integer", "domain": {"range": "[0, 100]"}},
                "sex": {"role": "quasi", "type": "category", "domain": {"values": "[F, M]"}},
                "arm": {"role": "quasi", "type": "category", "domain": {"values": "[a, b, c]"}},
            },
        },
    },
    "releases": {
        "y": {
            "kind": "synthetic",
            "from": "patients",
            "method": "aim",
            "columns": "[age, sex, arm]",
            "rows": "100",
            "budget": {"epsilon": "2", "delta": "0.000001"},
            "output": "out/y.csv",
        },
    },
}
AT = "releases.y"


SYNTHETIC_MARGINALS: list[Row] = [
    *(Row(MADE, f"{AT}.method", one, other, "breaking") for one, other in permutations([spec.name for spec in METHODS], 2)),
    *rows(MADE, f"{AT}.model_size", ("10485760", "83886080"), "raised B lowered B added B removed B"),
    *rows(MADE, f"{AT}.model_size", ("10MiB", "80MiB"), "altered B"),
    *rows(MADE, f"{AT}.rounds", ("20", "40"), "raised B lowered B added B removed B"),
    *rows(MADE, f"{AT}.workload", ("[{ways: 2}]", "[{ways: 2}, {columns: [age, sex]}]"), "more B fewer B added B removed B"),
    *rows(MADE, f"{AT}.workload.[].ways", ("[{ways: 2}]", "[{ways: 3}]"), "altered B"),
    *rows(MADE, f"{AT}.workload.[].columns", ("[{columns: [age, sex]}]", "[{columns: [age, arm]}]"), "altered B"),
    *rows(MADE, f"{AT}.workload.[].weight", ("[{ways: 2}]", "[{ways: 2, weight: 3}]"), "altered B"),
]

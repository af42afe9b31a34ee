"""What every change of a synthetic release must read as."""

from __future__ import annotations

from typing import Any

from tests.unit.policy.changes.diff_keys import Base, Row, rows
from tests.unit.policy.changes.diff_rows_figures import FIGURES

_PATIENTS = FIGURES["datasets"]["patients"]
SYNTHETIC_BASE: Base = FIGURES | {
    "datasets": FIGURES["datasets"]
    | {
        "patients": _PATIENTS
        | {
            "unit": {"column": "patient", "max_rows": "1"},
            "columns": _PATIENTS["columns"] | {"town": {"role": "quasi", "type": "string"}},
        },
        "other": FIGURES["datasets"]["other"] | {"unit": {"column": "patient", "max_rows": "1"}},
    },
    "releases": {
        "y": {
            "kind": "synthetic",
            "from": "patients",
            "method": "histogram",
            "columns": "[age, sex]",
            "rows": "100",
            "budget": {"epsilon": "2", "delta": "0.000001"},
            "output": "out/y.csv",
        },
    },
}
Y = "releases.y"


def made(at: str, first: Any, second: Any, verdicts: str, **other: Any) -> list[Row]:
    return rows(SYNTHETIC_BASE, at, (first, second), verdicts, **other)


WITH_PATIENT = ((f"{Y}.columns", "[patient, age, sex]"),)
WITH_SIZE = ((f"{Y}.columns", "[age, size, sex]"), (f"{Y}.bins.size", {"width": "10"}))
DIGITS, MORE = "'[0-9]{9}'", "'[0-9]{10}'"
PATIENT_MADE = (*WITH_PATIENT, (f"{Y}.make.patient", {"pattern": DIGITS}))
WITH_TOWN = ((f"{Y}.columns", "[town, age, sex]"),)
PRICE = {"epsilon": "0.1", "delta": "0.0000001"}
RULE, OTHER_RULE = "\"sex = 'F' AND age < 5\"", "\"sex = 'M' AND age < 5\""
SYNTHETIC: list[Row] = [
    *made(f"{Y}.description", "a", "b", "added N altered N removed N"),
    *made(f"{Y}.output", "[out/x.csv]", "[out/x.csv, out/x.parquet]", "more N fewer B"),
    *made(f"{Y}.output.[].path", "[{path: out/x.csv}]", "[{path: out/y.csv}]", "altered B"),
    *made(f"{Y}.output.[].format", "[{path: out/x, format: csv}]", "[{path: out/x, format: parquet}]", "altered B"),
    *made(f"{Y}.output.[].table", "[{path: out/x.csv}]", "[{path: out/x.csv, table: x}]", "altered B"),
    *made(f"{Y}.output.[].delimiter", "[{path: out/x.csv}]", "[{path: out/x.csv, delimiter: ';'}]", "altered B"),
    *made(
        f"{Y}.output.[].decimal",
        "[{path: out/x.csv, delimiter: ';'}]",
        "[{path: out/x.csv, delimiter: ';', decimal: ','}]",
        "altered B",
    ),
    *made("releases.new", SYNTHETIC_BASE["releases"]["y"] | {"output": "out/new.csv"}, None, "added W removed B"),
    *made(f"{Y}.from", "patients", "other", "altered W"),
    # a column more is one more thing that rows say of persons
    *made(f"{Y}.columns", "[age, sex]", "[age, sex, arm]", "more W fewer B"),
    *made(f"{Y}.columns", "[age, sex]", "[sex, age]", "reordered B"),
    # rows are drawn from what was measured: how many says nothing more of anybody
    *made(f"{Y}.rows", "100", "200", "raised N lowered N"),
    *made(f"{Y}.rows", "100", "noisy", "altered N"),
    *made(f"{Y}.project", "false", "true", "added B on B off B removed B"),
    *made(f"{Y}.bins", {"age": {"width": "10"}}, None, "added B removed B", said=f"{Y}.bins.age", line=f"{Y}.bins.age"),
    *made(f"{Y}.bins.age", {"width": "10"}, None, "added B removed B", given=WITH_SIZE),
    *made(f"{Y}.bins.age.width", "10", "20", "raised B lowered B"),
    *made(f"{Y}.bins.age.edges", "[0, 50, 100]", "[0, 20, 50, 100]", "more B fewer B"),
    *made(f"{Y}.bins.age.edges", "[0, 50, 100]", "[0, 40, 100]", "altered B"),
    *made(f"{Y}.make", {"sex": {"pattern": DIGITS}}, None, "added B removed B", said=f"{Y}.make.sex", line=f"{Y}.make.sex"),
    *made(f"{Y}.make.sex", {"pattern": DIGITS}, None, "added B removed B", given=PATIENT_MADE),
    *made(f"{Y}.make.patient.pattern", DIGITS, MORE, "altered B", given=WITH_PATIENT),
    *made(
        f"{Y}.make.patient.unique",
        "false",
        "true",
        "on B off B",
        given=(*WITH_PATIENT, (f"{Y}.make.patient.pattern", DIGITS)),
    ),
    *made(f"{Y}.discover.town.epsilon", "0.1", "0.2", "raised W lowered S", given=(*WITH_TOWN, (f"{Y}.discover.town", PRICE))),
    *made(
        f"{Y}.discover.town.delta",
        "0.0000001",
        "0.0000002",
        "raised W lowered S",
        given=(*WITH_TOWN, (f"{Y}.discover.town", PRICE)),
    ),
    *made(
        f"{Y}.discover.town.at_most",
        "10",
        "20",
        "added B raised B lowered B removed B",
        given=(*WITH_TOWN, (f"{Y}.discover.town", PRICE)),
    ),
    *made(f"{Y}.impossible", f"[{RULE}]", f"[{RULE}, {OTHER_RULE}]", "added B more B fewer B removed B"),
    *made(f"{Y}.impossible", f"[{RULE}]", f"[{OTHER_RULE}]", "altered B"),
    *made(f"{Y}.holdout", "0.1", "0.2", "added S raised S lowered W removed W"),
    *made(f"{Y}.budget.epsilon", "2", "3", "raised W lowered S"),
    *made(f"{Y}.budget.delta", "0.000001", "0.00001", "added W raised W lowered S removed S"),
    *made(f"{Y}.budget.accounting", "zcdp", None, "added N removed N"),
    *made(f"{Y}.neighbours", "add_remove", "replace", "on W off W"),
    *made(f"{Y}.fresh", "false", "true", "on W off S"),
]

"""Rules of references: what a name refers to exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "a dataset of a threat",
        (("dataset: patients", "dataset: patiens"),),
        [
            "p.yaml:17:14: P301 dataset patiens does not exist\nhint: did you mean patients?",
        ],
        (("dataset: patients", 'dataset: "patients"'),),
    ),
    Rule(
        "a dataset of a release",
        (("from: patients", "from: people"),),
        [
            "p.yaml:23:11: P301 dataset people does not exist\nhint: there is: patients",
        ],
        (("from: patients", "from: 'patients'"),),
    ),
    Rule(
        "a column of a threat",
        (("knows: [age, sex]", "knows: [agee, sex]"),),
        [
            "p.yaml:18:13: P302 column agee does not exist in dataset patients\nhint: did you mean age?",
        ],
        (("knows: [age, sex]", "knows: [age, sex]  # as declared"),),
    ),
    Rule(
        "a column in other case",
        (("knows: [age, sex]", "knows: [Age, sex]"),),
        [
            "p.yaml:18:13: P302 column Age does not exist in dataset patients\nhint: did you mean age?",
        ],
        (("knows: [age, sex]", "knows: ['age', sex]"),),
    ),
    Rule(
        "a column of the unit",
        (("column: patient_id", "column: patientid"),),
        [
            "p.yaml:9:20: P302 column patientid does not exist in dataset patients\nhint: did you mean patient_id?",
        ],
        (("column: patient_id", 'column: "patient_id"'),),
    ),
    Rule(
        "a column of weights",
        (("weights: {age: 2}", "weights: {gluc: 2}"),),
        [
            "p.yaml:26:50: P302 column gluc does not exist in dataset patients\nhint: did you mean glucose?",
        ],
        (("weights: {age: 2}", "weights: {sex: 2}"),),
    ),
    Rule(
        "a threat of a release",
        (("protect: [external]", "protect: [Extrenal]"),),
        [
            "p.yaml:24:15: P303 threat Extrenal does not exist\nhint: did you mean external?",
        ],
        (("protect: [external]", "protect: ['external']"),),
    ),
    Rule(
        "a release of a check",
        (("release: microdata", "release: micro"),),
        [
            "p.yaml:29:29: P304 release micro does not exist\nhint: did you mean microdata?",
        ],
        (("release: microdata", 'release: "microdata"'),),
    ),
    Rule(
        "a check",
        (("expect: suppressed_cells", "expect: supressed_cells"),),
        [
            "p.yaml:29:48: P305 check supressed_cells does not exist\nhint: did you mean suppressed_cells?",
        ],
        (("expect: suppressed_cells", "expect: unique_records"),),
    ),
    Rule(
        "a threat of a check",
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 5, threat: outsider"),),
        [
            "p.yaml:29:67: P303 threat outsider does not exist\nhint: there is: external",
        ],
        (("expect: suppressed_cells, max: 0.05", "expect: k, min: 5, threat: external"),),
    ),
    Rule(
        "a population that is a path",
        ((RISK, RISK + "\n    attacker: journalist\n    population: {table: data/census.csv}"),),
        [
            "p.yaml:21:25: P301 dataset data/census.csv does not exist\nhint: declare the population under `datasets` and write its name here",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: glucose}"),),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)

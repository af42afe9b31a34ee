"""Rules of threats: what is known, thresholds, populations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.policy.rules.rule_table import RISK, Rule, named

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = [
    Rule(
        "no threshold",
        ((RISK, "highest_risk: null"),),
        [
            "p.yaml:16:3: P410 external sets no threshold: nothing would be protected\nhint: write `highest_risk`, `average_risk` or `records_at_risk`",
        ],
        ((RISK, "average_risk: 0.1"),),
    ),
    Rule(
        "a direct identifier that is known",
        (("knows: [age, sex]", "knows: [age, sex, patient_id]"),),
        [
            "p.yaml:18:23: P406 external knows patient_id, a direct identifier: it is never released as it is, so no threshold can hold on it\nhint: remove it from `knows`",
        ],
        (("knows: [age, sex]", "knows: [age, sex, glucose]"),),
    ),
    Rule(
        "the person that is known",
        (
            ("role: direct, type: string", "role: quasi, type: string"),
            ("knows: [age, sex]", "knows: [age, sex, patient_id]"),
        ),
        [
            "p.yaml:18:23: P406 external knows patient_id, which names the person: every class would hold one person\nhint: remove it from `knows`",
        ],
        (("knows: [age, sex]", "knows: [sex, age]"),),
    ),
    Rule(
        "a column that is known twice",
        (("knows: [age, sex]", "knows: [age, sex, sex]"),),
        [
            "p.yaml:18:23: P408 sex appears twice in knows\nhint: remove one",
        ],
        (("knows: [age, sex]", "knows: [age, sex]"),),
    ),
    Rule(
        "a journalist without a population",
        ((RISK, RISK + "\n    attacker: journalist"),),
        [
            "p.yaml:20:15: P412 external is a journalist, whose risk depends on the population: population is missing\nhint: write `population: {table: …}`, `{weight: …}` or `{size: …, estimator: …}`, or `attacker: prosecutor`",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 50000, estimator: zayatz}"),),
    ),
    Rule(
        "a weight that is no number",
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: patient_id}"),),
        [
            "p.yaml:21:26: P412 patient_id is of type string: a sampling weight is a number\nhint: write `type: number` for it",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {weight: glucose}"),),
    ),
    Rule(
        "a marketer with a highest risk",
        ((RISK, RISK + "\n    attacker: marketer"),),
        [
            "p.yaml:19:5: P412 external is a marketer, whose risk is an average: highest_risk means nothing\nhint: write `average_risk`",
        ],
        ((RISK, "average_risk: 0.2\n    attacker: marketer"),),
    ),
    Rule(
        "rows of a person without persons",
        (
            ("    unit: {column: patient_id, max_rows: 1}\n", ""),
            (RISK, RISK + "\n    knows_rows: true"),
        ),
        [
            "p.yaml:7:3: P610 info: dataset patients has no unit: every row counts as a person of its own\nhint: write `unit: {column: …}` if persons may repeat",
            "p.yaml:19:17: P412 external knows rows of a person, but dataset patients has no unit\nhint: write `unit: {column: …}` in the dataset",
        ],
        ((RISK, RISK + "\n    knows_rows: true"),),
    ),
    Rule(
        "combinations of more columns than are known",
        ((RISK, RISK + "\n    also: {subsets: {up_to: 3, k: 3}}"),),
        [
            "p.yaml:20:29: P410 up_to 3 is more than the 2 columns that external knows\nhint: write 2",
        ],
        ((RISK, RISK + "\n    also: {subsets: {up_to: 2, k: 3}}"),),
    ),
    Rule(
        "a threshold that allows everything",
        ((RISK, "highest_risk: 1"),),
        [
            "p.yaml:19:19: P605 warn: highest_risk 1 allows every person to be unique\nhint: 0.2 means k = 5",
        ],
        ((RISK, "highest_risk: 0.99"),),
    ),
    Rule(
        "an average that is never reached",
        ((RISK, RISK + "\n    average_risk: 0.3"),),
        [
            "p.yaml:20:19: P605 warn: average_risk 0.3 is never reached: no person may have more than highest_risk 0.2\nhint: write a smaller average_risk, or remove it",
        ],
        ((RISK, RISK + "\n    average_risk: 0.1"),),
    ),
    Rule(
        "a level that is never reached",
        ((RISK, RISK + "\n    records_at_risk: {above: 0.2, share: 0.1}"),),
        [
            "p.yaml:20:30: P605 warn: no person may be above 0.2: highest_risk is 0.2\nhint: write a level below highest_risk",
        ],
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 0.1}"),),
    ),
    Rule(
        "a share that allows everything",
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 1}"),),
        [
            "p.yaml:20:42: P605 warn: a share of 1 allows every person above the level",
        ],
        ((RISK, RISK + "\n    records_at_risk: {above: 0.1, share: 0}"),),
    ),
    Rule(
        "missing values that match anything",
        ((RISK, RISK + "\n    missing: wildcard"),),
        [
            "p.yaml:20:14: P603 warn: external reads a missing value as anything: this reading is not transitive, classes of it overlap\nhint: protect under `missing: category`; the audit reports both readings",
        ],
        ((RISK, RISK + "\n    missing: category"),),
    ),
    Rule(
        "a population that changes nothing",
        ((RISK, RISK + "\n    population: {size: 1000, estimator: snb}"),),
        [
            "p.yaml:20:5: P605 warn: external is a prosecutor, who knows that the person is in the data: population changes nothing\nhint: remove it, or write `attacker: journalist`",
        ],
        ((RISK, RISK + "\n    attacker: journalist\n    population: {size: 1000, estimator: snb}"),),
    ),
    Rule(
        "a threat that nothing is protected against",
        (
            (
                "    knows: [age, sex]\n    highest_risk: 0.2\n",
                "    knows: [age, sex]\n    highest_risk: 0.2\n  insider: {dataset: patients, knows: [glucose], highest_risk: 0.5}\n",
            ),
        ),
        [
            "p.yaml:20:3: P607 warn: no release protects against insider\nhint: name it under `protect`, or remove it",
        ],
        (
            (
                "    knows: [age, sex]\n    highest_risk: 0.2\n",
                "    knows: [age, sex]\n    highest_risk: 0.2\n  insider: {dataset: patients, knows: [glucose], highest_risk: 0.5}\n",
            ),
            ("protect: [external]", "protect: [external, insider]"),
        ),
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_broken_rule_is_told_at_its_place_and_a_kept_one_is_not(rule: Rule, tried: Callable[[Rule], None]) -> None:
    tried(rule)

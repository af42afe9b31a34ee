"""Figures of Anonymeter on given tables, for tests/reference/test_anonymeter.py; runs in an environment of its own (`make test-oracle`).

Usage: anonymeter_figures.py FOLDER, which holds ori.csv, syn.csv, control.csv and predicates.json; the figures go to stdout as JSON.
"""

from __future__ import annotations

import json
import operator
import sys
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
from anonymeter.evaluators.singling_out_evaluator import _evaluate_queries_and_return_successful

if TYPE_CHECKING:
    from anonymeter.stats.confidence import EvaluationResults

OPERATORS = {"=": operator.eq, "<=": operator.le, ">=": operator.ge}


def counts(found: EvaluationResults) -> list[int]:
    """Successes on the data and on the control."""
    return [int(found.n_success), int(found.n_control)]


def rates(found: EvaluationResults) -> dict[str, float]:
    """The rates and the risk as Anonymeter gives them: centres of intervals, half widths."""
    assert found.control_rate is not None
    return {
        "main": found.attack_rate.value,
        "main_half": found.attack_rate.error,
        "control": found.control_rate.value,
        "control_half": found.control_rate.error,
        "risk": found.risk().value,
    }


def main(folder: Path) -> None:
    """Print the figures."""
    ori, syn, control = (
        pd.read_csv(folder / f"{name}.csv", float_precision="round_trip") for name in ("ori", "syn", "control")
    )
    n = len(ori)
    known, other = ["x", "a"], ["y", "b"]
    link = LinkabilityEvaluator(ori, syn, (known, other), n, 1, control).evaluate(n_jobs=1)
    name = InferenceEvaluator(ori, syn, ["x", "y", "a"], "b", False, n, control).evaluate(n_jobs=1)
    number = InferenceEvaluator(ori, syn, ["x", "y", "a"], "pay", True, n, control).evaluate(n_jobs=1)
    alone = SinglingOutEvaluator(ori, syn, 100_000, 1, control, seed=1)
    alone.evaluate(mode="univariate")
    predicates = [
        reduce(operator.and_, [OPERATORS[sign](pl.col(column), value) for column, sign, value in predicate])
        for predicate in json.loads((folder / "predicates.json").read_text(encoding="utf-8"))
    ]
    several = [len(_evaluate_queries_and_return_successful(pl.DataFrame(table), predicates)) for table in (ori, control)]
    figures = {
        "linkability": counts(link.results()),
        "inference_of_a_name": counts(name.results()),
        "inference_of_a_number": counts(number.results()),
        "singling_out_univariate": [int(alone._n_success), int(alone._n_control)],  # noqa: SLF001 -- its results need as many queries as were asked for
        "singling_out_multivariate": several,
        "rates": rates(link.results()),
    }
    sys.stdout.write(json.dumps(figures, indent=1, sort_keys=True) + "\n")


main(Path(sys.argv[1]))

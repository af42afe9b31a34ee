"""Rules of co-clustering and of Bayesian networks: what breaks each, word for word, and what is sound."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privrelease.policy.language.synthetic import method_spec

SYNTHETIC = """\
  - id: synthetic
    kind: synthetic
    from: patients
    method: METHOD
    columns: [age, sex]
    rows: noisy
    budget: {epsilon: 2}
    output: out/synthetic.csv
    MORE
checks:"""

BROKEN = [
    ("dpcocgen", "split: 0", "P776 split must be above 0 and below 1, got 0"),
    ("dpcocgen", "split: 1", "P776 split must be above 0 and below 1, got 1"),
    ("dpcocgen", "max_cells: -1", "P777 max_cells must be a whole number of at least 0 and at most 10000000, got -1"),
    ("dpcocgen", "max_cells: 1.5", "P777 max_cells must be a whole number of at least 0 and at most 10000000, got 1.5"),
    ("dpcocgen", "max_cells: 1", "P778 warn: a grid of one cell keeps nothing of what the second measurement could show"),
    ("privbayes", "theta: 0", "P779 theta must be above 0 and at most 1000000, got 0"),
    ("privbayes", "degree: 0", "P780 degree must be a whole number of at least 1 and at most 20, got 0"),
    ("privbayes", "degree: 2.5", "P780 degree must be a whole number of at least 1 and at most 20, got 2.5"),
    ("privbayes", "theta: 4\n    degree: 2", "P781 `theta` and `degree` both say how many parents a column may have"),
    ("privbayes", "split: 0.5", "P719 `split` is a key of method dpcocgen, and the method is privbayes"),
    ("dpcocgen", "theta: 4", "P719 `theta` is a key of method privbayes, and the method is dpcocgen"),
    ("histogram", "refine: false", "P719 `refine` is a key of method dpcocgen, and the method is histogram"),
]
QUIET = {"P706", "P707", "P709", "P711"}


def found(folder, change, method, more, *changes):
    text = change(("checks:", SYNTHETIC.replace("METHOD", method).replace("MORE", more)), *changes)
    return [one for one in folder.check(text) if not QUIET & set(one.split()) and "P6" not in one]


@pytest.mark.parametrize(("method", "more", "said"), BROKEN)
def test_a_key_that_breaks_a_rule_is_told(folder, change, method, more, said):
    (one,) = found(folder, change, method, more)
    assert said in one.split("\n")[0]


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("dpcocgen", ""),
        ("dpcocgen", "split: 0.3\n    max_cells: 144\n    refine: false"),
        ("dpcocgen", "max_cells: 0"),
        ("privbayes", ""),
        ("privbayes", "theta: 2.5"),
        ("privbayes", "degree: 1"),
    ],
)
def test_sound_keys_are_sound(folder, change, method, more):
    assert found(folder, change, method, more) == []


def test_one_column_is_not_co_clustered(folder, change):
    (one,) = found(folder, change, "dpcocgen", "", ("columns: [age, sex]\n    rows", "columns: [age]\n    rows"))
    assert "P782 co-clustering finds which values of several columns go together" in one


def test_a_theta_that_leaves_no_parents_is_refused_by_the_forecast(folder, change):
    changes = (("epsilon: 2}", "epsilon: 0.0001}"),)
    (one,) = found(folder, change, "privbayes", "theta: 100000", *changes)
    assert "DP143 `theta` 100000 leaves every column without parents" in one


def test_defaults_are_those_of_the_docs(folder, change):
    for method, expected in (
        ("dpcocgen", {"split": "1/2", "max_cells": 0, "refine": True}),
        ("privbayes", {"theta": "4", "degree": None}),
    ):
        loaded, _ = folder.load(change(("checks:", SYNTHETIC.replace("METHOD", method).replace("MORE", ""))))
        release = next(one for one in loaded.policy.releases if one.id == "synthetic")
        settings = method_spec(method).settings(release)
        assert settings == expected
        assert Fraction(str(settings.get("split", "1/2"))) == Fraction(1, 2)

"""l-diversity of sdcMicro 5.8.2: `../shared/reference/sdcmicro/ldiversity_*`; keys urbrur, roof, walls, sensitive relat, c = 2.

sdcMicro takes every missing sensitive value for a value of its own: in the one class with two of them it finds 6 values where there are 4 known
ones and "missing". With a code for each missing cell all its figures are met; ours take missing for one value, or for none (case k05).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.grouping import group_rows
from privrelease.disclosure.risk.l_diversity import distinct_l, entropy_l, recursive_l
from privrelease.disclosure.risk.sensitive import SensitiveCounts


@pytest.fixture(scope="module")
def data(sdcmicro, coded):
    rows = sdcmicro("data/testdata2_na")
    group = group_rows(coded(rows, ["urbrur", "roof", "walls"])).group
    return group, coded(rows, ["relat"])[:, 0].astype(np.int64), sdcmicro("ldiversity_testdata2_na_urbrur_roof_relat")


@pytest.fixture(scope="module")
def each_missing_its_own(data):
    group, value, _ = data
    own = np.where(value == 0, 1000 + np.arange(len(value)), value)
    return SensitiveCounts.of(group, own, np.ones(len(value), np.int64))


def test_distinct_l_with_each_missing_its_own_value_is_that_of_sdcmicro(data, each_missing_its_own):
    group, _, figures = data
    assert distinct_l(each_missing_its_own)[group].tolist() == [int(row["relat_Distinct_Ldiversity"]) for row in figures]


def test_entropy_l_with_each_missing_its_own_value_is_that_of_sdcmicro(data, each_missing_its_own):
    group, _, figures = data
    expected = [float(row["relat_Entropy_Ldiversity"]) for row in figures]
    assert entropy_l(each_missing_its_own)[group] == pytest.approx(expected, rel=1e-8)


def test_recursive_l_with_each_missing_its_own_value_is_that_of_sdcmicro(data, each_missing_its_own):
    group, _, figures = data
    expected = [int(row["relat_Recursive_Ldiversity"]) for row in figures]
    assert recursive_l(each_missing_its_own, Fraction(2))[group].tolist() == expected


def test_missing_as_one_value_differs_only_where_a_class_has_two(data):
    group, value, figures = data
    counts = SensitiveCounts.of(group, value, np.ones(len(value), np.int64))
    ours = distinct_l(counts, "value")[group]
    theirs = np.array([int(row["relat_Distinct_Ldiversity"]) for row in figures])
    missing = np.bincount(group, weights=value == 0)[group]
    assert (theirs - ours).tolist() == np.maximum(missing - 1, 0).tolist()
    assert (ours != theirs).any()

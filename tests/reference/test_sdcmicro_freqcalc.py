"""Sample and population counts of sdcMicro 5.8.2's freqCalc, missing as wildcard: `../shared/reference/sdcmicro/`.

One difference: with several keys, a record that has none of them left (row 93 of testdata2_na) matches records with missing cells there,
but not complete ones, against sdcMicro's own definition and its figures for one key. Ours is lost and matches nothing, or, where cells were
missing from the start, matches everything (case k01). `figures_of` says which of the two each figure is.
"""

from __future__ import annotations

import numpy as np
import pytest

from privrelease.disclosure.classes.wildcard import match_counts, match_sums
from privrelease.disclosure.population.class_sizes import weight_sums

KV7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
FRANCDAT = ["Key1", "Key2", "Key3", "Key4"]
ALPHAS = ("1", "0.75", "0.5", "0.25", "0.1", "0")

FILES = {
    # figures: data, keys, weight
    "freqcalc_francdat": ("data/francdat", FRANCDAT, "w"),
    "freqcalc_francdat_na": ("data/francdat_na", FRANCDAT, "w"),
    "freqcalc_onekey_na": ("data/onekey_na", ["a"], None),
    "freqcalc_testdata2_kv7": ("data/testdata2", KV7, "sampling_weight"),
    "freqcalc_testdata2_na_kv7": ("data/testdata2_na", KV7, "sampling_weight"),
}


@pytest.fixture(scope="module", params=sorted(FILES))
def data(request, sdcmicro, coded):
    name, keys, weight = FILES[request.param]
    if name == "data/onekey_na":  # the csv reader skips its empty lines
        codes = np.array([[1], [1], [2], [0], [2], [3], [0]], np.int32)
        return codes, np.ones(7), sdcmicro(request.param), keys
    rows = sdcmicro(name)
    weights = np.array([float(row[weight]) for row in rows])
    return coded(rows, keys), weights, sdcmicro(request.param), keys


def figures_of(codes, sums, values, alpha):
    """`sums` over all records, less the records without a key where sdcMicro leaves them out."""
    empty = np.all(codes == 0, axis=1)
    complete = np.all(codes > 0, axis=1)
    left_out = complete if codes.shape[1] > 1 else np.zeros(len(codes), bool)
    return sums - left_out * alpha * values[empty].sum()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_sample_and_population_counts_are_those_of_sdcmicro(data, alpha):
    codes, weights, figures, _ = data
    assert len(figures) == len(codes)
    for values, figure in ((np.ones(len(codes), np.int64), "fk"), (weights, "Fk")):
        sums = figures_of(codes, match_sums(codes, values, alpha=float(alpha)), values, float(alpha))
        assert sums == pytest.approx([float(row[f"{figure}_a{alpha}"]) for row in figures], rel=1e-9)


def test_counting_by_class_gives_the_same_counts(data, tabled):
    codes, weights, figures, keys = data
    table, of_row = tabled(codes, keys, weights)
    counts = figures_of(codes, match_counts(table, residual="class")[of_row], np.ones(len(codes), np.int64), 1)
    assert counts.tolist() == [int(row["fk_a1"]) for row in figures]
    sums = figures_of(codes, weight_sums(table, missing="wildcard")[of_row], weights, 1)
    assert sums == pytest.approx([float(row["Fk_a1"]) for row in figures], rel=1e-9)


def test_complete_records_match_as_in_sdcmicro_where_records_without_a_key_are_lost(data, tabled):
    codes, _, figures, keys = data
    table, of_row = tabled(codes, keys)
    complete = np.all(codes > 0, axis=1)
    counts = match_counts(table, residual="lost" if len(keys) > 1 else "class")[of_row][complete]
    assert counts.tolist() == [int(row["fk_a1"]) for row, whole in zip(figures, complete, strict=True) if whole]

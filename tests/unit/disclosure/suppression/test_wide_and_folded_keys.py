"""Tables whose keys do not fit one machine word, and what happens when folding them deceives the search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.disclosure.suppression import record_state
from privrelease.disclosure.suppression.arrays import kept_bits, pack
from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement


def solved(rows, k):
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    q = rows.shape[1]
    table = ClassTable(tuple(f"c{column}" for column in range(q)), np.ascontiguousarray(codes, np.int32), counts)
    problem = Problem(table, (Requirement("r", tuple(range(q)), Thresholds(highest=Fraction(1, k))),), (Fraction(1),) * q)
    return table, suppress_cells(problem)


def smallest_class(table, solution):
    shown = table.codes[solution.class_index].copy()
    shown[solution.suppressed] = 0
    left = ~solution.dropped & (shown > 0).any(axis=1)
    if not left.any():
        return None
    _, group = np.unique(shown[left], axis=0, return_inverse=True)
    return int(np.bincount(group.ravel(), solution.records[left]).min())


@pytest.mark.parametrize(("rows", "q"), [(400, 20), (300, 40), (300, 70)])
def test_wide_tables_reach_the_class_size(rows, q):
    generator = np.random.default_rng(5)
    data = generator.integers(1, 4, (rows, 1)) + (generator.random((rows, q)) < 0.05)
    table, solution = solved(data, 4)
    assert smallest_class(table, solution) >= 4
    assert solution.lost_cells.sum() < 0.6 * rows * q


def test_millions_of_values_are_no_more_than_codes():
    generator = np.random.default_rng(5)
    rare = generator.integers(1, 2**30, (500, 4))
    data = np.concatenate([rare, np.repeat(generator.integers(1, 2**30, (50, 4)), 6, axis=0)])
    table, solution = solved(data, 5)
    assert smallest_class(table, solution) >= 5
    assert solution.lost_cells.sum() == 500 * 4


def test_packing_keeps_columns_apart_over_words():
    codes = np.array([[2**31 - 1, 5, 2**31 - 1], [1, 0, 2]], np.int32)
    keys, fields = pack(codes)
    assert keys.shape == (2, 2)
    shown = kept_bits(fields, np.array([[True, False, True]]))
    assert (keys & shown).tolist() == [[5 << 31, 0], [0, 0]]


def test_a_search_that_folded_keys_deceive_is_repaired(monkeypatch):
    def blind_pack(codes):
        keys, fields = pack(codes)
        return keys & ~fields[:, :1], fields  # the first column is not seen: all its values look alike

    monkeypatch.setattr(record_state, "pack", blind_pack)
    rows = np.array([[1, 1], [2, 1], [3, 2], [3, 2], [3, 2]])
    table, solution = solved(rows, 2)
    assert smallest_class(table, solution) >= 2

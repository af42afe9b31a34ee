"""The nearest records: by hand, and against brute force over every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.attacks.nearest import UNIT, nearest
from privrelease.audit.attacks.records import Attribute, Tuples
from privrelease.loops import compiled

NUMBERS = np.array([np.nan, 3.0, 4.0, 10.0])


def brute(targets, released, *, plain):
    """(distance, rows) of the nearest rows of each target, pair by pair."""
    found = []
    for i in range(len(targets[0].codes)):
        sums = []
        for j in range(len(released[0].codes)):
            total = 0
            for one, other in zip(targets, released, strict=True):
                a, b = int(one.codes[i]), int(other.codes[j])
                if a == b:
                    continue
                if b == 0 and not plain and a:
                    total += UNIT // (len(targets) + 1)
                elif a == 0 or b == 0 or other.values is None:
                    total += UNIT
                else:
                    codes = other.codes if plain else np.concatenate((one.codes, other.codes))
                    there = other.values[codes[codes > 0]]
                    span = there.max() - there.min()
                    gap = abs(other.values[a] - other.values[b])
                    if plain:
                        total += max(1, round(gap / span * UNIT)) if span else UNIT
                    else:  # a different number contradicts; how far it is only orders equally many contradictions
                        total += UNIT + (round(gap / span * (UNIT // (len(targets) + 1))) if span else 0)
            sums.append(total)
        least = min(sums)
        found.append((least, {j for j, value in enumerate(sums) if value == least}))
    return found


@settings(max_examples=150)
@given(st.data(), st.integers(1, 3), st.integers(1, 6), st.integers(1, 8), st.booleans(), st.sampled_from([compiled, None]))
def test_the_nearest_records_are_those_of_brute_force(data, columns, targets, rows, plain, loops):
    def side(n):
        made = []
        for place in range(columns):
            codes = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
            made.append(Attribute(str(place), np.array(codes, np.uint8), NUMBERS if place == 0 else None))
        return made

    ours, theirs = side(targets), side(rows)
    records = Tuples.among(theirs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privrelease.audit.attacks.nearest.extension", lambda: loops)
        found = nearest(ours, records, plain=plain)
    for place, (distance, wanted) in enumerate(brute(ours, theirs, plain=plain)):
        assert found.distance[place] == distance
        chosen = set(found.record[found.target == place].tolist())
        assert {row for row in range(rows) if records.of_row[row] in chosen} == wanted


def test_blocks_of_targets_give_what_one_block_gives(monkeypatch, made):
    rng = np.random.default_rng(7)
    ours, theirs = made(a=[rng.integers(0, 9, 40).tolist(), rng.integers(0, 9, 60).tolist()], b=[["x"] * 40, ["y"] * 60])
    whole = nearest(ours, Tuples.among(theirs))
    monkeypatch.setattr("privrelease.audit.attacks.nearest._BLOCK", 25)
    parts = nearest(ours, Tuples.among(theirs))
    assert all(np.array_equal(getattr(whole, name), getattr(parts, name)) for name in ("distance", "target", "record"))


def test_a_place_without_a_cost_and_arrays_that_do_not_fit_are_refused_by_the_compiled_search():
    cost, ends = np.zeros((2, 3), np.int64), [np.zeros(2, np.int64), np.zeros(2, np.int64)]
    assert np.frombuffer(compiled.nearest_records(cost, np.array([0, 2, 1, 2], np.int32), 2, *ends), np.int64).tolist() == [
        0,
        1,
        0,
        1,
    ]
    for places, columns in (([0, 3], 2), ([-1, 0], 2), ([0, 1, 2], 2), ([0, 1], 0)):
        with pytest.raises(TypeError, match="another shape"):
            compiled.nearest_records(cost, np.array(places, np.int32), columns, *ends)
    with pytest.raises(TypeError, match="another shape"):
        compiled.nearest_records(cost, np.array([0, 1], np.int32), 2, ends[0], np.zeros(3, np.int64))


def test_a_missing_released_cell_may_hold_anything_and_contradictions_weigh_more(made):
    ours, theirs = made(a=[["x"], [None, "y", "x"]], b=[["u"], [None, "u", "v"]], c=[["w"], [None, "w", "w"]])
    found = nearest(ours, Tuples.among(theirs))
    assert found.distance.tolist() == [
        3 * (UNIT // 4)
    ]  # the wholly suppressed record, before one that contradicts in one column


def test_a_number_that_is_near_contradicts_as_one_that_is_far_and_loses_to_missing_cells(made):
    ours, theirs = made(income=[[1000], [1001, None, 9000]], age=[[30], [30, None, 30]])
    records = Tuples.among(theirs)
    found = nearest(ours, records)
    assert found.record.tolist() == [records.of_row[1]]
    assert found.distance.tolist() == [2 * (UNIT // 3)]


def test_of_contradicting_numbers_the_nearer_is_taken(made):
    ours, theirs = made(income=[[1000], [1001, 9000]])
    assert nearest(ours, Tuples.among(theirs)).record.tolist() == [0]


def test_equally_near_rows_are_taken_by_the_lowest_rank(made):
    ours, theirs = made(a=[["x", "z"], ["x", "x", "y", "x"]])
    ranks = np.array([3, 1, 0, 2])
    records = Tuples.among(theirs)
    assert nearest(ours, records).best(records.least(ranks), ranks).tolist() == [1, 2]


def test_an_empty_file_has_no_nearest_record(made):
    ours, theirs = made(a=[["x"], []])
    records = Tuples.among(theirs)
    assert nearest(ours, records).best(records.least(np.zeros(0, np.int64)), np.zeros(0, np.int64)).tolist() == [-1]


def test_more_columns_than_sums_can_hold_are_refused(made):
    (rows,) = made(a=[["x"]])
    with pytest.raises(ValueError, match="at most 1000"):
        nearest(rows * 1001, Tuples.among(rows))

"""What labels cost, by hand; and on Adult the losses that others computed."""

from __future__ import annotations

import csv
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import log2

import numpy as np
import pyarrow as pa
import pytest

from privrelease.audit.microdata.generalised.covers import coverer
from privrelease.audit.microdata.utility.granularity import domain_share, granularity
from privrelease.audit.microdata.utility.labels import LabelCounts, class_codes, in_order, label_entropy, label_granularity
from privrelease.audit.microdata.utility.number_shifts import _label_shift
from privrelease.audit.microdata.utility.queries import CountQuery, Draws, answers, median_error, range_queries, spread_answers
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.relational.hierarchies import Generalised, Intervals, Tree
from privrelease.relational.schema import Domain

TENS = Generalised(Intervals((Decimal(10),), top=Decimal(30), step=Decimal(1)), 1)


def counted(declared, before, after, shown, domain=None, missing=(0, 0), pairs=None):
    """Rows by value, by label, and by value of those that are released."""
    values, labels = sorted(before), sorted(after)
    cover, order = coverer(declared, pa.array(values), pa.array(labels), domain)
    labels = [labels[place] for place in order]
    known = None if shown is None else np.array([0, *(shown.get(value, 0) for value in values)])
    return LabelCounts(
        "age",
        cover,
        np.array([missing[0], *(before[value] for value in values)]),
        np.array([missing[1], *(after[label] for label in labels)]),
        known,
        True,
        pa.array(values),
        pa.array(labels),
        pairs,
    )


AGES = counted(TENS, {21: 2, 25: 6, 34: 4}, {"[20, 30)": 7, "30+": 4}, {21: 1, 25: 6, 34: 4}, missing=(0, 1))


def test_a_label_costs_what_its_values_lack_and_a_lost_cell_what_it_would_anyway():
    labels = -log2(2 / 8) - 6 * log2(6 / 8)  # 34 is alone under 30+
    found = label_entropy(AGES)
    assert found.whole_file == pytest.approx(labels - log2(2 / 12))
    assert found.suppressed == pytest.approx(labels)  # all that was lost are of one value
    assert found.most == pytest.approx(-2 * log2(2 / 12) - 6 * log2(6 / 12) - 4 * log2(4 / 12))


def test_a_label_is_as_coarse_as_its_part_of_the_domain():
    """Ages 21 to 34 are 14 numbers: [20, 30) has nine of them, 30+ five; with a declared domain of 0 to 39 they are 10 of 40 each."""
    lost = Fraction(1)
    assert label_granularity(AGES) == (7 * Fraction(8, 13) + 4 * Fraction(4, 13) + lost, 12)
    declared = counted(
        TENS, {21: 2, 25: 6, 34: 4}, {"[20, 30)": 8, "30+": 4}, {21: 2, 25: 6, 34: 4}, Domain(low="0", high="39")
    )
    assert label_granularity(declared) == (12 * Fraction(9, 39), 12)


def test_of_a_label_that_lost_some_of_its_rows_nothing_says_which():
    assert label_entropy(counted(TENS, {21: 2, 25: 6}, {"[20, 30)": 7}, None)) is None


def test_a_label_that_is_more_frequent_than_its_values_is_no_loss():
    wrong = counted(TENS, {21: 2, 25: 6}, {"[20, 30)": 9}, {21: 2, 25: 6})
    assert (wrong.only_lost, label_entropy(wrong), label_granularity(wrong)) == (False, None, None)


def test_the_mean_of_intervals_is_that_of_their_middles_and_an_open_end_stands_for_itself():
    found = _label_shift(AGES, 1)
    true = np.array([21] * 2 + [25] * 6 + [34] * 4)
    written = np.array([25] * 7 + [30] * 4)
    assert found.by == "middle"
    assert found.mean.exact.value == pytest.approx((written.mean() - true.mean()) / true.std(ddof=1), abs=1e-8)
    assert found.il1s is None


def test_of_a_label_that_is_no_interval_there_is_no_mean():
    found = _label_shift(counted(TENS, {21: 2, 25: 6}, {"[20, 30)": 7, "young": 1}, None), 1)
    assert (found.mean.exact.value, found.mean.exact.note) == (None, "a label represents no number")


def test_a_mean_of_the_largest_doubles_is_measured():
    wide = Generalised(Intervals((Decimal(10),), top=Decimal(30)), 1)
    found = _label_shift(counted(wide, {25.0: 1, 1e300: 1}, {"[20, 30)": 1, "30+": 1}, None), 1)
    # 25 and 10^300 have a standard deviation of 10^300 / √2 (n - 1 = 1), and a mean of 10^300 / 2 that becomes 27.5
    assert found.mean.exact.value == pytest.approx(-(2**0.5) / 2)


def test_where_numbers_are_released_their_changes_are_measured():
    low = Generalised(Intervals((Decimal(10),), step=Decimal(1)), 1, "low")
    pairs = np.array([[1, 2, 3], [1, 1, 2], [2, 6, 4]])  # 21 and 25 as 20, 34 as 30
    found = _label_shift(counted(low, {21: 2, 25: 6, 34: 4}, {20: 8, 30: 4}, {21: 2, 25: 6, 34: 4}, pairs=pairs), 1)
    true, written = np.array([21] * 2 + [25] * 6 + [34] * 4), np.array([20] * 8 + [30] * 4)
    assert found.by == "released"
    assert found.mean.exact.value == pytest.approx((written.mean() - true.mean()) / true.std(ddof=1), abs=1e-8)
    total = np.abs(true - written).sum() / (np.sqrt(2) * true.std(ddof=1))
    assert found.il1s.exact.value == pytest.approx(total, abs=1e-8)


def test_range_queries_of_tens_of_years_are_answered_by_an_even_spread():
    """100 range queries on ages 0 to 59 in tens: the answer to [low, high] is, for each ten, its share of the ten years."""
    rng = np.random.default_rng(4)
    ages = np.sort(rng.integers(0, 60, 700))
    values, before = np.unique(ages, return_counts=True)
    tens = Generalised(Intervals((Decimal(10),), step=Decimal(1)), 1)
    labels = [f"[{low}, {low + 10})" for low in range(0, 60, 10)]
    cover, order = coverer(tens, pa.array(values), pa.array(labels), Domain(low="0", high="59"))
    assert order.tolist() == list(range(6))
    codes = np.arange(1, len(values) + 1, dtype=np.int32)[:, None]
    first = ClassTable(("age",), codes, before.astype(np.int64))
    second = ClassTable(("age",), np.arange(1, 7, dtype=np.int32)[:, None], np.bincount(ages // 10).astype(np.int64))
    queries = range_queries(first, [0], Draws("made-up"))
    assert len(queries) == 100
    errors = []
    for query, given in zip(queries, spread_answers(second, queries, {0: cover.within}), strict=True):
        ((_, low, high),) = query.conditions
        years = range(values[low - 1], values[high - 1] + 1)
        even = sum(Fraction(int(np.sum(ages // 10 == year // 10)), 10) for year in years)
        assert float(given) == pytest.approx(float(even))
        true = answers(first, [query])[0]
        errors.append(abs(true - even) / max(Fraction(true), Fraction(700, 1000)))
    errors.sort()
    assert float(median_error(first, second, queries, {0: cover.within})) == pytest.approx(float((errors[49] + errors[50]) / 2))


def test_a_point_query_takes_its_share_of_a_label():
    names = Generalised(Tree(("a", "b", "c", "d"), (("x", "x", "x", "y"),)), 1)
    cover, _ = coverer(names, pa.array(["a", "c", "d"]), pa.array(["x", "y"]), None)
    table = ClassTable(("n",), np.array([[1], [2]], np.int32), np.array([9, 5]))
    queries = [CountQuery(((0, place, place),)) for place in (1, 2, 3)]
    assert [float(one) for one in spread_answers(table, queries, {0: cover.within})] == pytest.approx([3, 3, 5])


def test_codes_of_values_and_labels_in_one_coding_are_found_again():
    values, labels = pa.array([5, 30, 100]), pa.array(["30+", "[0, 10)"])
    codes = class_codes((values, labels))  # as texts: 100, 30, 30+, 5, [0, 10)
    assert [one.tolist() for one in codes] == [[4, 2, 1], [3, 5]]
    table = ClassTable(("age",), np.array([[0], [1], [2], [4]], np.int32), np.array([1, 2, 3, 4]))
    assert in_order(table, {0: codes[0]}).codes.tolist() == [[0], [3], [2], [1]]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (pa.array([5.0, 20.0, 100.0]), pa.array(["100", "20", "5"])),  # every text is a number, so that 5 is the first
        (pa.array([5.0, 90.0, 100.0]), pa.array(["90+", "5"])),
        (pa.array([5, 90, 100], pa.int64()), pa.array([100, 5], pa.int16())),
        (pa.array([5, 90, 100]), pa.array(["90+", "5", "100"])),
        (pa.array([], pa.string()), pa.array(["90+", "5"])),
        (pa.array([5.0, 100.0]), pa.array([], pa.string())),
    ],
)
def test_codes_of_values_and_labels_are_those_of_the_class_tables(values, labels):
    """What this rebuilds is the coding that the engine gives to two files whose column is of two kinds."""
    codes, _ = in_one_coding([encoded(pa.chunked_array([side])) for side in (values, labels)])
    assert [one.tolist() for one in class_codes((values, labels))] == [one.tolist() for one in codes]


# --------------------------------------------------------------------------------------------------------- figures of other tools

#: Levels in header order, and rows in classes below 5 that are dropped.
ARX_LOSS, LM = ((0, 3, 0, 2, 2, 1, 1, 1, 0), 1_165, 0.44579), ((0, 3, 0, 1, 1, 1, 1, 2, 0), 1_178, 0.29282)


def adult(shared, levels):
    """What became of each column of Adult at some levels, rows in classes below 5 dropped."""
    with (shared / "data" / "adult.csv").open(newline="") as stream:
        names, *rows = csv.reader(stream, delimiter=";")
    trees = []
    for name in names:
        with (shared / "data" / f"adult_hierarchy_{name}.csv").open(newline="") as stream:
            trees.append(list(csv.reader(stream, delimiter=";")))
    ladders = [{line[0]: line for line in lines} for lines in trees]
    released = [tuple(one[value][level] for one, value, level in zip(ladders, row, levels, strict=True)) for row in rows]
    sizes = Counter(released)
    kept = [sizes[row] >= 5 for row in released]
    found = []
    for place, (lines, level) in enumerate(zip(trees, levels, strict=True)):
        tree = Tree(
            tuple(line[0] for line in lines), tuple(tuple(line[at] for line in lines) for at in range(1, len(lines[0])))
        )
        before = Counter(row[place] for row in rows)
        shown = Counter(row[place] for row, there in zip(rows, kept, strict=True) if there)
        after = Counter(row[place] for row, there in zip(released, kept, strict=True) if there)
        found.append(counted(Generalised(tree, level), before, after, shown))
    return found, len(rows) - sum(kept)


def test_granularity_of_adult_is_the_loss_metric_of_iyengar(shared):
    levels, dropped, loss = LM
    columns, gone = adult(shared, levels)
    assert gone == dropped
    assert 1 - float(granularity([label_granularity(one) for one in columns])) == pytest.approx(loss, abs=5e-6)


def test_the_share_of_the_domain_is_the_loss_of_arx(shared):
    levels, dropped, loss = ARX_LOSS
    columns, gone = adult(shared, levels)
    assert gone == dropped
    parts = []
    for one in columns:
        leaves, lost = one.cover.leaves, one.known_before - one.known_after
        parts.append(domain_share(np.append(one.after[1:], lost), np.append(leaves.of[1:], leaves.domain), leaves.domain))
    assert 1 - float(granularity(parts)) == pytest.approx(loss, abs=5e-6)


def test_entropy_of_adult_without_suppression_is_that_of_arx(shared):
    """ARX's own test of full-domain generalisation, k = 5 and no suppression: bits lost over all columns."""
    columns, gone = adult(shared, (1, 2, 1, 1, 3, 2, 2, 1, 1))
    assert gone == 0
    assert sum(label_entropy(one).whole_file for one in columns) == pytest.approx(407289.5388925293, abs=1e-6)

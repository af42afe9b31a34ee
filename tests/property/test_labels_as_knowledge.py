"""Labels of several levels, missing cells and true values: counts by containment, beside brute force over every pair."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.audit.attacks.nearest import UNIT, nearest
from privrelease.audit.attacks.records import Attribute, Tuples
from privrelease.audit.attacks.singling_out import Condition, isolated
from privrelease.audit.microdata.generalised.covers import coverer
from privrelease.disclosure.classes.class_sizes import ClassSizes
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.grouping import group_rows
from privrelease.disclosure.classes.nested_labels import ladder_of_sets, spread
from privrelease.disclosure.classes.wildcard import match_counts
from privrelease.disclosure.risk.prosecutor import prosecutor_risk
from privrelease.relational.hierarchies import Coded, Dates, Generalised, Intervals, Prefixes, RoundedTo, SmallAreas, Tree
from privrelease.relational.schema import Domain
from tests.depth import depth

#: Nested intervals over 0..39: tens, fives, single numbers.
NESTED = [
    None,
    *((low, low + wide) for wide in (10, 5) for low in range(0, 40, wide)),
    *((n, n) for n in (0, 3, 5, 12, 29, 30)),
]
ENDS = np.array([[np.nan, np.nan], *NESTED[1:]], np.float64).T
LEAVES = [set(range(40)), *({low} if low == high else set(range(low, high)) for low, high in NESTED[1:])]
CELL = st.integers(0, len(NESTED) - 1)


@settings(max_examples=depth(100, 300))
@given(rows=st.lists(st.tuples(CELL, CELL, st.integers(0, 2)), min_size=1, max_size=25))
def test_risk_of_nested_labels_and_missing_cells_is_that_of_brute_force(rows):
    """Wildcard: two cells are compatible where they have a value in common. Category: where they are the same."""
    codes = np.array(rows, np.int32)
    grouping = group_rows(codes)
    table = ClassTable(("a", "b", "c"), codes[grouping.first], grouping.sums(np.ones(len(rows), np.int64)))
    ladder = ladder_of_sets(ENDS)
    made, names = spread(table, {"a": ladder, "b": ladder})
    columns = [part for name in "abc" for part in names[name]]
    found = match_counts(made, columns, residual="class")[grouping.group]

    def compatible(one, other):
        nested = all(LEAVES[x] & LEAVES[y] for x, y in zip(one[:2], other[:2], strict=True))
        return nested and (one[2] == other[2] or 0 in (one[2], other[2]))

    wanted = [sum(compatible(one, other) for other in rows) for one in rows]
    assert found.tolist() == wanted
    assert prosecutor_risk(ClassSizes.from_table(table, residual="class")).highest == max(
        Fraction(1, rows.count(row)) for row in rows
    )


TENS = Generalised(Intervals((Decimal(5), Decimal(10)), top=Decimal(30), step=Decimal(1)), 2)
NUMBER_LABELS = ["[0, 10)", "[10, 20)", "[20, 30)", "30+", "[10, 15)", "12"]
NUMBERS_UNDER = [range(10), range(10, 20), range(20, 30), range(30, 99), range(10, 15), [12]]
FRUIT = Generalised(Tree(("apple", "pear", "leek", "kale"), (("fruit", "fruit", "green", "green"), ("*",) * 4)), 1)
NAMES, NAME_LABELS = ["apple", "pear", "leek", "kale"], ["fruit", "green", "apple", "*"]
NAMES_UNDER = [{"apple", "pear"}, {"leek", "kale"}, {"apple"}, set(NAMES)]


def sides(data, astray):
    """Targets and released rows: (number, name) with None for missing, and their columns as attacks compare them."""
    numbers, labels = list(range(0, 40, 3)), NUMBER_LABELS if astray else NUMBER_LABELS[:4]
    names = NAME_LABELS if astray else NAME_LABELS[:2]
    cell = st.tuples(st.sampled_from([None, *numbers]), st.sampled_from([None, *NAMES]))
    targets = data.draw(st.lists(cell, min_size=1, max_size=6))
    rows = data.draw(
        st.lists(st.tuples(st.sampled_from([None, *labels]), st.sampled_from([None, *names])), min_size=1, max_size=8)
    )
    made = []
    for place, (declared, values, written) in enumerate(((TENS, numbers, labels), (FRUIT, NAMES, names))):
        cover, order = coverer(declared, pa.array(values), pa.array(written), None)
        code = {written[at]: number for number, at in enumerate(order.tolist(), 1)} | {None: 0}
        of = {value: number for number, value in enumerate(values, 1)} | {None: 0}
        made.append(
            (
                Attribute(str(place), np.array([of[row[place]] for row in targets]), None, cover),
                Attribute(str(place), np.array([code[row[place]] for row in rows]), cover.middles),
            )
        )
    return targets, rows, [one for one, _ in made], [one for _, one in made]


def holds(place, label, value):
    under = (dict(zip(NUMBER_LABELS, NUMBERS_UNDER, strict=True)), dict(zip(NAME_LABELS, NAMES_UNDER, strict=True)))[place]
    return value is not None and value in under[label]


@settings(max_examples=depth(70, 200))
@given(data=st.data(), astray=st.booleans())
def test_the_nearest_labels_are_those_of_brute_force(data, astray):
    targets, rows, ours, theirs = sides(data, astray)
    records = Tuples.among(theirs)
    found = nearest(ours, records)
    contradicted = []
    for target in targets:
        costs = []
        for row in rows:
            total = 0
            for place, (value, label) in enumerate(zip(target, row, strict=True)):
                if label is None:
                    total += 0 if value is None else UNIT // 3
                elif not holds(place, label, value):
                    total += UNIT
            costs.append(total)
        contradicted.append(costs)
    for place, costs in enumerate(contradicted):
        least = min(costs)
        assert least <= found.distance[place] <= least + 2 * (UNIT // 3)
        chosen = {row for row in range(len(rows)) if records.of_row[row] in set(found.record[found.target == place].tolist())}
        nearest_by_contradictions = {row for row, cost in enumerate(costs) if cost == least}
        if any(cost < UNIT for cost in costs):  # no contradiction at all: exactly those
            assert chosen == nearest_by_contradictions
        else:
            assert chosen <= {row for row, cost in enumerate(costs) if cost // UNIT == least // UNIT}


@settings(max_examples=depth(70, 200))
@given(data=st.data())
def test_a_predicate_of_labels_is_met_by_the_values_under_them(data):
    targets, _, ours, _ = sides(data, astray=False)
    number = data.draw(st.sampled_from(NUMBER_LABELS[:4]))
    operator = data.draw(st.sampled_from(["=", "<=", ">="]))
    name = data.draw(st.sampled_from(NAME_LABELS[:2]))
    code = NUMBER_LABELS.index(number) + 1
    predicate = (Condition(0, operator, code), Condition(1, "=", NAME_LABELS.index(name) + 1))
    low, high = [(0, 10), (10, 20), (20, 30), (30, 99)][code - 1]

    def met(value, fruit):
        if value is None or not holds(1, name, fruit):
            return False
        return {"=": low <= value < high, "<=": value < high, ">=": value >= low}[operator]

    assert isolated([predicate], ours).successes == (sum(met(*one) for one in targets) == 1)


def test_the_distance_to_a_label_is_that_to_its_nearest_end_and_to_a_name_that_of_the_tree():
    cover, _ = coverer(TENS, pa.array([25, 33]), pa.array(["[0, 10)", "[20, 30)", "30+"]), None)
    assert cover.apart(np.array([1, 2]), (0.0, 40.0))[:, 1:].tolist() == [[15 / 40, 0.0, 5 / 40], [23 / 40, 3 / 40, 0.0]]
    cover, _ = coverer(FRUIT, pa.array(["apple"]), pa.array(["fruit", "green"]), None)
    assert cover.apart(np.array([1]), (0.0, 0.0))[:, 1:].tolist() == [[0.5, 1.0]]


def test_the_plain_text_of_a_label_meets_nothing_that_it_holds():
    """A planted fault: where containment is replaced by equality, the known value contradicts every label."""
    cover, _ = coverer(TENS, pa.array([25]), pa.array(["[20, 30)"]), None)
    target, row = Attribute("age", np.array([1]), None, cover), Attribute("age", np.array([1]))
    assert nearest([target], Tuples.among([row])).distance.tolist() == [0]
    equal = Attribute("age", np.array([2]), None)
    assert nearest([equal], Tuples.among([row])).distance.tolist() == [UNIT]


@pytest.mark.parametrize(
    ("declared", "label"),
    [
        (TENS, "[0, 10)"),
        (FRUIT, "fruit"),
        (Generalised(Dates(("month",)), 1), "2026-07"),
        (Generalised(Prefixes((3,)), 1), "021"),
        (Coded(None, Decimal(90)), "90+"),
        (RoundedTo(Decimal(5), Decimal(1)), 5),
    ],
    ids=lambda one: type(getattr(one, "form", one)).__name__,
)
@pytest.mark.parametrize("there", [True, False])
def test_a_column_without_a_value_has_a_cover(declared, label, there):
    labels = pa.array([label] if there else [], pa.int64() if label == 5 else pa.string())
    cover, order = coverer(declared, pa.array([], pa.string()), labels, None)
    assert (cover.under.tolist(), len(order), len(cover.leaves.of)) == ([[0]], int(there), 1 + there)


def test_an_area_of_few_persons_and_labels_of_other_levels_are_covered():
    areas = Generalised(Prefixes((3, 2), "*", SmallAreas(frozenset({"021"}), frozenset({"022"}), "000")), 1)
    cover, order = coverer(areas, pa.array(["02139", "02239"]), pa.array(["000", "022*", "02*", "02239"]), None)
    assert order.tolist() == [0, 1, 2, 3]
    # the planned level first; then the others, from the finest
    assert cover.under[0].tolist() == [0, 1, 2]
    assert sorted(row.tolist() for row in cover.under[1:]) == [[0, 0, 3], [0, 0, 4]]
    assert cover.finest.tolist() == [0, 1, 4]


def test_dates_and_ends_are_covered_by_days_and_by_numbers():
    months = Generalised(Dates(("month", "year")), 1)
    days = pa.array([date(2026, 7, 3), date(2026, 8, 31)])
    cover, order = coverer(months, days, pa.array(["2026-08", "2026-07", "2026"]), Domain(low="2026-07-01", high="2026-08-31"))
    assert order.tolist() == [1, 2, 0] or order.tolist() == [2, 1, 0]
    wide = cover.leaves.of.tolist()
    assert (wide[0], sorted(wide[1:])) == (62, [31, 31, 62])
    assert cover.meets(">=", 1 + order.tolist().index(0)).tolist() == [False, False, True]
    ends = Coded(None, Decimal(90), "label", Decimal(1))
    cover, order = coverer(ends, pa.array([89, 90, 104]), pa.array(["89", "90+"]), Domain(low="0", high="104"))
    assert (cover.under.tolist(), cover.leaves.of.tolist()) == ([[0, 1, 2, 2]], [105, 1, 15])


def test_what_a_hierarchy_lacks_is_told():
    bands = Generalised(Intervals(((Decimal(0), Decimal(50)),), None, Decimal(50), Decimal(1)), 1)
    cover, _ = coverer(bands, pa.array([-1, 20, 60]), pa.array(["[0, 50)"]), None)
    assert cover.lacking.tolist() == [False, True, False, False]
    cover, _ = coverer(FRUIT, pa.array(["apple", "plum"]), pa.array(["fruit"]), None)
    assert cover.lacking.tolist() == [False, False, True]

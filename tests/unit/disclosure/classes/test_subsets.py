from __future__ import annotations

import pytest

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.classes.subsets import smallest_classes


def test_every_combination_of_up_to_three_of_twelve_is_looked_at(case, table_of):
    rows = case("l03")
    table = table_of([tuple(row.values()) for row in rows], list(rows[0]))
    report = smallest_classes(table, 3, k=3)
    assert len(report.combinations) == 298
    assert report.by_size() == ((1, 12, 13, 0), (2, 66, 3, 0), (3, 220, 1, 135))
    assert len(report.combinations) + report.not_looked_at == 4095
    everything = smallest_classes(table, 12, k=3)
    assert (everything.not_looked_at, len(everything.combinations)) == (0, 4095)
    assert (everything.combinations[-1].smallest, everything.combinations[-1].records_below) == (1, 64)


def test_the_order_of_columns_does_not_matter(case, table_of):
    rows = case("l03")
    names = list(rows[0])
    table = table_of([tuple(row.values()) for row in rows], names)
    shuffled = table_of([tuple(row[name] for name in names[::-1]) for row in rows], names[::-1])
    assert smallest_classes(table, 2, 3) == smallest_classes(shuffled, 2, 3)
    assert smallest_classes(table, 2, 3, names[4:1:-1]) == smallest_classes(table, 2, 3, names[2:5])


def test_more_columns_than_there_are_is_all_of_them(table_of):
    report = smallest_classes(table_of([(1, 1)]), 5, k=2)
    assert (report.up_to, report.not_looked_at) == (2, 0)


def test_records_without_a_value_in_the_combination_are_lost(table_of):
    table = table_of([(1, None), (1, 2), (1, 2)])
    assert [found.smallest for found in smallest_classes(table, 1, k=2).combinations] == [3, 2]
    assert [found.smallest for found in smallest_classes(table, 1, k=2, residual="class").combinations] == [3, 1]


def test_persons_are_counted_where_asked(table_of):
    table = table_of([(1,), (1,)], persons=["p", "p"])
    assert smallest_classes(table, 1, k=2).failing == ()
    assert smallest_classes(table, 1, k=2, persons=True).failing[0].smallest == 1


def test_combinations_too_large_for_a_table_of_all_tuples_are_sorted(table_of):
    table = table_of([(1, 1), (1, 2), (2, 2), (2, 2)])
    wide = table.codes.copy()
    wide[:, 0] *= 100_000
    wide[:, 1] *= 1_000
    spread = ClassTable(table.columns, wide, table.counts)
    assert smallest_classes(spread, 2, 2) == smallest_classes(table, 2, 2)


@pytest.mark.parametrize(("up_to", "k"), [(0, 2), (1, 0)])
def test_nothing_to_look_at_is_refused(table_of, up_to, k):
    with pytest.raises(ValueError, match="at least 1"):
        smallest_classes(table_of([(1,)]), up_to, k)

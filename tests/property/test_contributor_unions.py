"""What whoever is alone in a suppressed cell works out from several totals: no union of the others breaks a rule.

The attacker is that of ``table_attacker.py``, which shares no function with the product, and is given the cell of one contributor as if it were printed.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables import attack_assessment, unions
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.linked import linked
from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
from privrelease.disclosure.tables.rules import CellRules
from privrelease.disclosure.tables.secondary import suppressed_cells
from privrelease.relational.tables import Contributions
from tests.property.table_attacker import Attacker, broken

SQUARE, CUBE = (4, 4), (3, 2, 2)
#: The minimum count, and the rule of sums.
RULES = (
    (5, {}),
    (3, {"p_percent": Fraction(1, 5)}),
    (3, {"dominance": (1, Fraction(8, 10))}),
    (4, {"dominance": (2, Fraction(85, 100))}),
)
#: The least and the largest value, where values may be negative.
SIGNED = (-100, 100)


def system(dice, shape, *, repeated, signed):
    """Records (person, keys, value): many cells of one person, of a few, and of many; where ``repeated``, some persons are in several cells."""
    records, many = [], 0
    for atom in product(*map(range, shape)):
        size = int(dice.choice((0, 1, 1, 2, 3, 4, 6, 9)))
        for _ in range(size):
            again = repeated and many > 3 and dice.random() < 0.25
            person = int(dice.integers(4)) if again else many
            many += not again
            value = int(dice.integers(60, 100)) if dice.random() < 0.2 else int(dice.integers(1, 30))
            if not any(one[:2] == (person, atom) for one in records):
                records.append((person, atom, -value if signed and dice.random() < 0.5 else value))
    return records


def fetcher(records):
    """Cells of queries, as an auditor adds them up."""

    def fetch(asked):
        cells = np.zeros(len(records), np.int64)
        for name, size in zip(asked.by, asked.inner, strict=False):
            cells = cells * size + np.array([atom["abc".index(name)] for _, atom, _ in records], np.int64)
        for _ in asked.members:
            cells = cells * 2
        persons, ones = np.array([person for person, _, _ in records]), np.ones(len(records), np.int64)
        values = np.array([[value for _, _, value in records]], np.int64)[: len(asked.sums)]
        return cells_of(Contributions(cells, persons, ones, values, np.ones_like(values), 0), asked)

    return fetch


def cells_of_box(shape):
    """The atoms of every cell, totals included, in the order of the box."""
    atoms = list(product(*map(range, shape)))
    sides = [(*range(size), None) for size in shape]
    return [
        frozenset(atom for atom in atoms if all(key in {None, mine} for key, mine in zip(place, atom, strict=True)))
        for place in product(*sides)
    ]


def table_of(seed, shape):
    """Records, rules, and the table of both."""
    dice = np.random.default_rng(seed)
    min_count, rules = RULES[seed % len(RULES)]
    signed = not rules and bool(seed // 4 % 2)
    repeated = bool(seed // 8 % 2)
    records = system(dice, shape, repeated=repeated, signed=signed)
    keys = tuple(tuple(map(str, range(size))) for size in shape)
    sums = (PrintedSum("x", *(SIGNED if signed else (0, 100))),)
    printed = PrintedTable(tuple("abc"[: len(shape)]), keys, sums=sums, counted=bool(seed // 16 % 2))
    most = len(list(product(*map(range, shape)))) if repeated else 1
    return records, min_count, rules, linked([printed], CellRules(min_count, **rules), "id", most, fetcher(records)).table


def learnt(records, shape, pattern, min_count, rules, widest=4):
    """The unions without them that those who are alone in suppressed cells know, and that break a rule."""
    atoms, cells = list(product(*map(range, shape))), cells_of_box(shape)
    hidden = [cell for cell, out in zip(cells, pattern, strict=True) if out]
    printed = [cell for cell, out in zip(cells, pattern, strict=True) if not out]
    theirs = {}
    for cell in hidden:
        persons = {person for person, atom, _ in records if atom in cell}
        if len(persons) == 1:
            theirs.setdefault(persons.pop(), []).append(cell)
    found = []
    for person, mine in theirs.items():
        attacker = Attacker(records, atoms, [*printed, *mine], [cell for cell in hidden if cell not in mine], SIGNED)
        for union in attacker.known_unions("sum", widest):
            rule = broken(attacker.contributions("sum", union), min_count=min_count, **rules)
            if rule is not None:
                found.append((person, rule, sorted(union)))
    return found


def judged(seed, shape):
    """What contributors learn of a table; None where nothing protects it."""
    records, min_count, rules, table = table_of(seed, shape)
    pattern = suppressed_cells(table)
    return None if any(True for _ in weaknesses(table, pattern)) else learnt(records, shape, pattern, min_count, rules)


def count_of_passing(seeds, shape):
    passing = 0
    for seed in seeds:
        found = judged(seed, shape)
        assert not found, (seed, found)
        passing += found is not None
    return passing


def without(monkeypatch):
    """Judge as if no one knew the cell that they fill alone, where it takes several totals."""
    monkeypatch.setattr(attack_assessment, "_unions_of_contributors", lambda *_: iter(()))


#: Three by three; by cell, its persons. Suppressed are seven cells and two totals of rows; column 0 + column 2 - row 0 and the printed cells give
#: cells 3, 6 and 8, of three rows and columns.
PERSONS = (4, 9, 4, 1, 4, 9, 2, 3, 2)
HIDDEN = (0, 2, 4, 5, 8, 9, 10, 7, 11)
#: Each cell is uncertain enough, and their sum says too much of the largest.
LARGE = {3: (90,), 6: (18, 10), 8: (99, 9)}


def by_hand(min_count, rules, values):
    """Records of :data:`PERSONS` with the values of each cell, and their table, which prints sums alone."""
    records = [
        (10 * cell + i, (cell // 3, cell % 3), value)
        for cell, many in enumerate(PERSONS)
        for i, value in enumerate(values.get(cell, (20,) * many))
    ]
    keys = ("0", "1", "2")
    printed = PrintedTable(("a", "b"), (keys, keys), sums=(PrintedSum("x"),), counted=False)
    return records, linked([printed], CellRules(min_count, **rules), None, 1, fetcher(records)).table


@pytest.mark.parametrize("limit", [120, 0])  # 0: only pairs and threes of cells are looked at
@pytest.mark.parametrize(
    ("min_count", "rules", "values", "broken_rule"),
    [
        (5, {}, {}, "min_count"),  # 1 + 2 + 2 persons; without the first four
        (3, {"p_percent": Fraction(1, 5)}, LARGE, "p_percent"),  # 10 + 9 < 20 % of 99
        (3, {"dominance": (2, Fraction(85, 100))}, LARGE, "dominance"),  # 99 + 18 > 85 % of 136
    ],
)
def test_who_is_alone_in_a_union_over_several_totals_knows_the_rest(min_count, rules, values, broken_rule, limit, monkeypatch):
    monkeypatch.setattr(unions, "MOST_CELLS", limit)
    records, table = by_hand(min_count, rules, values)
    pattern = np.zeros(16, bool)
    pattern[[*HIDDEN]] = True
    rest = [(2, 0), (2, 2)]
    assert (30, broken_rule, rest) in learnt(records, (3, 3), pattern, min_count, rules)
    everybody = Attacker(
        records,
        list(product(range(3), repeat=2)),
        *([cell for cell, out in zip(cells_of_box((3, 3)), pattern, strict=True) if out == hidden] for hidden in (False, True)),
        SIGNED,
    )
    assert not [one for one in everybody.known_unions("sum", 4) if one <= {(1, 0), *rest} and len(one) < 3]
    found = [(weak.kind, weak.cells, weak.held) for weak in weaknesses(table, pattern)]
    assert found == [("group", (8, 10), (4,))]
    repaired = suppressed_cells(table, hidden=pattern)
    assert repaired[pattern].all()
    assert not list(weaknesses(table, repaired))
    assert not learnt(records, (3, 3), repaired, min_count, rules)
    without(monkeypatch)
    assert not list(weaknesses(table, pattern))


def test_for_counts_no_one_is_taken_to_know_that_they_are_alone():
    """The same table prints counts alone: 1 + 2 + 2 persons are enough."""
    records, _ = by_hand(5, {}, {})
    keys = ("0", "1", "2")
    table = linked([PrintedTable(("a", "b"), (keys, keys))], CellRules(5), None, 1, fetcher(records)).table
    pattern = np.zeros(16, bool)
    pattern[[*HIDDEN]] = True
    assert not [weak for weak in weaknesses(table, pattern) if weak.held]


#: Square tables of which our suppression left such a union as long as it was not looked at: of too few, p-percent and dominance.
LEFT = (26, 45, 58)


def test_no_union_without_whoever_is_alone_breaks_a_rule():
    assert count_of_passing(LEFT, SQUARE) == len(LEFT)


@pytest.mark.parametrize(("seed", "rule"), [(26, "min_count"), (45, "p_percent"), (58, "dominance")])
def test_without_the_rule_the_attacker_finds_such_a_union(seed, rule, monkeypatch):
    without(monkeypatch)
    assert rule in [one[1] for one in judged(seed, SQUARE)]


@pytest.mark.slow
def test_no_union_of_60_such_tables_breaks_a_rule():
    assert count_of_passing(range(60), SQUARE) > 50


@pytest.mark.slow
def test_no_union_of_three_columns_breaks_a_rule():
    assert count_of_passing(range(8), CUBE) > 6

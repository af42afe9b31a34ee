"""Secondary suppression against a naive baseline: cells suppressed, weaknesses left, and CPU seconds, on made-up tables with all totals.

Naive: the unsafe cells, and whole lines of them until no line with a printed total has a single suppressed cell, as one would by hand. That
leaves cells that several subtractions give back, and small groups; ours leaves none where cells with someone in them can protect the unsafe ones.
Then three tables in a ring (a by b, b by c, c by a), and two tables of three columns that have two in common (a by b by c, b by c by d), with sums
under p-percent and an `interval`: the judge there spends its time on what contributors of some cells learn of others. Where every cell with someone
in it is suppressed and the judge still objects, no pattern is safe.

Last, 24 fixed tables of ``suppression_tables.json`` against the optimum of a program of the tests (``tests/property/table_optimum.py``): persons
and cells lost. At most 15 CPU seconds a table, 60 in all, and 3 % above the optimum on the mean of those whose optimum the judge calls safe.
"""

from __future__ import annotations

import json
import time
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from measure import machine, print_table

from privrelease.audit.tables.table_recount import cells_of
from privrelease.disclosure.tables import secondary
from privrelease.disclosure.tables.attack_assessment import weaknesses
from privrelease.disclosure.tables.figures import ProtectedTable, SumFigure
from privrelease.disclosure.tables.layout import Layout
from privrelease.disclosure.tables.linked import linked
from privrelease.disclosure.tables.published_table import PrintedSum, PrintedTable
from privrelease.disclosure.tables.rules import CellRules, Magnitude
from privrelease.disclosure.tables.secondary import suppressed_cells, suppression
from privrelease.relational.tables import Contributions, TableCells, TableQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Shape, mean of the counts, sums beside the counts.
TABLES = (
    ((20, 20), 30, 0),
    ((43, 43), 30, 0),
    ((43, 43), 120, 0),
    ((43, 43), 120, 1),
    ((5, 5, 5, 5), 60, 0),
    ((11, 11, 11), 120, 0),
)
RULES = CellRules(10)
#: Keys of each column, rows, whether there is a sum.
RINGS = ((4, 300, False), (6, 216, False), (6, 800, False), (6, 800, True))
#: Keys of each column, rows.
PAIRS = ((4, 800), (4, 2000), (5, 2000))


def with_totals(inner: np.ndarray) -> np.ndarray:
    """Add a total along every side."""
    for side in range(inner.ndim):
        inner = np.concatenate([inner, inner.sum(axis=side, keepdims=True)], axis=side)
    return inner.reshape(-1)


def made_up(shape: tuple[int, ...], mean: float, sums: int) -> ProtectedTable:
    """Skewed counts, a sum of values up to 100 each."""
    dice = np.random.default_rng(1)
    inner = dice.negative_binomial(1, 1 / (1 + mean), shape)
    counts = with_totals(inner)
    values = [with_totals(inner * dice.integers(20, 60, shape)) for _ in range(sums)]
    figures = tuple(SumFigure(Magnitude(one, np.zeros((len(one), 0), np.int64)), 0, 100) for one in values)
    return ProtectedTable(Layout(shape, margins=True), RULES, counts, counts, figures)


def naive(table: ProtectedTable) -> np.ndarray:
    """Suppress the smallest further cell of every line that has a single suppressed one, until there is none."""
    suppressed = np.logical_or.reduce(list(table.primaries().values()))
    while True:
        alone = [one for one in table.layout.relations if int(suppressed[list(one.cells)].sum()) == 1]
        if not alone:
            return suppressed
        for one in alone:
            open_ = [cell for cell in one.cells if not suppressed[cell] and table.rows[cell] > 0]
            if int(suppressed[list(one.cells)].sum()) == 1 and open_:
                suppressed[min(open_, key=lambda cell: (table.rows[cell], cell))] = True
        if all(not [cell for cell in one.cells if not suppressed[cell] and table.rows[cell] > 0] for one in alone):
            return suppressed


def of_rows(sides: Sequence[str], keys: int, values: np.ndarray, columns: np.ndarray, rules: CellRules) -> ProtectedTable:
    """Tables of the same rows, one for each of ``sides``, a letter for each column; with a sum of ``values`` where the rules protect sums."""
    names = tuple(map(str, range(keys)))

    def fetch(asked: TableQuery) -> TableCells:
        cells = np.zeros(len(values), np.int64)
        for name, size in zip(asked.by, asked.inner, strict=False):
            cells = cells * size + columns["abcd".index(name)]
        cells *= 2 ** len(asked.members)  # every row is a member
        added = np.tile(values, (len(asked.sums), 1))
        ones = np.ones(len(values), np.int64)
        return cells_of(Contributions(cells, np.arange(len(values)), ones, added, np.ones_like(added), 0), asked)

    printed = () if rules.p_percent is None else (PrintedSum("x", 0, None if rules.interval else 50),)
    tables = [PrintedTable(tuple(by), (names,) * len(by), sums=printed) for by in sides]
    return linked(tables, rules, None, 1, fetch).table


def ring(keys: int, rows: int, *, sums: bool) -> ProtectedTable:
    """Three tables of the same rows, each of two of three columns, skewed; p-percent protects sums."""
    dice = np.random.default_rng(1)
    columns = np.array([dice.choice(keys, rows, p=dice.dirichlet(np.ones(keys))) for _ in "abc"])
    rules = CellRules(5, p_percent=Fraction(1, 10) if sums else None)
    return of_rows(("ab", "bc", "ca"), keys, dice.integers(0, 50, rows), columns, rules)


def pair(keys: int, rows: int) -> ProtectedTable:
    """Two tables of the same rows, with sums of skewed values that must stay uncertain by a fifth."""
    dice = np.random.default_rng(1)
    columns = np.array([dice.choice(keys, rows, p=dice.dirichlet(np.full(keys, 2.0))) for _ in "abcd"])
    values = np.ceil(dice.lognormal(3, 1.2, rows)).astype(np.int64)
    return of_rows(("abc", "bcd"), keys, values, columns, CellRules(5, p_percent=Fraction(1, 10), interval=Fraction(1, 5)))


def against_the_optimum(price: str) -> None:
    """Print what the fixed tables lose, by ``price`` (persons or cells), next to the heuristic alone and the optimum."""
    found = json.loads((Path(__file__).parent / "suppression_tables.json").read_text(encoding="utf-8"))
    rows, seconds, above = [], [], []
    for one in found["tables"]:
        counts = with_totals(np.array(one["counts"]).reshape(one["shape"]))
        table = ProtectedTable(Layout(tuple(one["shape"]), margins=True), CellRules(found["min_count"]), counts, counts)
        with patch.object(secondary, "is_small_enough", return_value=False):
            heuristic = suppression(table, prefer=price)
        start = time.process_time()
        ours = suppression(table, prefer=price)
        seconds.append(time.process_time() - start)
        weak = sum(1 for _ in weaknesses(table, ours.suppressed))
        least = "-" if ours.least is None else str(ours.least)
        row = [one["name"], str(heuristic.lost), str(ours.lost), str(weak), least]
        if price in one:
            best, pattern = one[price]["cost"], np.zeros(len(counts), np.bool_)
            pattern[one[price]["suppressed"]] = True
            safe = not any(True for _ in weaknesses(table, pattern))
            shares = [lost / best - 1 for lost in (heuristic.lost, ours.lost)]
            above += [shares] if safe else []
            row += [str(best), "yes" if safe else "no", f"{shares[1]:.1%}"]
        else:
            row += ["-", "-", "-" if ours.least is None else f"at most {ours.lost / ours.least - 1:.1%}"]
        rows.append([*row, f"{seconds[-1]:.2f}"])
    head = ["table", "heuristic alone", "ours", "weak", "proven least", "optimum", "it is safe", "above it", "CPU s"]
    print_table(f"Fewest {price}", head, rows)
    before, after = np.mean(above, axis=0)
    print(f"\nAbove a safe optimum, mean of {len(above)}: {after:.1%} (heuristic alone: {before:.1%}).", end=" ")
    print(f"CPU s: {sum(seconds):.1f} in all, {max(seconds):.1f} at most.")


def main() -> None:
    """Print a line for each table, for each ring, and for each table with a known optimum."""
    for price in ("persons", "cells"):
        against_the_optimum(price)
    rows = []
    for shape, mean, sums in TABLES:
        table = made_up(shape, mean, sums)
        line = [" x ".join(map(str, shape)) + (" with a sum" if sums else ""), str(table.layout.size)]
        line.append(str(int(np.logical_or.reduce(list(table.primaries().values())).sum())))
        for method in (naive, suppressed_cells):
            start = time.process_time()
            pattern = method(table)
            spent = time.process_time() - start
            line += [str(int(pattern.sum())), str(sum(1 for _ in weaknesses(table, pattern))), f"{spent:.2f}"]
        rows.append(line)
    head = [
        "table",
        "cells",
        "unsafe",
        *(f"{who}: {what}" for who, what in product(("naive", "ours"), ("suppressed", "weak", "CPU s"))),
    ]
    print_table(f"Secondary suppression, {machine()}", head, rows)
    head = ["tables", "with someone", "suppressed", "weak", "repair, CPU s", "judge, CPU s"]
    in_rings = [
        timed(f"{keys} keys, {count} rows" + (" with a sum" if sums else ""), ring(keys, count, sums=sums))
        for keys, count, sums in RINGS
    ]
    print_table("Three tables in a ring", head, in_rings)
    in_pairs = [timed(f"{keys} keys, {count} rows", pair(keys, count)) for keys, count in PAIRS]
    print_table("Two tables of three columns, with a sum and an interval", head, in_pairs)


def timed(name: str, table: ProtectedTable) -> list[str]:
    """Suppress and judge a table, each timed."""
    start = time.process_time()
    pattern = suppressed_cells(table)
    repaired = time.process_time()
    weak = sum(1 for _ in weaknesses(table, pattern))
    judged = time.process_time()
    someone = int((table.contributors > 0).sum())
    return [name, str(someone), str(int(pattern.sum())), str(weak), f"{repaired - start:.2f}", f"{judged - repaired:.2f}"]


if __name__ == "__main__":
    main()

"""The cost of a cell: a weight of its column, or the information that it holds, in whole numbers.

A cell of value v in column j tells b = -log2 f_j(v) bits, f_j(v) the share of v among the source's records (persons, where several records
are of one), a missing value being one of the values. A reader of a suppressed cell lacks b bits if they take it for any cell of the column,
and about as many as the column's cells tell on average, h_j, if they take it for one of the suppressed cells, which is how ARX counts. The
cost is the mean of both to a power: ((h_j + b) / 2)^p. A power of 1 counts bits, 0 counts cells; see ``POWERS``.

Costs become whole numbers once, in units of 2^-16, rounded half up in decimal arithmetic: what a solver then adds and compares is the
same on every machine. Source of b: non-uniform entropy of de Waal, Willenborg, Information loss through global recoding and local
suppression, Netherlands Official Statistics 14 (1999).
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from math import lcm
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from privrelease.disclosure.classes.persons import times_of
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable

__all__ = ["CellCosts", "Preference", "cell_costs", "value_costs"]

Preference = Literal["cells", "balanced", "information"]

#: The power of a cell's bits that is its cost, by preference; measured in docs/decisions/0024-which-cells-are-suppressed-first.md.
POWERS = {"balanced": Decimal("0.3"), "information": Decimal("0.7")}

_UNITS = 1 << 16
_EXACT = Context(prec=40)
#: Costs of all cells together stay below this, so that sums of them and their doubles fit 64 bits.
_MOST = 1 << 58


@dataclass(frozen=True, eq=False, slots=True)
class CellCosts:
    """``column`` q whole numbers: the cost of a cell of each column, on average. ``value``: where values cost differently, per column the
    cost of each code (0, missing: nothing); None where a column's cells all cost the same.
    """

    column: tuple[int, ...]
    value: tuple[NDArray[np.int64], ...] | None = None

    def of_classes(self, table: ClassTable, columns: tuple[int, ...], classes: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return what the cells of ``columns`` of ``classes`` (m,) cost: (m, q), or (1, q) where it is the same for all."""
        if self.value is None:
            return np.array([[self.column[column] for column in columns]], np.int64).reshape(1, len(columns))
        cost = np.empty((len(classes), len(columns)), np.int64)
        for place, column in enumerate(columns):
            cost[:, place] = self.value[column][table.codes[classes, column]]
        return cost

    def total(
        self, table: ClassTable, classes: NDArray[np.integer[Any]], records: NDArray[np.integer[Any]], lost: NDArray[np.bool_]
    ) -> int:
        """Return what ``lost`` (m, q) cells of ``records`` (m,) records of ``classes`` (m,) cost together."""
        total = 0
        for column, cost in enumerate(self.column):
            gone = np.flatnonzero(lost[:, column])
            codes, many = table.codes[classes[gone], column], records[gone]
            total += cost * int(many[codes > 0].sum()) if self.value is None else int((self.value[column][codes] * many).sum())
        return total


def value_costs(
    counts: NDArray[np.int64], total: int, weight: Fraction, power: Decimal, units: int = _UNITS
) -> NDArray[np.int64]:
    """Return the cost of a cell of each code: weight · ((h + b) / 2)^power in units of 1/``units``, rounded half up, at least 1.

    ``counts`` (v,): how many of ``total`` records have each code; code 0 is missing and costs nothing.

    >>> from fractions import Fraction
    >>> value_costs(np.array([0, 2, 1, 1]), 4, Fraction(1), Decimal(1), units=8).tolist()
    [0, 10, 14, 14]
    """
    distinct, place, codes = np.unique(counts[1:], return_inverse=True, return_counts=True)
    whole, two = _EXACT.ln(Decimal(max(1, total))), _EXACT.ln(Decimal(2))
    bits = [_EXACT.divide(_EXACT.subtract(whole, _EXACT.ln(Decimal(max(1, count)))), two) for count in distinct.tolist()]
    cells, told = 0, Decimal(0)
    for count, of_count, own in zip(distinct.tolist(), codes.tolist(), bits, strict=True):
        cells += count * of_count
        told = _EXACT.fma(Decimal(count * of_count), own, told)
    mean = _EXACT.divide(told, Decimal(max(1, cells)))
    factor = _EXACT.divide(Decimal(weight.numerator * units), Decimal(weight.denominator))
    costs = np.ones(len(distinct), np.int64)
    for which, own in enumerate(bits):
        worth = _EXACT.divide(_EXACT.add(mean, own), Decimal(2))
        if worth > 0:
            cost = _EXACT.multiply(factor, _EXACT.power(worth, power))
            costs[which] = max(1, int(cost.to_integral_value(ROUND_HALF_UP)))
    return np.concatenate([np.zeros(1, np.int64), costs[place]])


def cell_costs(table: ClassTable, weights: tuple[Fraction, ...], prefer: Preference) -> CellCosts:
    """Return what the cells of ``table`` cost under a preference; ``weights`` multiply, one for each column."""
    if prefer == "cells":
        scale = lcm(*(weight.denominator for weight in weights)) if weights else 1
        return CellCosts(tuple(int(weight * scale) for weight in weights))
    counts, total = _frequencies(table)
    units = _UNITS
    # A weight above what 64 bits take of it: costs are relative, so all are divided by one power of two.
    while units > 1 and sum(weights) * 64 * units * max(1, table.n_records) >= _MOST:
        units //= 2
    value = tuple(
        value_costs(of_column, total, weight, POWERS[prefer], units) for of_column, weight in zip(counts, weights, strict=True)
    )
    column = []
    for place, costs in enumerate(value):
        known = table.codes[:, place] > 0
        lost = int((costs[table.codes[:, place]] * table.counts).sum())
        column.append(max(1, lost // max(1, int(table.counts[known].sum()))))
    return CellCosts(tuple(column), value)


def _frequencies(table: ClassTable) -> tuple[list[NDArray[np.int64]], int]:
    """Return how many records (persons, where the table has them) have each code of each column, and how many there are."""
    persons, classes = table.pairs_person, table.pairs_class
    if persons is None or classes is None:
        return [_counted(table.codes[:, column], table.counts) for column in range(len(table.columns))], table.n_records
    span = int(persons.max(initial=0)) + 1
    counts = []
    for column in range(len(table.columns)):
        seen = np.unique(table.codes[classes, column].astype(np.int64) * span + persons)
        counts.append(_counted(seen // span, times_of(table, seen % span)))
    return counts, int(times_of(table, np.unique(persons).astype(np.int64)).sum())


def _counted(codes: NDArray[np.integer[Any]], members: NDArray[np.int64]) -> NDArray[np.int64]:
    totals = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    np.add.at(totals, codes, members)
    return totals

"""The coded domain of a synthetic release: cells of its columns, and the rules that no row breaks as masks over cells."""

from __future__ import annotations

from itertools import product
from math import floor, prod
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

from privrelease.relational.coded_columns import BinLabels, BinnedCells, DiscoveredCells, DiscoveredRange, ListedCells, value_of
from privrelease.relational.filters import Among, Both, Comparison, Either, Missing, Negated, columns_of
from privrelease.relational.schema import ColumnType
from privrelease.synthesis.domain import CodedColumn, CodedDomain, StructuralZero

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.filters import Filter, Value

__all__ = ["MOST_RULE_CELLS", "ZeroFault", "check_rules", "coded_domain"]

#: Most cells of the columns of one rule.
MOST_RULE_CELLS: Final = 100_000
#: Most cells of the columns of rules that are looked at together before any method does.
_LOOKED_AT: Final = 10_000_000


class ZeroFault(ValueError):  # noqa: N818  a fault of a text, as FilterFault is of a filter
    """Why a filter is no rule over cells. ``rule``: its number."""

    def __init__(self, rule: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.rule, self.message, self.hint = rule, message, hint


def coded_domain(columns: Sequence[CellsOf], impossible: Sequence[Filter] = ()) -> CodedDomain:
    """Return the domain of columns, whatever their order, and of rules over them. Raises ZeroFault."""
    ordered = sorted(columns, key=lambda one: one.column)
    coded = tuple(
        CodedColumn(
            one.column,
            BinLabels(one) if isinstance(one, BinnedCells) else one.labels,
            isinstance(one, BinnedCells | DiscoveredRange),
        )
        for one in ordered
    )
    zeros = tuple(_zero(number, rule, ordered) for number, rule in enumerate(impossible))
    return CodedDomain(coded, zeros)


def check_rules(columns: Sequence[CellsOf], impossible: Sequence[Filter]) -> None:
    """See that the rules are about whole cells and leave one, whatever values are discovered, before anything is spent. Raises ZeroFault.

    Of a column whose values are not known, stand-ins are tried between which no comparison of a rule can change: each text that a rule
    names, the one right after it, and the empty one. A cell is left for certain where one is left without any discovered value.
    """
    if not impossible:
        return
    for one in columns:
        if isinstance(one, DiscoveredRange):
            number = next((at for at, rule in enumerate(impossible) if any(True for _ in _literals(rule, one.column))), None)
            if number is not None:
                message = f"compares {one.column}, whose bins are not known before its bounds are bought"
                raise ZeroFault(number, message, "declare its range, or write a rule on whether it is missing (IS NULL)")
    columns = [one.found(*one.outer) if isinstance(one, DiscoveredRange) else one for one in columns]
    coded_domain([_stand_ins(one, impossible) if isinstance(one, DiscoveredCells) else one for one in columns], impossible)
    domain = coded_domain([one.found(()) if isinstance(one, DiscoveredCells) else one for one in columns], impossible)
    for places in _related([set(zero.columns) for zero in domain.zeros]):
        if prod(domain.sizes[place] for place in places) > _LOOKED_AT:
            continue  # each method looks again, at what it holds
        possible = domain.possible(places)
        if possible is not None and not possible.any():
            last = max(number for number, zero in enumerate(domain.zeros) if set(zero.columns) <= set(places))
            unknown = sorted(one.column for one in columns if isinstance(one, DiscoveredCells))
            where = f" where no value of {unknown[0]} is found" if unknown else ""
            hint = "remove one of them" + (": values that are not found count as missing" if unknown else "")
            raise ZeroFault(last, f"and those before it leave no cell that is possible{where}", hint)


def _stand_ins(column: DiscoveredCells, rules: Sequence[Filter]) -> ListedCells:
    texts = [str(value) for rule in rules for value in _literals(rule, column.column)]
    return column.found(tuple({"", *texts, *(f"{text}\0" for text in texts)}))


def _related(parts: list[set[int]]) -> list[list[int]]:
    """Columns that rules bring together."""
    found: list[set[int]] = []
    for part in parts:
        apart = [one for one in found if not one & part]
        found = [*apart, part.union(*(one for one in found if one & part))]
    return [sorted(one) for one in found]


def _zero(number: int, rule: Filter, columns: Sequence[CellsOf]) -> StructuralZero:
    import numpy as np

    names = [one.column for one in columns]
    places = tuple(sorted(names.index(name) for name in columns_of(rule)))
    sizes = tuple(columns[place].size for place in places)
    if prod(sizes) > MOST_RULE_CELLS:
        message = f"is about {prod(sizes)} cells, and a rule is about at most {MOST_RULE_CELLS}"
        raise ZeroFault(number, message, "write a rule over fewer columns, or give them coarser bins")
    sides = [[tuple(_points(cell, columns[place], rule)) for cell in range(columns[place].size)] for place in places]
    mask = np.zeros(sizes, np.bool_)
    for cells in product(*(range(size) for size in sizes)):
        values = product(*(side[cell] for side, cell in zip(sides, cells, strict=True)))
        said = {_truth(rule, dict(zip((names[place] for place in places), row, strict=True))) is True for row in values}
        if len(said) > 1:
            message = "holds for a part of a bin: a cell is possible as a whole, or not at all"
            raise ZeroFault(number, message, "move the bound of the rule to an edge of the bins, or the edge to the bound")
        mask[cells] = said == {True}
    return StructuralZero(places, mask)


def _points(cell: int, column: CellsOf, rule: Filter) -> Iterator[Value | None]:
    """Values of a cell between which no comparison of the rule can change; None for the missing one."""
    if cell == column.size - 1:
        yield None
    elif isinstance(column, BinnedCells):
        first, last = column.starts[cell], column.ends[cell]
        near = {floor(_step(value, column.grid)) + one for value in _literals(rule, column.column) for one in (-1, 0, 1)}
        for step in sorted({first, last} | {one for one in near if first <= one <= last}):
            yield value_of(step, column.type, column.grid)
    elif isinstance(column, ListedCells):
        text = column.values[cell]
        yield int(text) if column.type is ColumnType.INTEGER else text == "true" if column.type is ColumnType.BOOLEAN else text
    else:  # a value that is not known yet: the rule is looked at again when it is
        yield f"\0{cell}"


def _step(value: Value, grid: Fraction) -> Fraction:
    from datetime import date, datetime
    from fractions import Fraction

    if isinstance(value, datetime):
        return Fraction(round((value - datetime(1970, 1, 1)).total_seconds()))  # noqa: DTZ001 -- columns have no zone
    if isinstance(value, date):
        return Fraction((value - date(1970, 1, 1)).days)
    return Fraction(value) / grid


def _literals(rule: Filter, column: str) -> Iterator[Value]:
    match rule:
        case Both() | Either():
            yield from _literals(rule.left, column)
            yield from _literals(rule.right, column)
        case Negated(inner):
            yield from _literals(inner, column)
        case Comparison() if rule.column == column:
            yield rule.value
        case Among() if rule.column == column:
            yield from rule.values


def _truth(rule: Filter, row: dict[str, Value | None]) -> bool | None:
    """The truth of a filter, as in SQL: a comparison with a missing value is unknown."""
    match rule:
        case Both(left, right):
            sides = (_truth(left, row), _truth(right, row))
            return False if False in sides else None if None in sides else True
        case Either(left, right):
            sides = (_truth(left, row), _truth(right, row))
            return True if True in sides else None if None in sides else False
        case Negated(inner):
            found = _truth(inner, row)
            return None if found is None else not found
        case Missing(column):
            return row[column] is None
        case Among(column, values):
            return None if row[column] is None else row[column] in values
        case Comparison(column, operator, value):
            return None if row[column] is None else _compared(row[column], operator, value)


def _compared(left: Any, operator: str, right: Any) -> bool:  # noqa: ANN401  a value and a literal of its type
    tests = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
    return bool(tests[operator](left, right))

"""Columns of a synthetic release: the cells of those that are modelled, the patterns of those that are made up."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Final

from privrelease.policy.statistics.query_errors import Fault, fail
from privrelease.policy.text.messages import shown
from privrelease.relational.coded_columns import BinnedCells, DiscoveredCells, DiscoveredRange, ListedCells, step_of, value_of
from privrelease.relational.patterns import PatternFault, parse_pattern
from privrelease.relational.schema import ColumnType, Role
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from privrelease.policy.language.datasets import ColumnSpec
    from privrelease.policy.language.synthetic import CellBins, DiscoverSpec, SyntheticRelease
    from privrelease.relational.coded_columns import CellsOf
    from privrelease.relational.patterns import Pattern

__all__ = ["MadeColumn", "cells_of", "date_like", "made_column"]

_RANGED: Final = frozenset({ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE, ColumnType.DATETIME})
_TEXTS: Final = frozenset({ColumnType.STRING, ColumnType.CATEGORY})
#: The first year that a date format can say.
_FIRST_YEAR: Final = 1000
#: Most values that are read from the data, and most bins between bounds that are, where the policy does not say.
_MOST_FOUND: Final = 100
_MOST_BINS: Final = 20
#: Most cells of one column.
_MOST_VALUES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column of made-up texts. ``written``: the pattern as the policy writes it."""

    name: str
    written: str
    pattern: Pattern
    unique: bool


def made_column(release: SyntheticRelease, column: str) -> MadeColumn:
    """Return a column of made-up texts. Raises FaultError where its pattern is none, or has fewer texts than rows are asked for."""
    spec = release.make[column]
    try:
        pattern = parse_pattern(spec.pattern)
    except PatternFault as fault:
        hint = r"write characters, `\d` and classes such as [A-F0-9], each repeated by {n}"
        fail("P714", f"the pattern of {shown(column)} {fault}", "make", column, "pattern", hint=hint)
    if spec.unique and isinstance(release.rows, int) and release.rows > pattern.capacity:
        message = (
            f"the pattern of {shown(column)} has {pattern.capacity} different texts, and {release.rows} rows are asked for"
        )
        fail("P714", message, "make", column, "pattern", hint="write a longer pattern, or fewer rows")
    return MadeColumn(column, spec.pattern, pattern, spec.unique)


def cells_of(release: SyntheticRelease, number: int, column: str, spec: ColumnSpec) -> CellsOf:
    """Return the cells of a modelled column. Raises FaultError where the policy does not say which values it can hold."""
    name = shown(column)
    if spec.role is Role.DIRECT:
        message = f"{name} is a direct identifier: it is never modelled"
        fail("P721", message, "columns", number, hint=f"remove it, or make its texts up (`make: {{{column}: {{pattern: …}}}}`)")
    bins = release.bins.get(column)
    if column in release.discover:
        if spec.type not in _TEXTS | _RANGED or spec.domain is not None or bins is not None:
            message = f"{name} is declared already: neither its values nor its bounds are read from the data"
            fail("P715", message, "discover", column, hint="remove it here, or its domain and bins there", key=True)
        return _discovered(column, spec, release.discover[column])
    if spec.type in _RANGED and spec.domain is not None and spec.domain.range is not None:
        return _binned(column, spec, bins)
    if bins is not None:
        fail("P701", f"{name} has bins and no range", "bins", column, hint=f"write `domain: [lowest, highest]` for {name}")
    values = _values(spec)
    if values is None:
        message = f"{name} has no domain: its values are never read from the data for nothing"
        how = "`discover` (for a part of the budget), " if spec.type in _TEXTS else ""
        fail(
            "P700",
            message,
            "columns",
            number,
            hint=f"declare `domain: …` for {name}, or write {how}`make`, or remove the column",
        )
    return ListedCells(column, spec.type, tuple(sorted(set(values))))


def _discovered(column: str, spec: ColumnSpec, price: DiscoverSpec) -> CellsOf:
    """Cells of what is bought: texts that enough persons share, for a delta too, or bins between noisy bounds, which need none."""
    name = shown(column)
    if (spec.type in _TEXTS) != (price.delta is not None):
        if price.delta is None:
            message, hint = f"the values of {name} are not read without a delta", "write e.g. `delta: 1e-7`"
        else:
            message, hint = f"the bounds of {name} take no delta", "remove `delta`"
        fail("P723", message, "discover", column, hint=hint)
    if spec.type in _TEXTS:
        return DiscoveredCells(column, spec.type, price.at_most or _MOST_FOUND)
    return DiscoveredRange(column, spec.type, _grid(name, spec), price.at_most or _MOST_BINS)


def _grid(name: str, spec: ColumnSpec) -> Fraction:
    """The step on which values lie; 1 of dates, which have days or seconds."""
    if spec.type is ColumnType.NUMBER and spec.grid is None:
        hint = f"write e.g. `grid: 0.1` for {name}: the step on which its values lie"
        fail("P705", f"{name} has no grid: there are no values to draw from", "columns", hint=hint)
    if spec.type is ColumnType.INTEGER and spec.grid is not None and Fraction(spec.grid).denominator != 1:
        fail("P701", f"the grid of {name} is not whole, and its values are", "columns", hint=f"write e.g. `grid: 1` for {name}")
    return Fraction(1) if spec.grid is None or spec.type not in {ColumnType.NUMBER, ColumnType.INTEGER} else Fraction(spec.grid)


def _values(spec: ColumnSpec) -> tuple[str, ...] | None:
    if spec.type is ColumnType.BOOLEAN:
        return ("false", "true")
    if spec.domain is None or spec.domain.values is None:
        return None
    if spec.type is ColumnType.INTEGER:
        return tuple(str(int(value)) for value in spec.domain.values)
    return spec.domain.values if spec.type in _TEXTS else None


def _binned(column: str, spec: ColumnSpec, bins: CellBins | None) -> BinnedCells:
    name, grid = shown(column), _grid(shown(column), spec)
    assert spec.domain is not None
    assert spec.domain.range is not None
    try:
        low, high = (step_of(str(bound), spec.type, grid) for bound in spec.domain.range)
    except ValueError:
        fail("DP113", "the bounds are not valid", "columns")  # reported where they stand
    first, last = ceil(low), floor(high)
    if first > last:
        fail(
            "P701",
            f"the range of {name} holds no value on its grid",
            "bins",
            column,
            hint="widen the range, or use a finer grid",
        )
    _check_written(name, spec, (first, last))
    starts = _starts(column, spec, bins, grid, (first, last))
    return BinnedCells(column, spec.type, grid, starts, last)


def _check_written(name: str, spec: ColumnSpec, ends: tuple[int, int]) -> None:
    """Refuse dates that are not read as they are written: with a format, a year below 1000 is none."""
    written = spec.format is not None and spec.format.date is not None
    if written and spec.type in {ColumnType.DATE, ColumnType.DATETIME}:
        first = value_of(ends[0], spec.type, Fraction(1))
        if isinstance(first, date) and first.year < _FIRST_YEAR:
            message = f"the range of {name} begins before the year {_FIRST_YEAR}, and dates of a format are read from there on"
            fail(
                "P701",
                message,
                "columns",
                hint=f"begin the domain of {name} in {_FIRST_YEAR} or later, or leave out its format",
            )


def _starts(column: str, spec: ColumnSpec, bins: CellBins | None, grid: Fraction, ends: tuple[int, int]) -> tuple[int, ...]:
    """First steps of the bins: between multiples of a width, or from edge to edge; each holds a value of the range, and all hold all of it."""
    name, (first, last) = shown(column), ends
    timed = spec.type in {ColumnType.DATE, ColumnType.DATETIME}
    if bins is None:
        if last - first >= _MOST_VALUES:
            message = f"{name} has {last - first + 1} values, each a cell of its own"
            fail("P701", message, "columns", hint=f"write `bins: {{{column}: {{width: …}}}}`")
        return tuple(range(first, last + 1))
    if bins.width is not None:
        width = Fraction(bins.width) / (1 if timed else grid)
        if width.denominator != 1 or width < 1:
            fail("P701", f"the width is not a multiple of the grid of {name}", "bins", column, "width", hint="write a multiple")
        if (last - first) // width >= _MOST_VALUES:
            fail("P701", f"{name} has too many bins", "bins", column, "width", hint="write a larger width")
        wide = int(width)
        return (first, *range((first // wide + 1) * wide, last + 1, wide))
    assert bins.edges is not None
    edges = [_edge_step(name, column, spec, edge, grid) for edge in bins.edges]
    if any(left >= right for left, right in pairwise(edges)):
        fail("P701", f"the edges of {name} do not ascend", "bins", column, "edges", hint="write edges: [0, 10, 20]")
    if edges[0] > first or edges[-1] < last:
        message = f"the bins of {name} leave a gap: they do not cover its range"
        fail(
            "P701", message, "bins", column, "edges", hint="begin at the lowest value or below, and end at the highest or above"
        )
    found = [max(first, ceil(edge)) for edge in edges[:-1]]
    following = [*found[1:], last + 1]
    if any(start >= after for start, after in zip(found, following, strict=True)):
        message = f"a bin of {name} holds no value of its range"
        fail(
            "P701", message, "bins", column, "edges", hint="remove edges that are outside of the range or closer than its grid"
        )
    return tuple(found)


def _edge_step(name: str, column: str, spec: ColumnSpec, edge: Decimal | str, grid: Fraction) -> Fraction:
    """An edge in steps: of dates a day or moment, of numbers a number."""
    timed = spec.type in {ColumnType.DATE, ColumnType.DATETIME}
    step = None
    if timed == isinstance(edge, str):
        with suppress(ValueError):
            step = step_of(str(edge), spec.type, grid)
    if step is None:
        what, example = ("dates", "[2019-01-01, 2021-01-01]") if timed else ("numbers", "[0, 10, 20]")
        fail("P701", f"the edges of {name} are {what}", "bins", column, "edges", hint=f"write edges: {example}")
    return step


def date_like(number: int, column: str, spec: ColumnSpec) -> Iterator[Fault]:
    """Warn of whole numbers that look like dates: most numbers between two dates are none (case s01)."""
    from datetime import datetime

    if spec.type is not ColumnType.INTEGER or spec.domain is None or spec.domain.range is None:
        return
    try:
        for bound in spec.domain.range:
            datetime.strptime(str(bound), "%Y%m%d")  # noqa: DTZ007 -- only whether it is a day
    except ValueError:
        return
    if all(len(str(bound)) == 8 for bound in spec.domain.range):
        message = f"{shown(column)} looks like dates that are written as numbers: most numbers in its range are no dates"
        yield Fault("P722", message, ("columns", number), "declare `type: date, format: {date: '%Y%m%d'}`", warn=True)

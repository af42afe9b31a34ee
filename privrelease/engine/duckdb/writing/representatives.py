"""Representatives of values as expressions of the database, by declared recodings: rows stay in it.

Whole numbers and numbers on a grid are computed exactly, others as doubles; see :mod:`privrelease.relational.recoding`.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.storage_types import storage_type
from privrelease.relational.recoding import DatePart, Ends, Interval, Multiple, Prefix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from privrelease.relational.recoding import Recoding
    from privrelease.relational.schema import Column

__all__ = ["representative"]

#: Units beyond which whole numbers and numbers on a grid have no representative but an end.
_FAR = 2**62
#: Factors of a width beyond this are not distinguished as doubles.
_MOST_FACTOR = 2**52


def representative(recoding: Recoding, column: Column, cell: exp.Expr, apart: str | None = None) -> exp.Expr:
    """Return the representative of a cell of a column, of the column's own type; NULL where it has none.

    ``apart``: the table that holds the texts of a :class:`~privrelease.relational.recoding.Prefix` that represent themselves, in its column ``v``.
    """
    match recoding:
        case Interval(bounds, ends):
            return _Numbers(column, cell).interval(bounds, ends)
        case Ends():
            return _Numbers(column, cell).ends(recoding)
        case Multiple(to):
            return _Numbers(column, cell).multiple(to)
        case DatePart(unit):
            first = sql.integer(10 if unit == "decade" else 1)
            known = exp.Between(this=sql.call("year", cell.copy()), low=first, high=sql.integer(9999))
            begins = sql.cast(sql.call("date_trunc", sql.text(unit), cell.copy()), storage_type(column))
            return sql.when((known, begins))
        case Prefix(length):
            first = sql.call("substring", cell.copy(), sql.integer(1), sql.integer(length))
            long = exp.GTE(this=sql.call("length", cell.copy()), expression=sql.integer(length))
            if apart is None:
                return sql.when((long, first))
            named = exp.In(
                this=cell.copy(), query=exp.select(sql.column("v")).from_(sql.table(apart), copy=False).subquery(copy=False)
            )
            return sql.when((named, cell.copy()), (long, first))
    message = "a lookup has no representatives"
    raise ValueError(message)


class _Numbers:
    """Arithmetic of a cell in the type that its column is stored in; decimals have 38 digits, so that no step of it ends outside them."""

    def __init__(self, column: Column, cell: exp.Expr) -> None:
        self._stored = storage_type(column)
        self._double = self._stored == "DOUBLE"
        decimal = self._stored.startswith("DECIMAL")
        self._scale = int(self._stored.rstrip(")").rpartition(" ")[2]) if decimal else 0
        self._exact = f"DECIMAL(38, {self._scale})" if decimal else self._stored
        self._cell = sql.cast(cell, self._exact) if decimal else cell

    @property
    def cell(self) -> exp.Expr:
        return self._cell.copy()

    def _number(self, number: Decimal | float) -> exp.Expr:
        written = repr(float(number)) if self._double else format(number, "f")
        return sql.cast(sql.text(written), self._exact)

    def _finite(self) -> exp.Expr:
        return sql.call("isfinite", self.cell)

    def _near(self) -> exp.Expr:
        if self._double:
            return self._finite()
        from decimal import Decimal

        far = Decimal(_FAR).scaleb(-self._scale)
        return exp.and_(
            exp.GT(this=self.cell, expression=self._number(-far)), exp.LT(this=self.cell, expression=self._number(far))
        )

    def _at_ends(self, ends: Ends) -> list[tuple[exp.Expr, exp.Expr]]:
        """Return conditions under which a value is at an end, and what represents it there."""
        found: list[tuple[exp.Expr, exp.Expr]] = []
        if ends.top is not None:
            found.append((exp.GTE(this=self.cell, expression=self._number(ends.top)), self._number(ends.top)))
        if ends.bottom is not None:
            lower = -sys.float_info.max if self._double else ends.bottom - 1
            found.append((exp.LT(this=self.cell, expression=self._number(ends.bottom)), self._number(lower)))
        return [(exp.and_(self._finite(), test), one) for test, one in found] if self._double else found

    def _chosen(self, *cases: tuple[exp.Expr, exp.Expr]) -> exp.Expr:
        return sql.cast(sql.when(*cases), self._stored)

    def ends(self, ends: Ends) -> exp.Expr:
        """Return the cell, but for the ends."""
        own = _plus(self.cell, self._number(0.0)) if self._double else self.cell  # -0.0 and 0.0 are one value
        return self._chosen(*self._at_ends(ends), (self._near(), own))

    def interval(self, bounds: Decimal | tuple[Decimal, ...], ends: Ends) -> exp.Expr:
        """Return the lowest value of the cell's interval."""
        if isinstance(bounds, tuple):
            inside = exp.and_(
                exp.GTE(this=self.cell, expression=self._number(bounds[0])),
                exp.LT(this=self.cell, expression=self._number(bounds[-1])),
            )
            return self._chosen(*self._at_ends(ends), (exp.and_(self._near(), inside), self._edge(bounds[:-1])))
        low, known = self._multiple_of(bounds) if self._double else (_minus(self.cell, self._rest(bounds)), self._near())
        if ends.bottom is not None:
            low = sql.call("greatest", low, self._number(ends.bottom))
        return self._chosen(*self._at_ends(ends), (known, low))

    def _edge(self, edges: Sequence[Decimal]) -> exp.Expr:
        """Return the last of ascending edges that a cell is not below, by bisection; the first where it is below all."""
        if len(edges) == 1:
            return self._number(edges[0])
        half = len(edges) // 2
        upper = exp.GTE(this=self.cell, expression=self._number(edges[half]))
        return sql.when((upper, self._edge(edges[half:])), otherwise=self._edge(edges[:half]))

    def _rest(self, width: Decimal) -> exp.Expr:
        """Return how much an exact cell is above the multiple of a width at or below it."""
        rest = exp.Paren(this=exp.Mod(this=self.cell, expression=self._number(width)))
        negative = exp.LT(this=rest.copy(), expression=sql.integer(0))
        return exp.Paren(this=sql.when((negative, _plus(rest.copy(), self._number(width))), otherwise=rest))

    def _multiple_of(self, width: Decimal) -> tuple[exp.Expr, exp.Expr]:
        """Return the double nearest to the multiple of a width at or below a double, and the condition under which it is known.

        Division may end one multiple too high or too low: the factor is corrected by the doubles that multiples are.
        """
        exact = Fraction(width)

        def multiple(factor: exp.Expr) -> exp.Expr:
            times = exp.Paren(this=exp.Mul(this=factor, expression=self._number(exact.numerator)))
            return exp.Paren(this=exp.Div(this=times, expression=self._number(exact.denominator)))

        def corrected(factor: exp.Expr, test: exp.Expr, by: float) -> exp.Expr:
            return exp.Paren(this=_plus(factor, sql.when((test, self._number(by)), otherwise=self._number(0.0))))

        factor: exp.Expr = sql.call("floor", exp.Div(this=self.cell, expression=self._number(width)))
        factor = corrected(factor, exp.LT(this=self.cell, expression=multiple(factor.copy())), -1.0)
        after = exp.Paren(this=_plus(factor.copy(), self._number(1.0)))
        factor = corrected(factor, exp.GTE(this=self.cell, expression=multiple(after)), 1.0)
        few = exp.LT(this=exp.Abs(this=factor.copy()), expression=self._number(float(_MOST_FACTOR)))
        return _plus(multiple(factor), self._number(0.0)), exp.and_(self._finite(), few)

    def multiple(self, to: Decimal) -> exp.Expr:
        """Return the nearest multiple of an exact cell, that with an even factor where two are as near.

        The rest above a multiple of an even factor is compared with one and three halves.
        """
        rest = self._rest(to + to)
        twice = exp.Paren(this=_plus(rest, rest.copy()))
        added = sql.when(
            (exp.LTE(this=twice, expression=self._number(to)), self._number(to - to)),
            (exp.LT(this=twice.copy(), expression=self._number(to * 3)), self._number(to)),
            otherwise=self._number(to + to),
        )
        return self._chosen((self._near(), _plus(exp.Paren(this=_minus(self.cell, rest.copy())), added)))


def _plus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=left, expression=right)

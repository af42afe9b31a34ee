"""Exact units of privacy loss and probability; never through a float.

``Epsilon("0.1") + Epsilon("0.2") == Epsilon("0.3")``: budgets are decimals of the policy, added as fractions. A float is refused,
since 0.1 as a float is another number than the 0.1 that was written. A text that a unit writes is one that it reads: a third of 1 is ``1/3``.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import total_ordering
from typing import Self

from privrelease.value_classes import dataclass

__all__ = ["Delta", "Epsilon", "Probability", "Rho"]


def _of_text(text: str) -> Fraction:
    """Return the number of a text as :meth:`_Exact.__str__` writes it: a decimal, or a fraction where no decimal is exact."""
    return Fraction(text) if "/" in text else Fraction(Decimal(text))


@total_ordering
@dataclass(frozen=True, slots=True, init=False, eq=False)
class _Exact:
    """A non-negative exact number of one unit; two units never mix."""

    value: Fraction

    def __init__(self, value: str | int | Decimal | Fraction) -> None:
        if isinstance(value, bool | float):
            msg = f"{type(self).__name__} is exact: write a text, an integer, a Decimal or a Fraction, not a {type(value).__name__}"
            raise TypeError(msg)
        try:
            exact = _of_text(value) if isinstance(value, str) else Fraction(value)
        except (InvalidOperation, ValueError, OverflowError, ZeroDivisionError) as error:
            msg = f"{type(self).__name__} needs a finite decimal number, or a fraction of whole numbers"
            raise ValueError(msg) from error
        if exact < 0:
            msg = f"{type(self).__name__} cannot be negative"
            raise ValueError(msg)
        object.__setattr__(self, "value", exact)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, _Exact) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self), self.value))

    def __lt__(self, other: Self) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.value < other.value

    def __add__(self, other: Self) -> Self:
        if type(self) is not type(other):
            return NotImplemented
        return type(self)(self.value + other.value)

    def __str__(self) -> str:
        denominator = self.value.denominator
        while denominator % 2 == 0:
            denominator //= 2
        while denominator % 5 == 0:
            denominator //= 5
        if denominator != 1:
            return str(self.value)
        digits = 0
        scaled = self.value
        while scaled.denominator != 1:
            scaled *= 10
            digits += 1
        text = str(scaled.numerator).rjust(digits + 1, "0")
        return f"{text[:-digits]}.{text[-digits:]}" if digits else text


class Epsilon(_Exact):
    """Privacy loss epsilon of (epsilon, delta)-differential privacy; exact, at least 0.

    >>> Epsilon("0.1") + Epsilon("0.2") == Epsilon("0.3")
    True
    >>> str(Epsilon("0.30"))
    '0.3'
    >>> third = Epsilon(Fraction(1, 3))
    >>> str(third), Epsilon(str(third)) == third
    ('1/3', True)
    """

    __slots__ = ()


class Rho(_Exact):
    """Privacy loss rho of zero-concentrated differential privacy (Bun and Steinke 2016); exact, at least 0."""

    __slots__ = ()


class Probability(_Exact):
    """A probability or a share in [0, 1]; exact.

    >>> str(Probability("0.05"))
    '0.05'
    """

    __slots__ = ()

    def __init__(self, value: str | int | Decimal | Fraction) -> None:
        super().__init__(value)
        if self.value > 1:
            msg = f"{type(self).__name__} is at most 1"
            raise ValueError(msg)


class Delta(Probability):
    """Failure probability delta of (epsilon, delta)-differential privacy; exact, in [0, 1]."""

    __slots__ = ()

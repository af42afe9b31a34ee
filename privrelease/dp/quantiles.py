"""Scores of the candidates for a quantile, and for the two ends of an interval that holds it with 95 %.

Notation
    Candidates are the grid points low..high, K of them; the a/b quantile of n rows is asked for. below(r), upto(r): rows strictly below r, and
    not above it. F(r) = b below(r) - a n and G(r) = b upto(r) - a n: in b-ths of a row, how far the rank that was asked for lies beneath the
    first and the last row at r. G(r) = F(r + 1), so that the stretches [F(r), G(r)] tile [-a n, (b - a) n].

The quantile
    Every candidate with F <= 0 <= G is an a/b quantile of the rows (at least a/b of them are not above it, at least (b - a)/b not below it), and
    no other is. Its score is 0, any other's is -(the distance of 0 to [F, G]): so many b-ths of a row lie between it and a quantile.

The ends
    ``lower``: the score is -(the distance of -M to [F, G]), the first candidate's stretch reaching to minus infinity. Some candidate always
    scores 0. A candidate other than the first that lies above a quantile has upto(r - 1) = below(r) with b below(r) >= a n, thus F >= 0 and a
    score of at most -M. ``upper``: the same mirrored, with M and a last stretch that reaches to infinity; a candidate other than the last
    that lies below a quantile has G <= 0.

Sensitivity
    A row adds b - a, -a or 0 to F, and to G; all rows of one person move both by no more than the sum that
    :func:`~privrelease.dp.sensitivity.of_quantile_scores` bounds. Each score is minus the largest of 0 and of F + c and -G - c for a
    constant c (or of one of them), which moves no further than the one of F and G that moves furthest.

Coverage
    Permute-and-flip takes a candidate only if its coin falls, which has probability exp(-gap/scale), gap the distance of its score to the best
    (here: 0). At most K - 1 candidates lie on the wrong side, each with a gap of at least M, so that the end is wrong with probability at most
    (K - 1) exp(-M/scale), which M >= scale ln((K - 1)/outside) makes at most ``outside`` - whatever the rows are, and however few. Both ends
    together are wrong with at most twice that: the interval holds every a/b quantile of the rows. That it costs two draws more is the price:
    the chosen value alone reveals nothing of how far away the next row is, so no interval can be had without spending.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.dp.draws import Target

__all__ = ["OUTSIDE", "margin", "rank_error", "scores"]

#: The most that each end of an interval may be wrong with: both together 5 %.
OUTSIDE: Final = Fraction(1, 40)


def margin(scale: Fraction, candidates: int, outside: Fraction = OUTSIDE) -> int:
    """Return M, in b-ths of a row: an integer that is at least scale ln((candidates - 1)/outside).

    >>> margin(Fraction(10), 101)
    84
    """
    return ceil(float(scale) * log(max(1, candidates - 1) / float(outside)) * (1 + 1e-12)) + 1


def rank_error(scale: Fraction, candidates: int, denominator: int, outside: Fraction) -> float:
    """Return how many rows lie, at most, between the chosen value and the rank that was asked for, but with probability ``outside``.

    Known before anything is read: the mechanism's utility bound, over b.

    >>> round(rank_error(Fraction(10), 101, 2, Fraction(1, 20)), 1)
    38.0
    """
    return float(scale) * log(max(1, candidates - 1) / float(outside)) / denominator


def scores(target: Target, step: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the score of every candidate of a target ``quantile``, ``lower`` or ``upper``, as exact integers.

    ``step``: the grid steps that occur, within the target's bounds, each once; ``rows``: how many rows are at each.

    >>> import numpy as np
    >>> from privrelease.dp.draws import Target
    >>> at = np.array([1, 3]), np.array([2, 1])
    >>> scores(Target("quantile", "x", 0, 4, quantile=Fraction(1, 2)), *at).tolist()
    [-3, 0, -1, -1, -3]
    >>> scores(Target("lower", "x", 0, 4, offset=2, quantile=Fraction(1, 2)), *at).tolist()
    [-1, 0, -3, -3, -5]
    """
    import numpy as np

    assert target.quantile is not None
    a, b = target.quantile.numerator, target.quantile.denominator
    total = int(rows.sum())
    exact = np.int64 if b * total + target.offset < 1 << 62 else object
    here = np.zeros(target.high - target.low + 1, exact)
    here[step - target.low] = rows.astype(exact)
    first = b * (np.cumsum(here) - here) - a * total
    last = first + b * here
    centre = {"quantile": 0, "lower": -target.offset, "upper": target.offset}[target.figure]
    over, under = first - centre, centre - last
    if target.figure == "lower":
        over[0] = under[0]
    elif target.figure == "upper":
        under[-1] = over[-1]
    negative: NDArray[Any] = -np.maximum(np.maximum(over, under), 0)
    return negative

"""Draws that come after the noise: from a model, by the operating system's randomness. They cost nothing and need no exact law."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.domain import CodedDomain

__all__ = ["multinomial", "simplex", "systematic", "uniforms", "unravelled", "without_impossible"]

_BITS: Final = 53
#: Draws for rows that break no rule, for each row and beyond, and at a time.
_MOST_DRAWS: Final = 64
_MOST_MORE: Final = 1 << 22
_BLOCK: Final = 1 << 17


def uniforms(shape: int | tuple[int, ...], randomness: Randomness) -> NDArray[np.float64]:
    """Return numbers in [0, 1), multiples of 2^-53, each equally likely."""
    size = shape if isinstance(shape, int) else prod(shape)
    words = np.frombuffer(randomness.draw(8 * size), dtype="<u8")
    found: NDArray[np.float64] = ((words >> np.uint64(64 - _BITS)).astype(np.float64) * 2.0**-_BITS).reshape(shape)
    return found


def multinomial(weights: NDArray[np.floating], rows: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return the cells of ``rows`` independent rows, each a cell with a probability proportional to its weight. Weights are at least 0.

    Raises ValueError where all of them are 0.
    """
    ends = np.cumsum(weights, dtype=np.float64)
    if not len(ends) or not ends[-1] > 0:
        msg = "there is no cell to draw from"
        raise ValueError(msg)
    wanted = uniforms(rows, randomness) * ends[-1]
    found: NDArray[np.int64] = np.searchsorted(ends, wanted, side="right")
    return np.minimum(found, int(np.flatnonzero(weights)[-1]))  # a product may round up to the end


def systematic(
    weights: NDArray[np.floating], strata: NDArray[np.int64], rows: int, randomness: Randomness
) -> NDArray[np.int64]:
    """Return the cells of ``rows`` rows, drawn by systematic sampling (Madow 1949), stratum by stratum.

    Every cell, and every stratum, gets its expected number of rows (``rows`` times its share of the weights) rounded up or down, and that
    number in expectation. Inside a stratum the cells are in random order. ``strata``: the stratum of each cell, whole numbers of at least 0.

    Raises ValueError where all weights are 0.
    """
    kept = np.flatnonzero(weights)
    if not kept.size:
        msg = "there is no cell to draw from"
        raise ValueError(msg)
    order = kept[np.lexsort((uniforms(kept.size, randomness), strata[kept]))]
    ends = np.cumsum(weights[order], dtype=np.float64)
    wanted = (np.arange(rows) + uniforms(1, randomness)) * (ends[-1] / max(1, rows))
    places = np.searchsorted(ends, wanted, side="right")
    found: NDArray[np.int64] = order[np.minimum(places, kept.size - 1)]  # a product may round up to the end
    return found


def unravelled(cells: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return codes (rows, columns) of cells of a joint, the last column varying fastest."""
    return np.stack(np.unravel_index(cells, shape), axis=1).astype(np.int32)


def simplex(noisy: NDArray[np.integer], total: int, possible: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
    """Return the numbers nearest to ``noisy``, in the sum of squares, that are at least 0 and add up to ``total``.

    ``possible``: cells that may be above 0. The projection is max(x - t, 0) with one t for all (Held, Wolfe, Crowder 1974).

    >>> simplex(np.array([5, 3, -2]), 6).tolist()
    [4.0, 2.0, 0.0]
    """
    flat = noisy.reshape(-1).astype(np.float64)
    kept = np.ones(len(flat), np.bool_) if possible is None else possible.reshape(-1)
    found = np.zeros(len(flat))
    if total <= 0 or not kept.any():
        return found.reshape(noisy.shape)
    descending = np.sort(flat[kept])[::-1]
    excess = np.cumsum(descending) - total
    count = np.arange(1, len(descending) + 1)
    last = int(np.flatnonzero(descending - excess / count > 0)[-1])
    found[kept] = np.maximum(flat[kept] - excess[last] / (last + 1), 0.0)
    return found.reshape(noisy.shape)


def without_impossible(draw: Callable[[int], NDArray[np.int32]], domain: CodedDomain, rows: int) -> NDArray[np.int32]:
    """Return rows of ``draw``, independent ones, given that they break no rule of the domain: those that do are drawn again.

    Raises InputError (D272) where fewer than about one row in a million breaks none: the answers are noisy, so that this reveals nothing else.
    """
    found = draw(rows)
    kept = [found[~domain.impossible(found)]]
    lacking, drawn = rows - len(kept[0]), rows
    while lacking:
        if drawn > _MOST_DRAWS * rows + _MOST_MORE:
            code, message = "D272", "the rules leave next to no row that the model would draw"
            hint = "remove rules of `impossible`, or choose a method that holds them in its model: histogram, mst, aim"
            raise InputError(code, message, hint=hint)
        many = min(_BLOCK, max(1024, lacking * drawn // max(1, rows - lacking)))
        more = draw(many)
        kept.append(more[~domain.impossible(more)][:lacking])
        lacking, drawn = lacking - len(kept[-1]), drawn + many
    return np.concatenate(kept)

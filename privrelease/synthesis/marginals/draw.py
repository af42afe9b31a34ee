"""Records of a model, clique by clique down its tree, with rounding in place of independent draws.

Definition
    Of the k records that share a cell of the separator, the cells x of the clique's other columns are given to floor or ceil of
    k P(x | separator) records: systematic sampling (Madow 1949) takes floor(C_x + u) - floor(C_x- + u) of them, C the sums of expected
    numbers up to x and u uniform, one a separator's cell. The expected number is exact, the error less than one record, in each cell and in every run of
    neighbouring cells, so also in the marginal of the clique's first columns. Which of the k records receives which cell is a random permutation: given the separator,
    columns of different cliques are independent, as in the model.
Cost
    One array of (separator cells that occur) x (cells of the other columns) a clique, and sorts of the records; no loop over records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.synthesis.sampling import uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness
    from privrelease.synthesis.marginals.domain import Table
    from privrelease.synthesis.marginals.model import Beliefs

__all__ = ["assigned", "draw", "rounded"]

#: Cells that are rounded at a time.
_BLOCK: Final = 1 << 22


def draw(beliefs: Beliefs, rows: int, randomness: Randomness) -> NDArray[np.int32]:
    """Return codes (rows, columns of the domain), in the order of no column in particular.

    The sums of a root's table differ by less than one row from ``rows`` times the model's; those of another clique by less than
    one row from the conditional expectation given the records' own separators.
    """
    tree = beliefs.tree
    domain = tree.domain
    place_of = {name: place for place, name in enumerate(domain.names)}
    codes = np.zeros((rows, len(domain.names)), np.int32)
    for clique, separator, conditional in zip(tree.cliques, tree.separators, beliefs.conditional, strict=True):
        new = tuple(name for name in clique if name not in separator)
        if not new or not rows:
            continue
        order = [clique.index(name) for name in (*separator, *new)]
        table = conditional.transpose(order).reshape(domain.cells(separator), -1)
        group = _numbered(codes, [place_of[name] for name in separator], domain.shape(separator))
        found = assigned(table, group, randomness)
        for name, column in zip(new, np.unravel_index(found, domain.shape(new)), strict=True):
            codes[:, place_of[name]] = column
    return codes


def rounded(expected: Table, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers by systematic sampling along the last axis: rows of ``expected`` that add up to whole numbers keep their sums.

    >>> rounded(np.array([[0.5, 0.0, 1.25, 0.25]]), np.array([0.6])).tolist()
    [[1, 0, 1, 0]]
    """
    ends = np.cumsum(expected, axis=-1)
    whole = np.rint(ends[..., -1:])
    ends = (
        ends / np.where(ends[..., -1:] > 0, ends[..., -1:], 1.0) * whole
    )  # the last sum is exact, and so is that of trailing zeros
    reached = np.floor(ends + uniform[..., np.newaxis]).astype(np.int64)
    counts: NDArray[np.int64] = np.diff(reached, axis=-1, prepend=0)
    return counts


def _numbered(codes: NDArray[np.int32], places: list[int], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the separator's cell of each record."""
    group = np.zeros(len(codes), np.int64)
    for place, size in zip(places, shape, strict=True):
        group = group * size + codes[:, place]
    return group


def assigned(table: Table, group: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
    """Return a cell for each record by the row of ``table`` (probabilities) that ``group`` names: rounded by row, in random order."""
    present, sizes = np.unique(group, return_counts=True)
    width = table.shape[1]
    step = max(1, _BLOCK // width)
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(present), step):
        some, own = present[start : start + step], sizes[start : start + step]
        counts = rounded(table[some] * own[:, np.newaxis], uniforms(len(some), randomness))
        found.append(np.repeat(np.tile(np.arange(width), len(some)), counts.reshape(-1)))
    # records by separator, in random order within one
    order = np.lexsort((np.frombuffer(randomness.draw(8 * len(group)), dtype="<u8"), group))
    cells = np.empty(len(group), np.int64)
    cells[order] = np.concatenate(found)
    return cells

"""The cell-suppression problem and its solution, as plain values.

Given the class table over the union of all protected threats' quasi-identifiers, choose for every record the cells that become
missing (or drop the record) so that every requirement holds on what remains, at the least cost of lost cells.

Semantics (DESIGN 1-6): a suppressed cell is missing, and under the ``category`` reading missing equals missing, also where the
source was missing. A record whose every column of a requirement is missing is *residual* for that requirement: lost, and out of
its class statistics. A residual group of 1..k-1 records would be found by elimination: with ``residual="drop"`` those records are
dropped altogether (from every requirement), with ``"keep"`` they stay. A dropped record loses the cells of all columns. Cells that
were missing before are not lost and cost nothing.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.disclosure.classes.equivalence_classes import ClassTable
    from privrelease.disclosure.risk.thresholds import Thresholds
    from privrelease.disclosure.suppression.cell_costs import Preference

__all__ = ["Problem", "Requirement", "Solution"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One threat to hold: its name, the indices of its columns in the class table, its thresholds, how missing is read.

    ``population``: for the journalist attacker, the population's class table over the same columns in the same coding (codes of
    values the sample lacks continue after the sample's); None for the prosecutor. With ``use_weights`` F is the sum of weights.
    """

    name: str
    columns: tuple[int, ...]
    thresholds: Thresholds
    missing: Literal["category", "wildcard"] = "category"
    attacker: Literal["prosecutor", "journalist", "marketer"] = "prosecutor"
    population: ClassTable | None = None
    use_weights: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """``weights``: cost of one cell of each column of ``classes`` (exact; default 1 each). ``prefer``: whether a cell counts as one (``cells``) or as
    the information it holds (``information``), or between both (``balanced``); weights multiply.

    ``linkable``: the rows of one person stay linkable in the output (a pseudonym is released), so a person's class is the set
    of its distinct tuples (the multiset where ``knows_rows``), not each row's. ``pair_rows``: (m,) rows of each of the table's
    (class, person) pairs, of one person where a pair represents several. Where it is given, the rows of a class may be treated differently by person, and
    ``Solution.pair_part`` says how; where it is None every row of a class is treated alike, which costs many more cells.
    """

    classes: ClassTable
    requirements: tuple[Requirement, ...]
    weights: tuple[Fraction, ...]
    residual: Literal["drop", "keep"] = "drop"
    linkable: bool = False
    knows_rows: bool = False
    pair_rows: NDArray[np.int64] | None = field(default=None, compare=False)
    prefer: Preference = "cells"


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """Parts of classes that are treated alike. Part p: ``records[p]`` records of class ``class_index[p]`` lose the columns set in
    ``suppressed[p]`` (bool, q; never set where the class is missing there already), or are dropped where ``dropped[p]``.

    Parts are sorted by class; the records of a class's parts sum to its count. A class is split over several parts only where
    every record is its own person, or by person where the problem has ``pair_rows``: ``pair_part`` (m,) then names the part of each
    (class, person) pair of the table. ``lost_cells``: (q,) int64 per column, cells made missing plus non-missing cells of dropped
    records. ``feasible`` is False where the requirements cannot be met (the solution then shows the best that was reached).
    """

    class_index: NDArray[np.uint32]
    records: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    dropped: NDArray[np.bool_]
    lost_cells: NDArray[np.int64]
    feasible: bool = True
    pair_part: NDArray[np.uint32] | None = None

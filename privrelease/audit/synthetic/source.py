"""Synthetic rows next to the source: copies, and errors of marginals, each with the persons who were held out as reference.

All of it reads the source without noise. It is internal, decides nothing (DESIGN, semantics 12), and no one may run a release again because of it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.document.model import Figure
from privrelease.audit.document.synthetic import MarginalError, SourceFacts
from privrelease.errors import PrivreleaseError
from privrelease.relational.aggregates import Bounding
from privrelease.relational.coded_columns import DiscoveredCells, DiscoveredRange
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.audit.synthetic.evidence import SyntheticEvidence
    from privrelease.engine.protocol.base import Staged

__all__ = ["BesideSource", "CountedRows", "beside_source", "compared", "marginal_error"]

#: A marginal of more cells is left out of the mean.
_MOST_CELLS: Final = 1 << 22
_EVERY_ROW: Final = Bounding(None, 1, 0)


@dataclass(frozen=True, eq=False, slots=True)
class CountedRows:
    """Distinct tuples of cells, (tuples, columns), and the rows of each, (tuples,)."""

    codes: NDArray[np.int32]
    rows: NDArray[np.int64]

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())


@dataclass(frozen=True, eq=False, slots=True)
class BesideSource:
    """The rows of the first readable file, and those of the source: fitted ones, and held-out ones (None: no one was held out).

    ``names``, ``sizes``: the modelled columns and the cells of each; ``staged``: the rows of the source in the engine.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    synthetic: CountedRows
    fitted: CountedRows
    held: CountedRows | None
    staged: tuple[Staged, Staged | None]

    def facts(self) -> SourceFacts:
        """Return the figures of section 12."""
        return compared(self.sizes, self.synthetic, self.fitted, self.held)

    def error_of(self, columns: Sequence[str]) -> tuple[float | None, float | None]:
        """Return the total variation distance of the joint of some columns from that of the fitted rows, by cell: of synthetic and of held-out rows.

        None where there is no row, or the joint has too many cells.
        """
        places = tuple(sorted(self.names.index(name) for name in columns))
        if prod(self.sizes[place] for place in places) > _MOST_CELLS:
            return None, None
        parts = (self.synthetic, self.held)
        found = [None if part is None else _distance(part, self.fitted, places, self.sizes) for part in parts]
        return found[0], found[1]

    def alone(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return how many rows are present, of how many whose cells no other row of the source has: fitted ones, held-out ones."""
        held = CountedRows(self.fitted.codes[:0], self.fitted.rows[:0]) if self.held is None else self.held
        first, second = _found(self.synthetic, [self.fitted, held])
        return first.alone, second.alone


def beside_source(evidence: SyntheticEvidence) -> BesideSource | None:
    """Read the first readable file next to the source; None where one of them cannot be read, or the key of the holdout is not known."""
    plan, target, file = evidence.plan, evidence.target, evidence.first
    if target.divided_by is None or file is None or evidence.claim is None:
        return None
    cells = [one for one in evidence.cells() if not isinstance(one, DiscoveredCells | DiscoveredRange)]
    if len(cells) < len(plan.modelled):
        return None
    keys = [one.key for one in cells]
    named = [replace(key, column=evidence.name(key.column)) for key in keys]
    try:
        synthetic = _counted(evidence, file, named)
        fitted = evidence.engine.stage(plan.source)
        held, aside = None, None
        if plan.holdout is not None:
            unit = None if plan.unit is None else plan.unit.column
            fitted, aside = evidence.engine.divided(fitted, unit, plan.holdout, target.divided_by)
            held = _counted(evidence, aside, keys)
        seen = _counted(evidence, fitted, keys)
    except PrivreleaseError:
        return None  # whatever reads the source stops no release
    names, sizes = tuple(one.column for one in cells), tuple(one.size for one in cells)
    return BesideSource(names, sizes, synthetic, seen, held, (fitted, aside))


def _counted(evidence: SyntheticEvidence, staged: Staged, keys: Sequence[object]) -> CountedRows:
    found = evidence.engine.coded_rows(staged, _EVERY_ROW, keys)  # type: ignore[arg-type]  # the keys of coded columns
    return CountedRows(found.codes, found.rows)


def compared(sizes: tuple[int, ...], synthetic: CountedRows, fitted: CountedRows, held: CountedRows | None) -> SourceFacts:
    """Return the figures. ``sizes``: cells of each column; ``held``: None where no one was held out.

    A row is present if a synthetic row lies in the same cells. The share of fitted rows that are present depends on the size of neither part, so
    that the share of held-out rows is its control: both are alike where the model keeps nothing of single rows (the hitting rate of Choi et al.
    2017, with a control as in Giomi et al. 2023). ``alone``: of rows whose cells no other row of the source has.
    """
    shares = _found(synthetic, [fitted] if held is None else [fitted, held])
    columns = len(sizes)
    errors = tuple(
        MarginalError(
            ways=ways,
            synthetic=Figure.of(marginal_error(sizes, synthetic, fitted, ways)),
            held_out=None if held is None else Figure.of(marginal_error(sizes, held, fitted, ways)),
        )
        for ways in (1, 2)
        if ways <= columns
    )
    return SourceFacts(
        fitted=Figure.of(fitted.total, "count"),
        held_out=None if held is None else Figure.of(held.total, "count"),
        fitted_present=Figure.of(_share(shares[0].every), "share"),
        held_out_present=None if held is None else Figure.of(_share(shares[1].every), "share"),
        fitted_alone_present=Figure.of(_share(shares[0].alone), "share"),
        held_out_alone_present=None if held is None else Figure.of(_share(shares[1].alone), "share"),
        marginal_errors=errors,
    )


@dataclass(frozen=True, slots=True)
class _Present:
    """Numbers of present rows and of rows of a part: of all, and of those whose cells no other row of the source has."""

    every: tuple[int, int]
    alone: tuple[int, int]


def _found(synthetic: CountedRows, parts: Sequence[CountedRows]) -> list[_Present]:
    """Look the rows of every part of the source up among the synthetic ones."""
    drawn, *numbers = _numbered([synthetic, *parts])
    kinds = max((int(one.max(initial=-1)) for one in (drawn, *numbers)), default=-1) + 1
    everybody = np.zeros(kinds, np.int64)
    for number, part in zip(numbers, parts, strict=True):
        everybody += np.bincount(number, weights=part.rows, minlength=kinds).astype(np.int64)
    found = []
    for number, part in zip(numbers, parts, strict=True):
        there, lonely = np.isin(number, drawn), everybody[number] == 1
        every = (int(part.rows[there].sum()), part.total)
        found.append(_Present(every, (int(part.rows[there & lonely].sum()), int(part.rows[lonely].sum()))))
    return found


def _share(found: tuple[int, int]) -> Fraction | None:
    """Return the share of rows that are present; None of no rows."""
    return Fraction(*found) if found[1] else None


def _numbered(parts: Sequence[CountedRows]) -> list[NDArray[np.int64]]:
    """Number the tuples of all parts alike, from 0."""
    stacked = np.concatenate([part.codes for part in parts])
    _, numbers = np.unique(stacked, axis=0, return_inverse=True)
    ends = np.cumsum([len(part.codes) for part in parts])[:-1]
    return np.split(np.asarray(numbers, np.int64).reshape(-1), ends)


def marginal_error(sizes: tuple[int, ...], first: CountedRows, second: CountedRows, ways: int) -> float | None:
    """Return the mean over all marginals of so many columns of the total variation distance, from 0 (alike) to 1 (disjoint); None of no rows."""
    found = [
        _distance(first, second, places, sizes)
        for places in combinations(range(len(sizes)), ways)
        if prod(sizes[place] for place in places) <= _MOST_CELLS
    ]
    known = [one for one in found if one is not None]
    return sum(known) / len(known) if known else None


def _distance(first: CountedRows, second: CountedRows, places: tuple[int, ...], sizes: tuple[int, ...]) -> float | None:
    """Return the total variation distance of the joint of some columns; None of no rows."""
    if not first.total or not second.total:
        return None
    shape = tuple(sizes[place] for place in places)
    return float(np.abs(_shares(first, places, shape) - _shares(second, places, shape)).sum()) / 2


def _shares(part: CountedRows, places: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.float64]:
    cells = np.ravel_multi_index(tuple(part.codes[:, place] for place in places), shape)
    counts = np.bincount(cells, weights=part.rows.astype(np.float64), minlength=prod(shape))
    found: NDArray[np.float64] = counts / part.total
    return found

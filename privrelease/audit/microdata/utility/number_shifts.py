"""Shifts of the released numeric columns. A column with every cell released as it was is not looked at again: nothing moved.

IL1s: absolute changes of numbers in standard deviations of the source (Yancey, Winkler, Creecy 2002; sdcMicro).
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from privrelease.audit.document.utility import LabelShift, NumberShift, NumberShifts, QuantileShift
from privrelease.audit.microdata.utility.rounding import Change
from privrelease.audit.microdata.utility.shift import QUANTILES, Numbers, deviation, mean_shift, quantile_shifts
from privrelease.relational.schema import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction
    from typing import Literal

    from numpy.typing import NDArray

    from privrelease.audit.document.utility import Measured
    from privrelease.audit.microdata.evidence import Evidence
    from privrelease.audit.microdata.utility.labels import LabelCounts
    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ColumnChange

__all__ = ["MOST_COLUMNS", "il1s", "mean_il1s", "number_shifts"]


def il1s(distances: Numbers, deviation: float) -> float:
    """Return Σ |x - x'| / (√2 · sd x) of one column; cells that are missing on a side add nothing, as in sdcMicro.

    ``distances``: |x - x'| of cells that hold another number. ``deviation``: sample standard deviation of the source's column, above 0.

    >>> from privrelease.audit.microdata.utility.shift import Numbers
    >>> round(il1s(Numbers(np.array([1.0, 2.0]), np.array([2, 1])), 2.0), 6)
    1.414214
    """
    return float(np.sum(distances.values * distances.counts)) / (sqrt(2) * deviation)


def mean_il1s(columns: Iterable[tuple[float, int]]) -> float | None:
    """Return Σ IL1s / Σ cells over columns, given as (sum, cells known on both sides): the form of the paper, 1/(p n) Σ. None: no cell.

    >>> mean_il1s([(3.0, 4), (1.0, 4)])
    0.5
    """
    pairs = list(columns)
    cells = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / cells if cells else None


#: Columns that are compared at most; each costs a scan of source and release.
MOST_COLUMNS = 50

_NUMERIC = (ColumnType.INTEGER, ColumnType.NUMBER)
_NO_SPREAD = "the column has no spread, or no cell left"
_NAMES = "its labels are names"
_UNREAD = "a label represents no number"
_NO_ROWS = "released rows cannot be led back to the source"


def number_shifts(
    evidence: Evidence, engine: MeasuringEngine, minimum: int, labels: Sequence[LabelCounts] = ()
) -> NumberShifts:
    """Measure every numeric column that is released as it is and of which a cell was lost or changed, the first fifty; and those of ``labels``."""
    names = [column.name for column in evidence.usable if column.treatment.relation.own_values and column.type in _NUMERIC]
    untouched = tuple(name for name in names if _untouched(evidence, name))
    touched = [name for name in names if name not in untouched]
    found = [_shift(evidence, engine, name, minimum) for name in touched[:MOST_COLUMNS]]
    pairs = [pair for _, pair in found if pair is not None]
    changed = sum(change.changed for change in evidence.changes or () if change.column in touched[:MOST_COLUMNS])
    all_cells = Change(changed, sum(cells for _, cells in pairs), minimum)
    return NumberShifts(
        columns=tuple(shift for shift, _ in found),
        untouched=untouched,
        not_measured=tuple(touched[MOST_COLUMNS:]),
        il1s=all_cells.figure(mean_il1s(pairs), why=_NO_ROWS if not evidence.sound_map else _NO_SPREAD) if found else None,
        labels=tuple(
            _label_shift(counts, minimum)
            for counts in labels
            if evidence.plan.source.column(counts.column).type in _NUMERIC and counts.known_after
        ),
    )


def _label_shift(counts: LabelCounts, minimum: int) -> LabelShift:
    """Compare the mean of a column with that of the numbers that represent its values."""
    import pyarrow as pa

    true, texts = counts.cover.numbers, pa.types.is_string(counts.labels.type) or pa.types.is_large_string(counts.labels.type)
    if texts:
        written = counts.cover.middles
    else:
        written = np.concatenate(([np.nan], np.asarray(counts.labels.cast(pa.float64(), safe=False), np.float64)))
    lost = counts.known_before - counts.known_after
    changed = None if 0 < lost < minimum or not counts.clean else counts.known_before
    about = Change(changed, counts.known_before, minimum)
    by: Literal["released", "middle"] = "middle" if texts else "released"
    if true is None or written is None:  # a list of names over numbers
        return LabelShift(column=counts.column, by=by, mean=about.figure(None, why=_NAMES))
    there, shown = counts.before[1:] > 0, counts.after[1:] > 0
    if not np.isfinite(written[1:][shown]).all():
        return LabelShift(column=counts.column, by=by, mean=about.figure(None, why=_UNREAD))
    # every measure is a ratio, as in _shift
    scale = float(np.abs(np.concatenate((true[1:][there], written[1:][shown]))).max(initial=0.0)) or 1.0
    true, written = true / scale, written / scale
    before = _by_value(true[1:][there], counts.before[1:][there])
    after = _by_value(written[1:][shown], counts.after[1:][shown])
    shift = LabelShift(column=counts.column, by=by, mean=about.figure(mean_shift(before, after), why=_NO_SPREAD))
    unit = deviation(before)
    if texts or unit is None or counts.pairs is None:
        return shift
    value, label, rows = counts.pairs
    apart = Numbers(np.abs(true[value] - written[label]), rows)
    return shift.model_copy(update={"il1s": about.figure(il1s(apart, unit))})


def _by_value(values: NDArray[np.float64], rows: NDArray[np.int64]) -> Numbers:
    order = np.argsort(values, kind="stable")
    return Numbers(values[order], rows[order])


def _change_of(evidence: Evidence, name: str) -> ColumnChange | None:
    return next((change for change in evidence.changes or () if change.column == name), None)


def _untouched(evidence: Evidence, name: str) -> bool:
    change = _change_of(evidence, name)
    if change is None or evidence.left is None or evidence.left.rows:
        return False
    return not (change.nulled or change.changed or change.invented)


def _shift(
    evidence: Evidence, engine: MeasuringEngine, name: str, minimum: int
) -> tuple[NumberShift, tuple[float, int] | None]:
    """Compare one column; also its IL1s with the cells that it is over, None where it has none."""
    assert evidence.source is not None
    assert evidence.main is not None
    sides = [engine.number_counts(side, name) for side in (evidence.source, evidence.main)]
    # every measure is a ratio: dividing by the largest number keeps squares and sums of huge ones finite
    scale = max((float(np.abs(values).max(initial=0.0)) for values, _ in sides), default=0.0) or 1.0
    before, after = (Numbers(values / scale, counts) for values, counts in sides)
    change = _change_of(evidence, name)
    about = Change(None if change is None else _touched_cells(change, before.n, after.n), before.n, minimum)
    shifts = quantile_shifts(before, after)
    total, pair = _il1s(evidence, engine, name, before, after.n, scale, minimum)
    shift = NumberShift(
        column=name,
        mean=about.figure(mean_shift(before, after), why=_NO_SPREAD),
        quantiles=tuple(
            QuantileShift(at=str(p), shift=_beyond(about, p).figure(value, why=_NO_SPREAD))
            for p, value in zip(QUANTILES, shifts, strict=True)
        ),
        il1s=total,
    )
    return shift, pair


def _beyond(about: Change, p: Fraction) -> Change:
    """Withhold a quantile from recipients where few cells lie beyond it: it would be about one of them."""
    return about if min(p, 1 - p) * about.cells >= about.minimum else replace(about, changed=None)


def _touched_cells(change: ColumnChange, known_before: int, known_after: int) -> int:
    """Cells that became missing, hold another value, were made up, or were not released with their row."""
    dropped = known_before - change.nulled - (known_after - change.invented)
    return change.nulled + change.changed + change.invented + max(dropped, 0)


def _il1s(
    evidence: Evidence, engine: MeasuringEngine, name: str, before: Numbers, known_after: int, scale: float, minimum: int
) -> tuple[Measured, tuple[float, int] | None]:
    change, unit, row_map = _change_of(evidence, name), deviation(before), evidence.target.row_map
    if change is None or row_map is None or evidence.source is None or evidence.main is None:
        return Change(None, 0, minimum).figure(None, why=_NO_ROWS), None
    if unit is None:
        return Change(None, 0, minimum).figure(None, why=_NO_SPREAD), None
    total = 0.0
    if change.changed:
        values, counts = engine.number_distances(evidence.source, evidence.main, row_map, name)
        total = il1s(Numbers(values / scale, counts), unit)
    cells = known_after - change.invented
    return Change(change.changed, cells, minimum).figure(total), (total, cells)

"""From codes to values: a value of the list, or a point of the bin, evenly; texts that are made up after a pattern.

Inside a bin every grid point, day or second is equally likely. Types are those of the source: whole numbers stay whole, dates exist, a number
with a grid is a multiple of it. What is missing is missing, not a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from privrelease.errors import InputError
from privrelease.relational.coded_columns import BinnedCells
from privrelease.relational.schema import ColumnType
from privrelease.synthesis.sampling import uniforms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privrelease.dp.randomness import Randomness
    from privrelease.relational.coded_columns import ListedCells
    from privrelease.relational.patterns import Pattern

__all__ = ["decoded", "made_texts"]

_MOST_TRIES: Final = 200
#: Below so many texts, different ones are drawn as a permutation of all.
_LISTED: Final = 1 << 22


def decoded(codes: NDArray[np.int32], cells: ListedCells | BinnedCells, randomness: Randomness) -> pa.Array:
    """Return a column of values. ``codes``: (rows,), the last cell of the column is missing."""
    missing = codes == cells.size - 1
    if isinstance(cells, BinnedCells):
        return _points(codes, missing, cells, randomness)
    texts = pa.array([*cells.values, None], pa.string()).take(pa.array(codes))
    if cells.type is ColumnType.INTEGER:
        return texts.cast(pa.int64())
    return texts.cast(pa.bool_()) if cells.type is ColumnType.BOOLEAN else texts


def _points(codes: NDArray[np.int32], missing: NDArray[np.bool_], cells: BinnedCells, randomness: Randomness) -> pa.Array:
    starts = np.array([*cells.starts, cells.end], np.int64)
    widths = np.array([*(end - start + 1 for start, end in zip(cells.starts, cells.ends, strict=True)), 1], np.int64)
    inside = np.floor(uniforms(len(codes), randomness) * widths[codes]).astype(np.int64)
    steps = starts[codes] + np.minimum(inside, widths[codes] - 1)
    if cells.type is ColumnType.DATE:
        return pa.array(steps.astype(np.int32), pa.date32(), mask=missing)
    if cells.type is ColumnType.DATETIME:
        return pa.array(steps * 1_000_000, pa.timestamp("us"), mask=missing)
    if cells.type is ColumnType.INTEGER:
        return pa.array(steps * int(cells.grid), pa.int64(), mask=missing)
    return _decimals(steps, missing, cells)


def _decimals(steps: NDArray[np.int64], missing: NDArray[np.bool_], cells: BinnedCells) -> pa.Array:
    """Return multiples of the grid, as decimals of as many digits as the grid has."""
    scale = 0
    while (cells.grid * 10**scale).denominator != 1:
        scale += 1
    unscaled = steps * int(cells.grid * 10**scale)
    words = np.stack([unscaled, unscaled >> 63], axis=1).astype("<i8")
    valid = np.packbits(~missing, bitorder="little").tobytes()
    precision = 18 if scale <= 9 else 38
    buffers = [pa.py_buffer(valid), pa.py_buffer(words.tobytes())]
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(steps), buffers, null_count=int(missing.sum()))


def made_texts(pattern: Pattern, rows: int, randomness: Randomness, *, unique: bool, column: str) -> pa.Array:
    """Return texts of a pattern, each equally likely; with ``unique`` all different.

    Raises InputError D271 where there are fewer different ones than rows: the number of rows was not known before, since it is noisy.
    """
    capacity = pattern.capacity
    if unique and capacity < rows:
        message = f"the pattern of {column} has {capacity} different texts, and {rows} rows are drawn"
        raise InputError(code="D271", message=message, hint="write a longer pattern")
    if unique and capacity <= max(_LISTED, 4 * rows):
        numbers = np.argsort(uniforms(capacity, randomness), kind="stable")[:rows]
        return _written(pattern, _digits(numbers, pattern))
    digits = _drawn(pattern, rows, randomness)
    if not unique:
        return _written(pattern, digits)
    for _ in range(_MOST_TRIES):  # there are far more texts than rows
        _, first = np.unique(digits, axis=0, return_index=True)
        lacking = rows - len(first)
        if not lacking:
            break
        again = np.setdiff1d(np.arange(rows), first)
        digits[again] = _drawn(pattern, lacking, randomness)
    return _written(pattern, digits)


def _drawn(pattern: Pattern, rows: int, randomness: Randomness) -> NDArray[np.int64]:
    sizes = np.array([len(place) for place in pattern.places], np.int64)
    return np.floor(uniforms((rows, len(sizes)), randomness) * sizes).astype(np.int64)


def _digits(numbers: NDArray[np.int64], pattern: Pattern) -> NDArray[np.int64]:
    found = np.empty((len(numbers), len(pattern.places)), np.int64)
    for at in reversed(range(len(pattern.places))):
        numbers, found[:, at] = np.divmod(numbers, len(pattern.places[at]))
    return found


def _written(pattern: Pattern, digits: NDArray[np.int64]) -> pa.Array:
    characters: list[NDArray[Any]] = [np.array(list(place), "<U1")[digits[:, at]] for at, place in enumerate(pattern.places)]
    joined = np.ascontiguousarray(np.stack(characters, axis=1)).view(f"<U{len(characters)}").reshape(-1)
    return pa.array(joined).cast(pa.string())

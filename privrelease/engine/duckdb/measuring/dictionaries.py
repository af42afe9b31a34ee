"""Columns as narrow codes by way of Arrow dictionaries: distinct values are compared, never the text of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["encoded", "in_one_coding"]


def encoded(column: Any) -> tuple[NDArray[Any], Any]:  # noqa: ANN401 - Arrow has no types
    """Encode a chunked column by itself: (n,) unsigned codes, 0 = missing, and its dictionary, whose value at i has the code i + 1.

    >>> import pyarrow as pa
    >>> codes, values = encoded(pa.chunked_array([["b", None], ["a", "b"]]))
    >>> codes.tolist(), values.to_pylist()
    ([1, 0, 2, 1], ['b', 'a'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # -0.0 and 0.0 are one value
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return np.zeros(0, np.uint8), pa.array([], column.type.value_type)
    values = column.chunk(0).dictionary
    codes = np.zeros(len(column), np.min_scalar_type(len(values)))
    start = 0
    for chunk in column.chunks:
        part = codes[start : start + len(chunk)]
        np.add(np.asarray(chunk.indices.fill_null(0)), 1, out=part, dtype=part.dtype, casting="unsafe")
        if chunk.null_count:
            part[np.asarray(chunk.is_null())] = 0
        start += len(chunk)
    return codes, values


def in_one_coding(parts: Sequence[tuple[NDArray[Any], Any]]) -> tuple[list[NDArray[Any]], Any]:
    """Put columns that :func:`encoded` returned into one coding: unsigned codes of each, 0 = missing, and the v values that occur, ascending.

    Values of one kind in several widths meet in the wider one, numbers and texts as texts; where the numbers are doubles and every text is a number,
    as doubles.

    >>> import pyarrow as pa
    >>> codes, values = in_one_coding([encoded(pa.chunked_array([["b", None]])), encoded(pa.chunked_array([["c", "b"]]))])
    >>> [one.tolist() for one in codes], values.to_pylist()
    ([[1, 0], [2, 1]], ['b', 'c'])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    dictionaries = [values for _, values in parts]
    if len({values.type for values in dictionaries}) > 1:
        dictionaries = _alike(dictionaries)
    used = [_used(codes, len(values)) for codes, values in parts]
    distinct = pc.unique(pa.chunked_array([values.filter(some) for values, some in zip(dictionaries, used, strict=True)]))
    distinct = distinct.drop_null()
    distinct = distinct.take(pc.sort_indices(distinct.cast(pa.int8()) if pa.types.is_boolean(distinct.type) else distinct))
    narrow = np.min_scalar_type(len(distinct))
    found = []
    for (codes, _), values in zip(parts, dictionaries, strict=True):
        ours = np.zeros(len(values) + 1, narrow)
        ours[1:] = np.asarray(pc.index_in(values, value_set=distinct).fill_null(-1), np.int64) + 1
        found.append(ours[codes])
    return found, distinct


def _used(codes: NDArray[Any], values: int) -> Any:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa

    there = np.zeros(values + 1, np.bool_)
    there[codes] = True
    return pa.array(there[1:])


def _alike(dictionaries: Sequence[Any]) -> list[Any]:
    import pyarrow as pa

    types = [values.type for values in dictionaries]
    texts, floating = any(map(_is_text, types)), any(map(pa.types.is_floating, types))
    if floating:
        try:
            return [values.cast(pa.float64()) for values in dictionaries]
        except pa.ArrowInvalid:  # labels of numbers, which are texts
            if not texts:
                raise
    if texts:
        return [values.cast(pa.string()) for values in dictionaries]
    whole = pa.concat_tables([pa.table({"c": values}) for values in dictionaries], promote_options="permissive")
    wide = whole.column("c").type
    return [values.cast(wide) for values in dictionaries]


def _is_text(of: Any) -> bool:  # noqa: ANN401 - Arrow has no types
    import pyarrow as pa

    return bool(pa.types.is_string(of) or pa.types.is_large_string(of))

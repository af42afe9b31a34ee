"""Codes packed into 64-bit words, a field of bits per column: hiding columns is then one AND per word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["kept_bits", "pack"]


def pack(codes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the keys (words, m) of ``codes`` (m, q), and the bits of each column in them, (words, q). Missing = 0 = no bit.

    >>> keys, fields = pack(np.array([[1, 2], [3, 0]], np.int32))
    >>> keys.tolist(), fields.tolist()
    ([[9, 3]], [[3, 12]])
    """
    items, q = codes.shape
    places: list[tuple[int, int]] = []
    word = offset = 0
    widths = [int(top).bit_length() for top in codes.max(axis=0, initial=0)]
    for width in widths:
        if offset + width > 64:
            word, offset = word + 1, 0
        places.append((word, offset))
        offset += width
    keys = np.zeros((word + 1, items), np.uint64)
    fields = np.zeros((word + 1, q), np.uint64)
    for column, ((own, start), width) in enumerate(zip(places, widths, strict=True)):
        keys[own] |= codes[:, column].astype(np.uint64) << np.uint64(start)
        fields[own, column] = np.uint64(((1 << width) - 1) << start)
    return keys, fields


def kept_bits(fields: NDArray[np.uint64], sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return the bits that each of ``sets`` (s, q) leaves of a key, (words, s).

    >>> kept_bits(np.array([[3, 12]], np.uint64), np.array([[False, False], [True, False]])).tolist()
    [[15, 12]]
    """
    kept = np.zeros((len(fields), len(sets)), np.uint64)
    for column in range(sets.shape[1]):
        kept[:, ~sets[:, column]] |= fields[:, column][:, None]
    return kept

"""Arrays that a record search owns and its loops fill, grouped into named tuples; the order of their fields is known to the C sources.

Codes are packed into 64-bit words, a field of bits per column: hiding columns is then one AND per word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Classes",
    "Counts",
    "Indices",
    "Joint",
    "Keys",
    "Nodes",
    "Places",
    "Sets",
    "View",
    "Waiting",
    "kept_bits",
    "pack",
    "packed_bytes",
    "unpacked_bits",
]

Keys: TypeAlias = "NDArray[np.uint64]"
Counts: TypeAlias = "NDArray[np.int64]"
Indices: TypeAlias = "NDArray[np.int32]"


class Classes(NamedTuple):
    """The classes of the source: packed ``key`` (words, m) and ``present`` (m,), the bits of the columns that are not missing."""

    key: Keys
    present: Counts


class Sets(NamedTuple):
    """Sets of columns by cost, the last one all columns: bits of the key that ``kept`` (words, sets) leaves, column ``bits``, ``cost`` of a record
    that misses none of them (on average, where records cost differently); ``cell_cost`` (1 or m, q): of a cell of each column, for all classes
    or for each.
    """

    kept: Keys
    bits: Counts
    cost: Counts
    cell_cost: Counts


class Places(NamedTuple):
    """The places of parts: class ``item``, ``records``, column ``set``, ``node``, and the ``cost`` of each of its records."""

    item: Counts
    records: Counts
    set: Indices
    node: Indices
    cost: Counts


class Nodes(NamedTuple):
    """Released classes: open-addressing ``slots`` of node numbers (-1 empty), a bit map ``marks`` of the keys, ``key``, ``size``.

    ``used = [parts, nodes, reserve]`` counts what is in use, and how many nodes greedy may still open; the arrays of places and nodes have
    room for more. The plain loops leave ``slots`` and ``marks`` alone.
    """

    slots: Indices
    marks: Keys
    key: Keys
    size: Counts
    used: Counts


class Joint(NamedTuple):
    """Several requirements at once: per requirement the key bits of its columns (``fields``), hash ``table`` and class sizes ``totals``
    (r, 2^b), its class size ``need``, the size ``safe`` that limits exposure, ``residual_least`` (how small its residual group may
    become unless it vanishes), ``residual`` counts. Per column its ``field`` of key bits; ``cell_cost`` (1 or p, q): of a
    cell of each column, for all parts or for each origin.
    """

    fields: Keys
    table: Keys
    totals: Counts
    need: Counts
    safe: Counts
    residual_least: Counts
    residual: Counts
    field: Keys
    cell_cost: Counts


class View(NamedTuple):
    """Columns under whose sets records are grouped: their bits (``columns``) and key bits (``fields``, (1,)); per set what it leaves of these
    (``kept``), its column ``bits`` and ``cost`` as in :class:`Sets`; ``settled`` (r,): 1 for a requirement of which a group may open a class.
    """

    columns: int
    fields: Keys
    kept: Keys
    bits: Counts
    cost: Counts
    settled: Counts


class Waiting(NamedTuple):
    """Parts that wait, compact: ``part``, ``key``, ``records``; and work space: ``masked`` keys, a hash
    ``table``, its ``totals``, each one's ``slot``.
    """

    part: Counts
    key: Keys
    records: Counts
    masked: Keys
    table: Keys
    totals: Counts
    slot: Indices


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


def packed_bytes(masks: NDArray[np.bool_], multiple: int = 1) -> NDArray[np.uint8]:
    """Pack (p, q) bits into (p, bytes), the first column the highest bit of the first byte; as many bytes as make a ``multiple``.

    Whole rows of bits are packed as one line, which takes a fourth of the time of packing row by row.

    >>> packed_bytes(np.array([[True, False, True], [False, False, False]])).tolist()
    [[160], [0]]
    """
    rows, q = masks.shape
    room = -(-q // (8 * multiple)) * multiple
    line = np.zeros((rows, 8 * room), np.bool_)
    line[:, :q] = masks
    return np.packbits(line.ravel()).reshape(rows, room)


def unpacked_bits(packed: NDArray[np.uint8], q: int) -> NDArray[np.bool_]:
    """Return the (p, q) bits that :func:`packed_bytes` packed.

    >>> unpacked_bits(packed_bytes(np.array([[True, False, True]])), 3).tolist()
    [[True, False, True]]
    """
    rows, room = packed.shape
    return np.unpackbits(packed.ravel()).reshape(rows, 8 * room)[:, :q].view(np.bool_)

"""Compiled inner loops of the record search: hash counts over packed class keys.

A class is a key with a field of bits per column, 0 = missing, so suppressing a set of columns is one AND with the bits that stay. A
released class (a *node*) is identified by its masked key alone: the key shows which columns are missing. Node 0 stands for "nothing
shown". Keys of up to 64 bits are exact; longer ones have several words, folded to 64 bits after masking: two classes may then be taken
for one (about one chance in 10^19 for a pair), which exact measurement of the outcome finds. All state lives in arrays that the caller
owns, grouped into named tuples.

This is one file for a reason, and longer than others: numba caches a compiled kernel on disk by the content of the one file that defines
it, with everything that it calls compiled in. Were a called function in another file, a change to it would leave the kernel's old code in
use, unseen. So whatever is compiled together stands together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from privrelease.disclosure.compiled import loop, numba, types

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Keys2 = NDArray[np.uint64]
    Counts = NDArray[np.int64]
    Counts2 = NDArray[np.int64]
    Indices = NDArray[np.int32]

__all__ = [
    "Classes",
    "Joint",
    "Nodes",
    "Places",
    "Sets",
    "Waiting",
    "close_classes",
    "complete_groups",
    "count_distinct",
    "count_reached",
    "find_alternatives",
    "release_reached",
    "restore_cells",
]


class Classes(NamedTuple):
    """The classes of the source: packed ``key`` (words, m) and ``present`` (m,), the bits of the columns that are not missing."""

    key: Keys2
    present: Counts


class Sets(NamedTuple):
    """Sets of columns by cost, the last one all columns: bits of the key that ``kept`` (words, sets) leaves, column ``bits``, ``cost`` of a record
    that misses none of them; ``column_cost`` (q,).
    """

    kept: Keys2
    bits: Counts
    cost: Counts
    column_cost: Counts


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
    room for more.
    """

    slots: Indices
    marks: Keys
    key: Keys
    size: Counts
    used: Counts


class Joint(NamedTuple):
    """Several requirements at once: per requirement the key bits of its columns (``fields``), hash ``table`` and class sizes ``totals``
    (r, 2^b), its class size ``need``, the size ``safe`` that limits exposure, ``residual_least`` (how small its residual group may
    become unless it vanishes), ``residual`` counts. Per column its ``field`` of key bits and ``column_cost``.
    """

    fields: Keys
    table: Keys2
    totals: Counts2
    need: Counts
    safe: Counts
    residual_least: Counts
    residual: Counts
    field: Keys
    column_cost: Counts


class Waiting(NamedTuple):
    """Parts that wait, compact: ``part``, ``key``, ``records``; and work space: ``masked`` keys, a hash
    ``table``, its ``totals``, each one's ``slot``.
    """

    part: Counts
    key: Keys2
    records: Counts
    masked: Keys
    table: Keys
    totals: Counts
    slot: Indices


def _tuple_type(fields: tuple[Any, ...], kind: type) -> Any:  # noqa: ANN401 # numba's types
    return types.NamedTuple(fields, kind)  # type: ignore[no-untyped-call] # numba declares no types there


_KEYS = types.Array(types.uint64, 1, "C")
_KEYS_2 = types.Array(types.uint64, 2, "C")
_COUNTS = types.Array(types.int64, 1, "C")
_INDICES = types.Array(types.int32, 1, "C")
_CLASSES = _tuple_type((_KEYS_2, _COUNTS), Classes)
_SETS = _tuple_type((_KEYS_2, _COUNTS, _COUNTS, _COUNTS), Sets)
_PLACES = _tuple_type((_COUNTS, _COUNTS, _INDICES, _INDICES, _COUNTS), Places)
_NODES = _tuple_type((_INDICES, _KEYS, _KEYS, _COUNTS, _COUNTS), Nodes)
_WAITING = _tuple_type((_COUNTS, _KEYS_2, _COUNTS, _KEYS, _KEYS, _COUNTS, _INDICES), Waiting)

_COUNTS_2 = types.Array(types.int64, 2, "C")
_JOINT = _tuple_type((_KEYS, _KEYS_2, _COUNTS_2, _COUNTS, _COUNTS, _COUNTS, _COUNTS, _KEYS, _COUNTS), Joint)

_Kernel = TypeVar("_Kernel", bound="Callable[..., Any]")


def _inner(function: _Kernel) -> _Kernel:
    """Compile as a part of the kernels that call it."""
    return cast("_Kernel", numba.njit(nogil=True)(function))


_FAR = 1 << 62
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Fibonacci hashing takes the product's upper bits


@_inner
def _bits_for(count: int) -> int:
    """Return b with 2^b at least twice ``count``, and at least 4."""
    bits = 4
    while (1 << bits) < 2 * count:
        bits += 1
    return bits


@_inner
def _log2(size: int) -> int:
    """Return the logarithm of a power of two."""
    bits = 0
    while (1 << bits) < size:
        bits += 1
    return bits


@_inner
def _clear(table: Keys, size: int) -> None:
    """Set the first ``size`` slots to 0."""
    for slot in range(size):
        table[slot] = np.uint64(0)


@_inner
def _first_not_above(falling: Counts, value: int) -> int:
    """Return the first place in a falling array whose value is not above ``value``."""
    low, high = 0, len(falling)
    while low < high:
        middle = (low + high) // 2
        if falling[middle] > value:
            low = middle + 1
        else:
            high = middle
    return low


@_inner
def _mask_keys(key: Keys2, first: int, last: int, kept: Keys2, chosen: int, masked: Keys) -> None:
    """Fill ``masked`` with what set ``chosen`` leaves of the keys; further words are folded in, each by an odd multiplier of its own."""
    bits = kept[0, chosen]
    for row in range(first, last):
        masked[row] = key[0, row] & bits
    multiplier = _MULTIPLIER
    for word in range(1, len(key)):
        bits = kept[word, chosen]
        for row in range(first, last):
            masked[row] ^= (key[word, row] & bits) * multiplier
        multiplier *= _MULTIPLIER


@_inner
def _probe(table: Keys, key: np.uint64, shift: np.uint64) -> int:
    """Return the slot of ``key`` in an open-addressing table, or the empty slot (0) where it belongs."""
    slot = int(np.int64((key * _MULTIPLIER) >> shift))
    last = len(table) - 1
    while table[slot] != key and table[slot] != np.uint64(0):
        slot = (slot + 1) & last
    return slot


@_inner
def _mark(marks: Keys, key: np.uint64, shift: np.uint64) -> None:
    """Mark ``key`` in a bit map of 2^(64 - shift) bits."""
    mark = (key * _MULTIPLIER) >> shift
    marks[mark >> np.uint64(6)] |= np.uint64(1) << (mark & np.uint64(63))


@_inner
def _marked(marks: Keys, key: np.uint64, shift: np.uint64) -> bool:
    """Return whether ``key`` may have been marked: no false negatives."""
    mark = (key * _MULTIPLIER) >> shift
    return bool((marks[mark >> np.uint64(6)] >> (mark & np.uint64(63))) & np.uint64(1))


@_inner
def _slot_shift(nodes: Nodes) -> np.uint64:
    return np.uint64(64 - _log2(len(nodes.slots)))


@_inner
def _mark_shift(nodes: Nodes) -> np.uint64:
    return np.uint64(58 - _log2(len(nodes.marks)))


@_inner
def _node_of(nodes: Nodes, key: np.uint64, slot_shift: np.uint64, mark_shift: np.uint64) -> int:
    """Return the node with ``key``, -1 where there is none. The bit map answers most without a look at the nodes."""
    if not _marked(nodes.marks, key, mark_shift):
        return -1
    slot = int(np.int64((key * _MULTIPLIER) >> slot_shift))
    last = len(nodes.slots) - 1
    while nodes.slots[slot] >= 0 and nodes.key[nodes.slots[slot]] != key:
        slot = (slot + 1) & last
    return int(nodes.slots[slot])


@_inner
def _new_node(nodes: Nodes, key: np.uint64, slot_shift: np.uint64, mark_shift: np.uint64) -> int:
    """Open a node for ``key``, which has none yet."""
    slot = int(np.int64((key * _MULTIPLIER) >> slot_shift))
    last = len(nodes.slots) - 1
    while nodes.slots[slot] >= 0:
        slot = (slot + 1) & last
    node = int(nodes.used[1])
    nodes.used[1] += 1
    nodes.slots[slot] = node
    _mark(nodes.marks, key, mark_shift)
    nodes.key[node] = key
    nodes.size[node] = 0
    return node


@_inner
def _cell_cost(bits: int, column_cost: Counts) -> int:
    """Return the summed cost of the columns in ``bits``."""
    total = 0
    column = 0
    while bits:
        if bits & 1:
            total += int(column_cost[column])
        bits >>= 1
        column += 1
    return total


@_inner
def _spare(part: int, places: Places, nodes: Nodes, need: int, safe: int, vanish: bool) -> int:
    """Return how many records of ``part`` its class can spare: a safe class stays safe, any other keeps ``need``.

    Who waits is free. A part that is all of its class may go as a whole where the class may ``vanish``.
    """
    node = int(places.node[part])
    spare = int(places.records[part])
    if node > 0:
        size = int(nodes.size[node])
        if spare < size or not vanish:
            spare = min(spare, size - (safe if size >= safe else need))
    return spare


@loop(types.int64, _KEYS_2, _KEYS_2, _KEYS)
def count_distinct(key: Keys2, kept: Keys2, table: Keys) -> int:
    """Return how many distinct keys (words, m) there are when only the bits ``kept`` (words, 1) stay; ``table``: work space of 2^b slots."""
    shift = np.uint64(64 - _log2(len(table)))
    _clear(table, len(table))
    rows = key.shape[1]
    masked = np.empty(rows, np.uint64)
    _mask_keys(key, 0, rows, kept, 0, masked)
    distinct = 0
    for row in range(rows):
        slot = _probe(table, masked[row], shift)
        if table[slot] != masked[row]:
            table[slot] = masked[row]
            distinct += 1
    return distinct


@loop(types.int64, _WAITING, types.int64, types.int64, types.int64, _SETS)
def count_reached(waiting: Waiting, count: int, chosen: int, need: int, sets: Sets) -> int:
    """Return how many of the ``count`` waiting records are in groups of at least ``need`` when they lose the columns of set ``chosen``.

    Leaves each one's slot in ``waiting.slot`` (-1: nothing shown) and the group sizes in ``waiting.totals``.
    """
    bits = _bits_for(count)
    shift = np.uint64(64 - bits)
    table = waiting.table[: 1 << bits]
    _clear(table, len(table))
    _mask_keys(waiting.key, 0, count, sets.kept, chosen, waiting.masked)
    for row in range(count):
        key = waiting.masked[row]
        if key == np.uint64(0):
            waiting.slot[row] = -1
            continue
        slot = _probe(table, key, shift)
        if table[slot] == np.uint64(0):
            table[slot] = key
            waiting.totals[slot] = 0
        waiting.totals[slot] += waiting.records[row]
        waiting.slot[row] = slot
    reached = 0
    for row in range(count):
        if waiting.slot[row] >= 0 and waiting.totals[waiting.slot[row]] >= need:
            reached += int(waiting.records[row])
    return reached


@loop(types.int64, _WAITING, types.int64, types.int64, types.int64, _CLASSES, _SETS, _PLACES, _NODES)
def release_reached(
    waiting: Waiting, count: int, chosen: int, need: int, classes: Classes, sets: Sets, places: Places, nodes: Nodes
) -> int:
    """Release what ``count_reached`` just found under set ``chosen``; return how many still wait (moved to the front)."""
    slot_shift, mark_shift = _slot_shift(nodes), _mark_shift(nodes)
    left = 0
    for row in range(count):
        part = waiting.part[row]
        slot = waiting.slot[row]
        if slot >= 0 and waiting.totals[slot] >= need:
            key = waiting.masked[row]
            node = _node_of(nodes, key, slot_shift, mark_shift)
            if node < 0:
                node = _new_node(nodes, key, slot_shift, mark_shift)
            nodes.size[node] += waiting.records[row]
            places.node[part] = node
            places.set[part] = chosen
            places.cost[part] = _cell_cost(sets.bits[chosen] & classes.present[places.item[part]], sets.column_cost)
        else:
            waiting.part[left] = part
            for word in range(len(waiting.key)):
                waiting.key[word, left] = waiting.key[word, row]
            waiting.records[left] = waiting.records[row]
            left += 1
    return left


class _Groups(NamedTuple):
    """Work space of ``complete_groups``, by slot of a hash table: the group's key (``table``) and its ``number``; a bit map of who can bear donors.

    By group number: ``slot``, the last row linked to it (``head``), what its gainers gain (``hope``), how many records it lacks, the most one
    donor may cost it (``bar``). By row of movable parts: the ``masked`` key, the row linked before (``following``), ``took``, ``loss`` of one
    record.
    """

    table: Keys
    number: Indices
    marks: Keys
    slot: Indices
    head: Indices
    hope: Counts
    lacking: Counts
    bar: Counts
    masked: Keys
    following: Indices
    took: Counts
    loss: Counts


@_inner
def _work_space(rows: int, most_gainers: int) -> _Groups:
    size = 1 << _bits_for(most_gainers)
    return _Groups(
        np.zeros(size, np.uint64),
        np.empty(size, np.int32),
        np.empty(size >> 3, np.uint64),
        np.empty(most_gainers + 1, np.int32),
        np.empty(most_gainers + 1, np.int32),
        np.empty(most_gainers + 1, np.int64),
        np.empty(most_gainers + 1, np.int64),
        np.empty(most_gainers + 1, np.int64),
        np.empty(rows, np.uint64),
        np.empty(rows + 1, np.int32),
        np.zeros(rows + 1, np.int64),
        np.empty(rows + 1, np.int64),
    )


@_inner
def _link_gainers(
    gainers: int,
    bits: int,
    chosen: int,
    need: int,
    safe: int,
    movable: Counts,
    row_key: Keys2,
    groups: _Groups,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> int:
    """Link the rows that would become cheaper under ``chosen`` to their groups; return the number of groups."""
    table = groups.table[: 1 << bits]
    shift = np.uint64(64 - bits)
    _mask_keys(row_key, 0, gainers, sets.kept, chosen, groups.masked)
    count = 0
    for row in range(gainers):
        part = int(movable[row])
        spare = _spare(part, places, nodes, need, safe, True)
        key = groups.masked[row]
        if spare <= 0 or key == np.uint64(0):
            continue
        loss = _cell_cost(sets.bits[chosen] & classes.present[places.item[part]], sets.column_cost) - places.cost[part]
        if loss >= 0:
            continue
        slot = _probe(table, key, shift)
        if table[slot] == np.uint64(0):
            table[slot] = key
            groups.number[slot] = count
            groups.head[count] = -1
            groups.hope[count] = 0
            groups.lacking[count] = need
            groups.slot[count] = slot
            count += 1
        group = groups.number[slot]
        groups.hope[group] -= spare * loss
        groups.lacking[group] -= spare
        groups.loss[row] = loss
        groups.following[row] = groups.head[group]
        groups.head[group] = row
    return count


@_inner
def _set_bars(count: int, groups: _Groups, nodes: Nodes) -> int:
    """Set the most that one donor may cost each group: what its gainers gain, shared by the donors that it lacks. Return the largest."""
    slot_shift, mark_shift = _slot_shift(nodes), _mark_shift(nodes)
    largest = -1
    for group in range(count):
        groups.bar[group] = -1
        if groups.lacking[group] > 0:
            node = _node_of(nodes, groups.table[groups.slot[group]], slot_shift, mark_shift)
            if node >= 0:
                groups.lacking[group] -= nodes.size[node]
        if groups.lacking[group] > 0:
            groups.bar[group] = (groups.hope[group] - 1) // groups.lacking[group]
            largest = max(largest, int(groups.bar[group]))
    return largest


@_inner
def _renew_marks(count: int, bits: int, dearness: int, groups: _Groups) -> int:
    """Mark the groups that can bear a donor of this dearness; return the largest bar."""
    # A mark bit per eighth of a slot: 2^(bits + 3) bits are 2^(bits - 3) words.
    _clear(groups.marks, 1 << (bits - 3))
    largest = -1
    for group in range(count):
        largest = max(largest, int(groups.bar[group]))
        if groups.bar[group] >= dearness:
            _mark(groups.marks, groups.table[groups.slot[group]], np.uint64(64 - bits - 3))
    return largest


@_inner
def _link_donor(
    row: int,
    group: int,
    chosen: int,
    need: int,
    safe: int,
    movable: Counts,
    groups: _Groups,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> None:
    """Link a row to the group it may give records to, and lower what that group still lacks and can bear."""
    part = int(movable[row])
    node = int(places.node[part])
    spare = _spare(part, places, nodes, need, safe, False)
    if spare <= 0 or places.set[part] == chosen or (node > 0 and nodes.key[node] == groups.table[groups.slot[group]]):
        return
    loss = _cell_cost(sets.bits[chosen] & classes.present[places.item[part]], sets.column_cost) - places.cost[part]
    groups.loss[row] = loss
    groups.following[row] = groups.head[group]
    groups.head[group] = row
    # Twice as many as the group lacks are linked: another group may take some first.
    groups.hope[group] -= max(loss, 0) * max(0, min(spare, groups.lacking[group]))
    groups.lacking[group] -= spare
    if groups.lacking[group] > 0:
        groups.bar[group] = (groups.hope[group] - 1) // groups.lacking[group]
    elif groups.lacking[group] <= -need:
        groups.bar[group] = -1


@_inner
def _link_donors(
    first: int,
    count: int,
    bits: int,
    chosen: int,
    need: int,
    safe: int,
    movable: Counts,
    row_key: Keys2,
    dear: Counts,
    groups: _Groups,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> None:
    """Link rows that the groups may take as donors, by rising cost to the group. A bit map turns most rows away at once."""
    table = groups.table[: 1 << bits]
    shift, mark_shift = np.uint64(64 - bits), np.uint64(64 - bits - 3)
    limit = _set_bars(count, groups, nodes)
    marked_for = -1
    renewals = 0
    ready = first
    for row in range(first, len(movable)):
        dearness = int(sets.cost[chosen] - dear[row])
        if dearness > limit:
            return
        if marked_for < 0 or (dearness > marked_for and (renewals < 16 or dearness >= 2 * marked_for)):
            marked_for = dearness
            renewals += 1
            limit = _renew_marks(count, bits, dearness, groups)
            if dearness > limit:
                return
        if row == ready:
            ready = min(row + 4096, len(movable))
            _mask_keys(row_key, row, ready, sets.kept, chosen, groups.masked)
        key = groups.masked[row]
        if not _marked(groups.marks, key, mark_shift):
            continue
        slot = _probe(table, key, shift)
        if table[slot] == np.uint64(0) or groups.bar[groups.number[slot]] < dearness:
            continue
        _link_donor(row, int(groups.number[slot]), chosen, need, safe, movable, groups, classes, sets, places, nodes)


@_inner
def _next_loss(group: int, level: int, groups: _Groups) -> int:
    """Return the smallest loss above ``level`` among the rows of a group; 2^62 where there is none."""
    after = _FAR
    at = int(groups.head[group])
    while at >= 0:
        if level < groups.loss[at] < after:
            after = int(groups.loss[at])
        at = int(groups.following[at])
    return after


@_inner
def _take(
    group: int, need: int, safe: int, price: int, target: int, movable: Counts, groups: _Groups, places: Places, nodes: Nodes
) -> tuple[int, int, int, int, int]:
    """Take a group's rows out of their classes: all that become cheaper, then donors from the least dear on until it counts ``need``.

    Returns its size then, what is gained (less ``price`` for each class more), the number of rows that moved, how many classes there are
    more, and how many more exposed records (in classes below ``safe``).
    """
    size = 0 if target < 0 else int(nodes.size[target])
    more = 0 if size > 0 else 1
    gained = -price * more
    exposed = -size if size < safe else 0
    moves = 0
    level = -_FAR
    while True:
        level = _next_loss(group, level, groups)
        if level == _FAR or (level >= 0 and (size >= need or gained <= level * (need - size))):
            return size, gained, moves, more, exposed + (size if size < safe else 0)
        at = int(groups.head[group])
        while at >= 0:
            part = movable[at]
            if groups.loss[at] == level and places.node[part] != target:
                spare = _spare(part, places, nodes, need, safe, level < 0)
                if level >= 0:
                    spare = min(spare, need - size)
                if spare > 0:
                    groups.took[at] = spare
                    moves += 1
                    size += spare
                    gained -= level * spare
                    places.records[part] -= spare
                    if places.node[part] > 0:
                        if nodes.size[places.node[part]] < safe:
                            exposed -= spare
                        nodes.size[places.node[part]] -= spare
                        if nodes.size[places.node[part]] == 0:
                            more -= 1
                            gained += price
            at = int(groups.following[at])


@_inner
def _put(
    group: int, accepted: bool, chosen: int, target: int, movable: Counts, groups: _Groups, places: Places, nodes: Nodes
) -> None:
    """Put what a group took into its class, or back where it came from."""
    at = int(groups.head[group])
    while at >= 0:
        moved = groups.took[at]
        groups.took[at] = 0
        part = int(movable[at])
        if moved > 0 and not accepted:
            places.records[part] += moved
            if places.node[part] > 0:
                nodes.size[places.node[part]] += moved
        elif moved > 0:
            into = part
            if places.records[part] > 0:
                into = int(nodes.used[0])
                nodes.used[0] += 1
                places.item[into] = places.item[part]
            places.records[into] = moved
            places.set[into] = chosen
            places.node[into] = target
            places.cost[into] = places.cost[part] + groups.loss[at]
        at = int(groups.following[at])


@loop(types.int64, _COUNTS, _COUNTS, types.int64, types.int64, types.int64, _COUNTS, _CLASSES, _SETS, _PLACES, _NODES)
def complete_groups(
    movable: Counts,
    chosen: Counts,
    need: int,
    safe: int,
    price: int,
    budget: Counts,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
) -> int:
    """Complete groups with donors: return the cost saved.

    For each set of ``chosen`` and each group of parts that agree on what it keeps: parts that would become cheaper move there
    if their class can spare them, and, where the group does not count ``need`` yet, the least dear other records that their
    classes can spare join them; done where the whole saves more than ``price`` (the price of one more class). ``movable``: parts
    that wait (node 0) or whose class has more than it must keep (``need``, or ``safe`` where it has that many), dearest first;
    they are a hint and checked again. ``budget``: how many more classes and how many more exposed records there may be, counted down.
    """
    slot_shift, mark_shift = _slot_shift(nodes), _mark_shift(nodes)
    dear = np.empty(len(movable), np.int64)
    row_key = np.empty((len(classes.key), len(movable)), np.uint64)
    for row in range(len(movable)):
        dear[row] = places.cost[movable[row]]
        for word in range(len(classes.key)):
            row_key[word, row] = classes.key[word, places.item[movable[row]]]
    most = 0
    for which in range(len(chosen)):
        most = max(most, _first_not_above(dear, sets.cost[chosen[which]]))
    groups = _work_space(len(movable), most)
    total = 0
    for which in range(len(chosen)):
        under = int(chosen[which])
        gainers = _first_not_above(dear, sets.cost[under])
        bits = _bits_for(gainers)
        count = _link_gainers(gainers, bits, under, need, safe, movable, row_key, groups, classes, sets, places, nodes)
        _link_donors(gainers, count, bits, under, need, safe, movable, row_key, dear, groups, classes, sets, places, nodes)
        for group in range(count):
            slot = int(groups.slot[group])
            if groups.lacking[group] > 0:
                groups.table[slot] = np.uint64(0)
                continue
            target = _node_of(nodes, groups.table[slot], slot_shift, mark_shift)
            size, gained, moves, more, exposed = _take(group, need, safe, price, target, movable, groups, places, nodes)
            # Room for every move of this group, and for the nodes that greedy may still open.
            room = nodes.used[0] + moves <= len(places.item) and nodes.used[1] + nodes.used[2] < len(nodes.key)
            affordable = more <= max(budget[0], 0) and exposed <= max(budget[1], 0)
            accepted = size >= need and gained > 0 and room and affordable
            if accepted:
                budget[0] -= more
                budget[1] -= exposed
                if target < 0:
                    target = _new_node(nodes, groups.table[slot], slot_shift, mark_shift)
                nodes.size[target] = size
                total += gained
            _put(group, accepted, under, target, movable, groups, places, nodes)
            groups.table[slot] = np.uint64(0)
    return total


@loop(types.void, _COUNTS, types.int64, _CLASSES, _SETS, _PLACES, _NODES, _INDICES, _INDICES, _COUNTS)
def find_alternatives(
    chosen: Counts,
    least: int,
    classes: Classes,
    sets: Sets,
    places: Places,
    nodes: Nodes,
    other_set: Indices,
    other_node: Indices,
    other_cost: Counts,
) -> None:
    """Find for every part of ``chosen`` the cheapest other class of at least ``least`` records that it could join.

    Row i of ``other_set``, ``other_node``, ``other_cost`` is for ``chosen[i]``; showing nothing (node 0) is always possible.
    """
    slot_shift, mark_shift = _slot_shift(nodes), _mark_shift(nodes)
    last = len(sets.cost) - 1
    masked = np.empty(len(classes.present) if len(classes.key) > 1 else 0, np.uint64)
    for row in range(len(chosen)):
        part = chosen[row]
        item = places.item[part]
        present = classes.present[item]
        own = nodes.key[places.node[part]]
        other_set[row] = last
        other_node[row] = 0
        other_cost[row] = _cell_cost(sets.bits[last] & present, sets.column_cost)
        complete = sets.bits[last] & present == sets.bits[last]
        for which in range(last):
            if complete and sets.cost[which] >= other_cost[row]:
                break
            key = classes.key[0, item] & sets.kept[0, which]
            if len(classes.key) > 1:
                _mask_keys(classes.key, item, item + 1, sets.kept, which, masked)
                key = masked[item]
            if key == own or key == np.uint64(0):
                continue
            node = _node_of(nodes, key, slot_shift, mark_shift)
            if node > 0 and nodes.size[node] >= least:
                cost = _cell_cost(sets.bits[which] & present, sets.column_cost)
                if cost < other_cost[row]:
                    other_set[row] = which
                    other_node[row] = node
                    other_cost[row] = cost


@_inner
def _can_close(
    node: int, first: int, last: int, chosen: Counts, other_node: Indices, least: int, places: Places, nodes: Nodes
) -> bool:
    """Return whether the parts of ``node`` are still its parts and the classes they would join are still open."""
    for row in range(first, last):
        other = other_node[row]
        if places.node[chosen[row]] != node or (other > 0 and nodes.size[other] < least):
            return False
    return True


@loop(
    types.void,
    _COUNTS,
    _COUNTS,
    _COUNTS,
    types.int64,
    types.int64,
    _INDICES,
    _INDICES,
    _COUNTS,
    _PLACES,
    _NODES,
    _COUNTS,
)
def close_classes(
    closing: Counts,
    starts: Counts,
    chosen: Counts,
    least: int,
    safe: int,
    other_set: Indices,
    other_node: Indices,
    other_cost: Counts,
    places: Places,
    nodes: Nodes,
    excess: Counts,
) -> None:
    """Close nodes in order, their parts joining the alternatives found, until nothing is in ``excess``.

    ``excess`` holds how many classes and how many exposed records (in classes below ``safe``) are too many; it is counted down.
    Node ``closing[i]`` has the parts ``chosen[starts[i]:starts[i + 1]]``. A class that received records is not closed any more, and
    one whose parts would join a closed class is left for another round.
    """
    received = np.zeros(len(nodes.size), np.bool_)
    for which in range(len(closing)):
        if excess[0] <= 0 and excess[1] <= 0:
            return
        node = int(closing[which])
        if received[node] or not _can_close(node, starts[which], starts[which + 1], chosen, other_node, least, places, nodes):
            continue
        for row in range(starts[which], starts[which + 1]):
            part = chosen[row]
            other = other_node[row]
            places.set[part] = other_set[row]
            places.node[part] = other
            places.cost[part] = other_cost[row]
            if other > 0:
                before = nodes.size[other]
                nodes.size[other] += places.records[part]
                received[other] = True
                if before < safe:
                    excess[1] += places.records[part] if nodes.size[other] < safe else -before
        excess[0] -= 1
        if nodes.size[node] < safe:
            excess[1] -= nodes.size[node]
        nodes.size[node] = 0


@_inner
def _shown_bits(hidden: int, field: Keys) -> np.uint64:
    """Return the key bits of the columns that are not in ``hidden``."""
    bits = np.uint64(0)
    for column in range(len(field)):
        if not (hidden >> column) & 1:
            bits |= field[column]
    return bits


@_inner
def _movable_once(before: np.uint64, after: np.uint64, count: int, joint: Joint) -> int:
    """Return how many of ``count`` records each requirement by itself lets go, the least of them."""
    shift = np.uint64(64 - _log2(joint.table.shape[1]))
    allowed = count
    for which in range(len(joint.need)):
        old, new = before & joint.fields[which], after & joint.fields[which]
        if old == new:
            continue
        slot = _probe(joint.table[which], new, shift)
        if joint.table[which, slot] != new or joint.totals[which, slot] < joint.safe[which]:
            return 0
        if old == np.uint64(0):
            size, least = int(joint.residual[which]), int(joint.residual_least[which])
        else:
            size = int(joint.totals[which, _probe(joint.table[which], old, shift)])
            least = int(joint.safe[which] if size >= joint.safe[which] else joint.need[which])
        if count != size:
            allowed = min(allowed, size - least)
    return max(allowed, 0)


@_inner
def _movable_jointly(before: np.uint64, after: np.uint64, count: int, joint: Joint) -> int:
    """Return how many of ``count`` records may change their key so that every requirement that held still holds.

    In each requirement that sees the change they must join a class that is open (and safe), and leave theirs large enough, or empty:
    where one lets fewer go, the others are asked again, since they may have counted on theirs being emptied.
    """
    while count > 0:
        allowed = _movable_once(before, after, count, joint)
        if allowed == count:
            return count
        count = allowed
    return 0


@_inner
def _move_jointly(before: np.uint64, after: np.uint64, count: int, joint: Joint) -> None:
    """Count ``count`` records under their new key."""
    shift = np.uint64(64 - _log2(joint.table.shape[1]))
    for which in range(len(joint.need)):
        old, new = before & joint.fields[which], after & joint.fields[which]
        if old == new:
            continue
        joint.totals[which, _probe(joint.table[which], new, shift)] += count
        if old == np.uint64(0):
            joint.residual[which] -= count
        else:
            joint.totals[which, _probe(joint.table[which], old, shift)] -= count


@_inner
def _count_jointly(key: Keys, hidden: Counts, records: Counts, parts: int, joint: Joint) -> None:
    """Count the classes of every requirement."""
    shift = np.uint64(64 - _log2(joint.table.shape[1]))
    for which in range(len(joint.need)):
        joint.residual[which] = 0
        for slot in range(joint.table.shape[1]):
            joint.table[which, slot] = np.uint64(0)
            joint.totals[which, slot] = 0
    for part in range(parts):
        shown = key[part] & _shown_bits(hidden[part], joint.field)
        for which in range(len(joint.need)):
            own = shown & joint.fields[which]
            if own == np.uint64(0):
                joint.residual[which] += records[part]
            else:
                slot = _probe(joint.table[which], own, shift)
                joint.table[which, slot] = own
                joint.totals[which, slot] += records[part]


@loop(types.int64, _KEYS, _COUNTS, _COUNTS, _COUNTS, types.int64, _JOINT)
def restore_cells(key: Keys, hidden: Counts, records: Counts, origin: Counts, parts: int, joint: Joint) -> int:
    """Give cells back where every requirement stays met: records join classes that are open in all of them. Returns the parts then.

    Part p has ``records[p]`` with packed source ``key[p]`` and loses the columns ``hidden[p]``; where only some of its records can
    move they become a part of their own, with the same ``origin``. The arrays have room for more.
    """
    _count_jointly(key, hidden, records, parts, joint)
    for part in range(parts):
        best, most = int(hidden[part]), 0
        mask = int(hidden[part])
        before = key[part] & _shown_bits(mask, joint.field)
        left = (mask - 1) & mask
        tries = 0
        while mask and tries < 512:
            saved = _cell_cost(mask & ~left, joint.column_cost)
            if saved > most:
                after = key[part] & _shown_bits(left, joint.field)
                if _movable_jointly(before, after, records[part], joint) > 0:
                    best, most = left, saved
            if left == 0:
                break
            left = (left - 1) & mask
            tries += 1
        if most == 0:
            continue
        after = key[part] & _shown_bits(best, joint.field)
        count = _movable_jointly(before, after, records[part], joint)
        if count < records[part]:
            if parts == len(key):
                continue
            key[parts], hidden[parts], origin[parts] = key[part], mask, origin[part]
            records[parts] = records[part] - count
            parts += 1
        records[part] = count
        hidden[part] = best
        _move_jointly(before, after, count, joint)
    return parts

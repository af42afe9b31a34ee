"""What follows from totals by subtraction, without any search."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from privrelease.disclosure.tables.layout import Relation

__all__ = ["worked_out"]


def worked_out(
    relations: Sequence[Relation], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds (n,) after every figure that a total and its parts leave no choice was worked out; bounds that contradict stay.

    That is one that is alone unknown, and those whose least (or largest) values are needed to add up: parts of nothing are nothing.

    >>> import numpy as np
    >>> from privrelease.disclosure.tables.layout import Relation
    >>> low, high = worked_out([Relation(2, (0, 1)), Relation(3, (1, 4))], np.zeros(5), np.array([9.0, 9, 0, 9, 0]))
    >>> low.tolist(), high.tolist()
    ([0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    """
    low, high = low.copy(), high.copy()
    unknown = (low < high).tolist()
    open_ = [relation for relation in relations if any(unknown[cell] for cell in relation.cells)]
    while True:
        left, worked = [], False
        for relation in open_:
            free = [cell for cell in relation.cells if unknown[cell]]
            forced = _forced(relation, free, low, high)
            for cell, value in forced:
                low[cell] = high[cell] = value
                unknown[cell] = False
            worked = worked or bool(forced)
            if len(free) > 1 and not forced:
                left.append(relation)
        if not worked:
            return low, high
        open_ = left


def _forced(
    relation: Relation, free: Sequence[int], low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[tuple[int, float]]:
    """The only values of the ``free`` cells of a total and its parts, where there is no choice."""
    parts, total = list(relation.parts), relation.total
    if len(free) == 1:
        (cell,) = free
        others = sum(float(low[part]) for part in parts if part != cell)
        value = others if cell == total else float(low[total]) - others
        return [(cell, value)] if low[cell] <= value <= high[cell] else []
    if not free:
        return []
    if low[parts].sum() == high[total]:
        return [(cell, float(high[cell] if cell == total else low[cell])) for cell in free]
    if high[parts].sum() == low[total]:
        return [(cell, float(low[cell] if cell == total else high[cell])) for cell in free]
    return []

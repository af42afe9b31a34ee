"""Treatment of rows one by one, for tests that say of every row how it is released."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privrelease.engine.protocol.base import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from privrelease.engine.protocol.base import Engine, Staged


def row_by_row(
    engine: Engine, staged: Staged, masked: Sequence[str] = (), masks: ArrayLike | None = None, dropped: ArrayLike | None = None
) -> Parts:
    """One class of all rows, whose every row is a part of its own, in source order.

    ``masks``: one word for each row, bit b set where the cell of ``masked[b]`` becomes missing.
    """
    classes = engine.classes(staged, ())
    n = staged.n_rows
    words = np.zeros(n, np.uint64) if masks is None else np.asarray(masks, np.uint64).reshape(n)
    bits = (words[:, None] >> np.arange(len(masked), dtype=np.uint64)) & np.uint64(1)
    gone = np.zeros(n, np.bool_) if dropped is None else np.asarray(dropped, np.bool_)
    levels = (bits * np.uint64(255)).astype(np.uint8)
    return Parts(classes.handle, np.zeros(n, np.uint32), np.ones(n, np.int64), tuple(masked), levels, gone)

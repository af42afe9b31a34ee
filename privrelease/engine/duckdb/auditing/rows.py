"""Pairs of a source row and a released row that share an identifier: how many agree, and how many would by chance.

The pairs and their cells are read one column at a time, as narrow codes; only distinct values are compared, so that text is never held by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from privrelease.engine.duckdb import sql
from privrelease.engine.duckdb.measuring.dictionaries import encoded, in_one_coding
from privrelease.engine.protocol.identifiers import LinkedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from privrelease.engine.duckdb.connection import Connection
    from privrelease.engine.duckdb.measuring.opening import Opened

__all__ = ["kept_links", "linked_rows"]


def kept_links(connection: Connection, links: NDArray[np.int64]) -> str:
    """Keep pairs of a source row and a released row, (m, 2), in the database; return the name of their table."""
    given, name = connection.fresh("given"), connection.fresh("links")
    connection.register(given, {"s": np.ascontiguousarray(links[:, 0]), "o": np.ascontiguousarray(links[:, 1])})
    connection.run(sql.create_table(name, exp.select(exp.Star()).from_(sql.table(given), copy=False)))
    connection.unregister(given)
    return name


def linked_rows(
    connection: Connection, source: Opened, released: Opened, links: str, columns: Sequence[str], *, shuffles: int, seed: int
) -> LinkedRows:
    """Count links whose released row agrees with the source row, as they are and with the source rows in random orders."""
    (n_links,) = connection.row(exp.select(sql.count_all()).from_(sql.table(links), copy=False))
    randomness = np.random.default_rng(seed)
    orders = [randomness.permutation(n_links) for _ in range(shuffles)]
    agree = np.ones(n_links, np.bool_)
    shuffled = np.ones((shuffles, n_links), np.bool_)
    for name in columns:
        (ours, theirs), _ = in_one_coding(
            [_linked_cells(connection, side, name, links, row) for side, row in ((source, "s"), (released, "o"))]
        )
        agree &= _agreeing(ours, theirs)
        for place, order in enumerate(orders):
            shuffled[place] &= _agreeing(ours[order], theirs)
    return LinkedRows(n_links, int(agree.sum()), float(shuffled.sum()) / shuffles)


def _agreeing(ours: NDArray[np.unsignedinteger], theirs: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    agreeing: NDArray[np.bool_] = (theirs == 0) | (ours == theirs)
    return agreeing


def _linked_cells(connection: Connection, of: Opened, name: str, links: str, row: str) -> tuple[NDArray[Any], Any]:
    """Return (codes, dictionary) of one column over the rows of links; see :func:`privrelease.engine.duckdb.measuring.dictionaries.encoded`."""
    on = exp.EQ(this=sql.column(of.row_number, "t"), expression=sql.column(row, "l"))
    rows = (
        exp.select(sql.aliased(of.key(name, "t"), "c"))
        .from_(sql.table(links, alias="l"), copy=False)
        .join(of.rows("t", True), on=on, copy=False)
    )
    return encoded(connection.arrow(rows.order_by(sql.column("rowid", "l"))).column(0))

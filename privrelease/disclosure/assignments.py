"""One-to-one assignments between two lists of records: pairs that some complete assignment contains.

Records that agree with the same partners are one *type* with a count. An attacker who holds two files of the same persons considers
every assignment of as many records as possible, and can rule out a pair that no such assignment contains. In a network of capacities
(source to each type of the first list, each agreeing pair, each type of the second list to sink) an assignment is a largest flow; two
largest flows differ by circulations of the residual network, so a pair can carry a record exactly where it does in one largest flow, or
where both its types are in one strongly connected component of the residual network.
Source: Dulmage and Mendelsohn, Coverings of bipartite graphs (1958); Ahuja, Magnanti and Orlin, Network Flows (1993), chapter 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pairs_in_some_assignment"]


def pairs_in_some_assignment(
    first: NDArray[np.int64], second: NDArray[np.int64], pairs: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which pairs are in some assignment of as many records as possible.

    ``first``: (a,) records of each type of the first list; ``second``: (b,) likewise; ``pairs``: (e, 2) types that agree, each pair once.
    Returns (e,) bool. Raises ValueError where the records do not fit the 31 bits of the solver.

    Two records of type 0 have two partners of type 0, so that type 1, which agrees with those and with one more, must take that one:

    >>> pairs_in_some_assignment(np.array([2, 1]), np.array([2, 1]), np.array([[0, 0], [1, 0], [1, 1]])).tolist()
    [True, False, True]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow

    if not len(pairs):
        return np.zeros(0, np.bool_)
    a, b = len(first), len(second)
    most = int(max(first.sum(), second.sum()))
    if most >= np.iinfo(np.int32).max:
        msg = "too many records for an assignment"
        raise ValueError(msg)
    source, sink = a + b, a + b + 1
    left, right = np.arange(a), a + np.arange(b)
    start, end = pairs[:, 0], a + pairs[:, 1]
    tails = np.concatenate([np.full(a, source), start, right])
    heads = np.concatenate([left, end, np.full(b, sink)])
    room = np.concatenate([first, np.full(len(pairs), most), second]).astype(np.int32)
    network = csr_array((room, (tails, heads)), shape=(a + b + 2, a + b + 2))
    flow = maximum_flow(csr_array(network), source, sink).flow
    carried = np.asarray(flow[tails, heads]).ravel()
    forward, back = carried < room, carried > 0
    residual_tails = np.concatenate([tails[forward], heads[back]])
    residual_heads = np.concatenate([heads[forward], tails[back]])
    ones = np.ones(len(residual_tails), np.int8)
    residual = csr_array((ones, (residual_tails, residual_heads)), shape=network.shape)
    _, component = connected_components(residual, directed=True, connection="strong")
    return np.asarray((carried[a : a + len(pairs)] > 0) | (component[start] == component[end]))

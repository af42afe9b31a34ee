"""Tables that follow from two others, against linear programs: none lies outside what somebody who knows cells can find possible."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from privrelease.disclosure.tables import witnesses
from privrelease.disclosure.tables.witnesses import Witnesses

#: Nine cells, three by three; every row and column keeps its total.
TOTALS = np.array([[cell // 3 == line if line < 3 else cell % 3 == line - 3 for cell in range(9)] for line in range(6)], float)


def made(dice):
    """Witnesses of a random table, after some searches; how far cells move down and up."""
    down, up = -dice.uniform(0, 3, 9), dice.uniform(0, 3, 9)
    up[dice.random(9) < 0.3] = np.inf
    found = Witnesses(np.arange(9), down, up, csr_array(TOTALS), np.zeros(6), np.zeros(6))
    for _ in range(12):
        found.towards(range(9), dice.choice((-1.0, 1.0), 9).tolist(), {})
    return found, down, up


@cache
def ends(down, up, held, cell):
    """The least and the largest movement of a cell, by linear programs; once for the tests that ask the same."""
    low, high = np.array(down), np.array(up)
    for one, (least, most) in held:
        low[one], high[one] = max(low[one], least), min(high[one], most)
    goal = np.eye(9)[cell]
    bounds = list(zip(low, high, strict=True))
    found = [linprog(sign * goal, A_eq=TOTALS, b_eq=np.zeros(6), bounds=bounds) for sign in (1, -1)]
    return tuple(sign * one.fun if one.status == 0 else -sign * np.inf for sign, one in zip((1, -1), found, strict=True))


def outside(seeds):
    """Count movements that nobody could find possible, and those that reach as far as the linear program."""
    wrong = reached = 0
    for seed in seeds:
        dice = np.random.default_rng(seed)
        found, down, up = made(dice)
        cells = dice.permutation(9).tolist()
        rooms = [(0.0, 0.0), (-float(dice.uniform(0, 1)), np.inf)]
        held = {cell: rooms[int(dice.integers(2))] for cell in cells[: 1 + seed % 3]}
        low, high = found.seen(cells, held)
        for cell, least, most in zip(cells, low.tolist(), high.tolist(), strict=True):
            exact = ends(tuple(down), tuple(up), tuple(held.items()), cell)
            assert least <= 0 <= most  # the true table fits whoever asks
            wrong += least < exact[0] - 1e-6 or most > exact[1] + 1e-6
            reached += most - least > 0.5 * (exact[1] - exact[0]) > 0
    return wrong, reached


def test_what_lies_between_tables_that_fit_is_possible_to_who_knows_cells():
    wrong, reached = outside(range(40))
    assert wrong == 0
    assert reached > 100


def test_a_table_off_the_line_is_found_out(monkeypatch):
    """Planted: tables between two others that leave the known cell half a unit too large."""
    right = witnesses._straddling
    monkeypatch.setattr(
        witnesses, "_straddling", lambda *asked: [(below, above, end + 0.5) for below, above, end in right(*asked)]
    )
    assert outside(range(40))[0] > 0


@pytest.mark.parametrize("held", [{}, {3: (0.0, 0.0)}, {4: (-1.0, np.inf), 8: (0.0, 0.0)}])
def test_a_search_keeps_totals_and_what_is_known(held):
    found, down, up = made(np.random.default_rng(1))
    move = found.towards([0, 1], [1.0, -1.0], held)
    assert np.abs(TOTALS @ move).max() < 1e-7
    assert (move >= down - 1e-7).all()
    assert (move <= up + 1e-7).all()
    assert all(least - 1e-7 <= move[cell] <= most + 1e-7 for cell, (least, most) in held.items())

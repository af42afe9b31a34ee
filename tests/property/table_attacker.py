"""An attacker of tables that shares no function with the product: figures of atoms (cells of all columns together) are unknowns that are not
negative, every printed figure is an equation, and a union of suppressed cells is known where linear programs leave it no choice.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog


class Attacker:
    """``records``: (person, keys by column, value; None where it is missing). ``printed``: sets of atoms with a printed figure; ``hidden``: sets of atoms of suppressed cells.
    ``domain``: the least and the largest value of one row, where values may be negative.
    """

    def __init__(self, records, atoms, printed, hidden, domain=None):
        self.records, self.atoms, self.domain = records, atoms, domain
        self.place = {atom: i for i, atom in enumerate(atoms)}
        self.printed = np.array([[atom in cell for atom in atoms] for cell in printed], float).reshape(-1, len(atoms))
        self.hidden = hidden

    def values(self, figure):
        found = np.zeros(len(self.atoms))
        for _, atom, value in self.records:
            found[self.place[atom]] += 1 if figure == "count" else value or 0
        return found

    def known_unions(self, figure, most=6):
        """Yield every union of disjoint suppressed cells, of at most ``most``, whose figure follows from the printed ones by equations alone."""
        nothing = self.values("count" if self.domain else figure)
        zero = (self.printed[self.printed @ nothing == 0] > 0).any(axis=0)
        matrix = self.printed[:, ~zero]
        basis = np.linalg.svd(matrix, full_matrices=False)
        rows = basis[2][basis[1] > 1e-9 * max(1, basis[1].max(initial=0))]
        inside = np.array([[atom in cell for atom in self.atoms] for cell in self.hidden], int).reshape(-1, len(self.atoms))
        for size in range(1, min(most, len(self.hidden)) + 1):
            unions = inside[np.array(list(combinations(range(len(self.hidden)), size)))].sum(axis=1)
            unions = unions[(unions <= 1).all(axis=1)]  # of disjoint cells
            vectors = unions[:, ~zero].astype(float)
            away = np.abs(vectors - vectors @ rows.T @ rows).max(axis=1, initial=0)
            for union in unions[away < 1e-7]:
                yield frozenset(atom for atom, held in zip(self.atoms, union, strict=True) if held)

    def interval(self, figure, union):
        """The least and the largest figure of a union, by linear programs."""
        values = self.values(figure)
        goal = np.array([atom in union for atom in self.atoms], float)
        ends = []
        for sign in (1, -1):
            found = linprog(sign * goal, A_eq=self.printed, b_eq=self.printed @ values, bounds=(0, None), method="highs")
            ends.append(sign * found.fun if found.status == 0 else sign * -np.inf)
        return tuple(ends)

    def signed_interval(self, union, *, counted):
        """The least and the largest sum of a union of values that may be negative: unknown are rows and sum of every atom, which bound each other."""
        size, (least, most) = len(self.atoms), self.domain
        none, one = np.zeros((len(self.printed), size)), np.eye(size)
        equal, right = [np.hstack([none, self.printed])], [self.printed @ self.values("sum")]
        counts = self.printed @ self.values("count")
        known = np.ones(len(counts), bool) if counted else counts == 0
        equal.append(np.hstack([self.printed, none])[known])
        right.append(counts[known])
        between = np.vstack([np.hstack([least * one, -one]), np.hstack([-most * one, one])])
        goal = np.array([atom in union for atom in self.atoms], float)
        ends = []
        for sign in (1, -1):
            found = linprog(
                np.r_[np.zeros(size), sign * goal],
                A_ub=between,
                b_ub=np.zeros(2 * size),
                A_eq=np.vstack(equal),
                b_eq=np.concatenate(right),
                bounds=[(0, None)] * size + [(None, None)] * size,
                method="highs",
            )
            assert found.status in {0, 3}
            ends.append(sign * found.fun if found.status == 0 else sign * -np.inf)
        return tuple(ends)

    def contributions(self, figure, union):
        """What each person who counts has in a union, largest first: everybody with a row, or with a value."""
        found = {}
        for person, atom, value in self.records:
            if atom in union and (figure == "count" or value is not None):
                found[person] = found.get(person, 0) + (value or 0)
        return sorted(found.values(), reverse=True)


def broken(contributions, *, min_count, dominance=None, p_percent=None):
    """The first rule that a published cell of these contributions would break; None: it is safe."""
    if not contributions:
        return None
    total = sum(contributions)
    if len(contributions) < min_count:
        return "min_count"
    if dominance is not None and Fraction(sum(contributions[: dominance[0]])) > dominance[1] * total:
        return "dominance"
    if p_percent is not None and Fraction(sum(contributions[2:])) < p_percent * contributions[0]:
        return "p_percent"
    return None

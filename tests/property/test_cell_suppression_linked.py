"""Cell suppression where rows of a person stay linkable, against a brute-force count over persons' sets of rows."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.suppression.cell_suppression import suppress_cells
from privrelease.disclosure.suppression.problem import Problem, Requirement
from tests.property.cell_suppression import PREFERENCES, THRESHOLDS, class_table


@st.composite
def linked_problems(draw):
    """A problem with linkable persons, and its rows as (person, class)."""
    q = draw(st.integers(1, 4))
    top = draw(st.integers(1, 3))
    row = st.tuples(*[st.integers(0 if draw(st.booleans()) else 1, top) for _ in range(q)])
    rows = draw(st.lists(st.tuples(st.integers(0, 7), row), min_size=1, max_size=24))
    table = class_table([values for _, values in rows], [person for person, _ in rows])
    where = {tuple(codes): index for index, codes in enumerate(table.codes.tolist())}
    owned = [(where[values], person) for person, values in rows]
    pairs = zip(table.pairs_class.tolist(), table.pairs_person.tolist(), strict=True)
    pair_rows = np.array([owned.count(pair) for pair in pairs], np.int64)
    knows_rows = draw(st.booleans())
    by_person = draw(st.booleans()) or (knows_rows and (pair_rows > 1).any())
    requirements = tuple(
        Requirement(f"r{number}", tuple(sorted(draw(st.sets(st.integers(0, q - 1), min_size=1)))), draw(THRESHOLDS))
        for number in range(draw(st.integers(1, 2)))
    )
    return Problem(
        table,
        requirements,
        (Fraction(1),) * q,
        residual=draw(st.sampled_from(["drop", "keep"])),
        linkable=True,
        knows_rows=knows_rows,
        pair_rows=pair_rows if by_person else None,
        prefer=draw(PREFERENCES),
    )


def linked_faults(problem, solution):  # noqa: C901 # a list of rules, one after the other
    """Everything that is wrong where an attacker sees a person's rows together."""
    found = []
    table = problem.classes
    pairs = list(zip(table.pairs_class.tolist(), table.pairs_person.tolist(), strict=True))
    if problem.pair_rows is None:
        part_of = {index: part for part, index in enumerate(solution.class_index.tolist())}
        parts, amounts = [part_of[index] for index, _ in pairs], [1] * len(pairs)
        if len(part_of) != len(solution.records):
            found.append("a class is split")
    else:
        parts, amounts = solution.pair_part.tolist(), problem.pair_rows.tolist()
        totals = [0] * len(solution.records)
        for part, amount in zip(parts, amounts, strict=True):
            totals[part] += amount
        if totals != solution.records.tolist():
            found.append("records of parts are not those of their pairs")
    explained = 0
    for requirement in problem.requirements:
        seen = defaultdict(list)
        for (index, person), part, amount in zip(pairs, parts, amounts, strict=True):
            if solution.class_index[part] != index:
                found.append("a pair is in a part of another class")
            if solution.dropped[part]:
                continue
            hidden, codes = solution.suppressed[part].tolist(), table.codes[index].tolist()
            values = tuple(0 if hidden[column] else codes[column] for column in requirement.columns)
            seen[person] += [values] * amount
        residual = sum(not any(map(any, rows)) for rows in seen.values())
        limits = requirement.thresholds
        if problem.residual == "drop" and 0 < residual < limits.k:
            found.append(f"{requirement.name}: {residual} residual persons")
        explained = max(explained, limits.k - 1 if residual == 0 else 0)
        shown = [
            tuple(sorted(rows)) if problem.knows_rows else frozenset(rows) for rows in seen.values() if any(map(any, rows))
        ]
        sizes = [shown.count(rows) for rows in shown]
        if not sizes:
            continue
        if limits.highest is not None and Fraction(1, min(sizes)) > limits.highest:
            found.append(f"{requirement.name}: highest")
        if limits.average is not None and Fraction(len(set(shown)), len(shown)) > limits.average:
            found.append(f"{requirement.name}: average")
        if limits.at_risk is not None:
            exposed = sum(Fraction(1, size) > limits.at_risk.above for size in sizes)
            if Fraction(exposed, len(sizes)) > limits.at_risk.share:
                found.append(f"{requirement.name}: at risk")
    gone = {person for (_, person), part in zip(pairs, parts, strict=True) if solution.dropped[part]}
    if len(gone) > explained:
        found.append(f"{len(gone)} persons are dropped, at most {explained} had to be")
    return found


@settings(max_examples=300, deadline=None, derandomize=True)
@given(linked_problems())
def test_linkable_persons_are_as_many_as_asked_with_the_same_set_of_rows(problem):
    assert linked_faults(problem, suppress_cells(problem)) == []

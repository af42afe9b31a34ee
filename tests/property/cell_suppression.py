"""What cell suppression is held against, sharing nothing with the solver: plain rows, dictionaries, fractions; and problems to solve."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import RecordsAtRisk, Thresholds
from privrelease.disclosure.suppression.problem import Problem, Requirement


def class_table(rows, persons=None, weights=None):
    """Collapse rows (tuples of codes, 0 = missing) to a class table."""
    q = len(rows[0]) if rows else 0
    distinct = sorted(set(rows))
    where = {values: index for index, values in enumerate(distinct)}
    counts = [sum(row == values for row in rows) for values in distinct]
    pairs = sorted({(where[row], person) for row, person in zip(rows, persons, strict=True)}) if persons is not None else None
    sums = [sum(w for row, w in zip(rows, weights, strict=True) if row == values) for values in distinct] if weights else None
    return ClassTable(
        tuple(f"c{index}" for index in range(q)),
        np.array(distinct, np.int32).reshape(len(distinct), q),
        np.array(counts, np.int64),
        weights=None if sums is None else np.array(sums, np.float64),
        pairs_class=None if pairs is None else np.array([pair[0] for pair in pairs], np.uint32),
        pairs_person=None if pairs is None else np.array([pair[1] for pair in pairs], np.uint32),
    )


def released_rows(problem, solution):
    """One (class, released values or None where dropped) per record, in no order."""
    rows = []
    codes = problem.classes.codes.tolist()
    for class_index, records, mask, dropped in zip(
        solution.class_index.tolist(),
        solution.records.tolist(),
        solution.suppressed.tolist(),
        solution.dropped.tolist(),
        strict=True,
    ):
        values = tuple(0 if hidden else code for hidden, code in zip(mask, codes[class_index], strict=True))
        rows += [(class_index, None if dropped else values)] * records
    return rows


def persons_of(table):
    found = defaultdict(set)
    for class_index, person in zip(table.pairs_class.tolist(), table.pairs_person.tolist(), strict=True):
        found[class_index].add(person)
    return found


def class_sizes(problem, requirement, rows):
    """f and F of every released class of one requirement, and the size of its residual group."""
    members = defaultdict(list)
    for class_index, values in rows:
        if values is not None:
            members[tuple(values[column] for column in requirement.columns)].append(class_index)
    sizes = {}
    residual = 0
    persons = persons_of(problem.classes) if problem.classes.pairs_class is not None else None
    for key, classes in members.items():
        f = len(classes) if persons is None else len(set().union(*(persons[index] for index in set(classes))))
        if not any(key):
            residual = f
            continue
        if requirement.attacker == "prosecutor" or (requirement.population is None and not requirement.use_weights):
            larger = Fraction(f)
        elif requirement.use_weights:
            shares = [Fraction(float(problem.classes.weights[index])) for index in set(classes)]
            larger = max(sum(shares, Fraction(0)), Fraction(f))
        else:
            table = requirement.population
            agree = [
                count
                for other, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
                if all(a in (0, b) for a, b in zip(key, other, strict=True))
            ]
            larger = max(Fraction(sum(agree)), Fraction(f))
        sizes[key] = (f, larger)
    return sizes, residual


def by_person(problem, requirement, rows, sizes):
    """One (1, F) for every person that shows something, by the smallest class that it is in; None where every record is a person."""
    if problem.classes.pairs_class is None:
        return None
    persons, least = persons_of(problem.classes), {}
    for class_index, values in rows:
        key = values and tuple(values[column] for column in requirement.columns)
        for person in persons[class_index] if key in sizes else ():
            least[person] = min(least.get(person, sizes[key][1]), sizes[key][1])
    return [(1, larger) for larger in least.values()]


def faults(problem, solution):  # noqa: C901 # a list of rules, one after the other
    """Everything that is wrong with a solution, in words; empty where all is well."""
    found = []
    table = problem.classes
    rows = released_rows(problem, solution)
    for index, count in enumerate(table.counts.tolist()):
        parts = solution.records[solution.class_index == index]
        if parts.sum() != count or (parts <= 0).any():
            found.append(f"parts of class {index} do not sum up")
        if len(parts) != 1 and table.pairs_class is not None:
            found.append(f"class {index} is split though it holds persons")
    if (np.diff(solution.class_index.astype(int)) < 0).any():
        found.append("parts are not sorted")
    if (solution.suppressed & (table.codes[solution.class_index] == 0)).any():
        found.append("a missing cell is marked as suppressed")
    gone = solution.suppressed | solution.dropped[:, None]
    lost = (gone * (table.codes[solution.class_index] > 0) * solution.records[:, None]).sum(axis=0)
    if lost.tolist() != solution.lost_cells.tolist():
        found.append("lost cells are miscounted")
    explained = 0
    for requirement in problem.requirements:
        sizes, residual = class_sizes(problem, requirement, rows)
        limits = requirement.thresholds
        explained = max(explained, limits.k - 1 if residual == 0 else 0)
        if problem.residual == "drop" and 0 < residual < limits.k:
            found.append(f"{requirement.name}: a residual group of {residual}")
        if not sizes:
            continue
        once = by_person(problem, requirement, rows, sizes) or list(sizes.values())
        n = sum(f for f, _ in once)
        if limits.highest is not None and any(1 / larger > limits.highest for _, larger in sizes.values()):
            found.append(f"{requirement.name}: highest")
        if limits.average is not None:
            average = sum((Fraction(f) / larger for f, larger in once), Fraction(0)) / n
            if requirement.attacker == "journalist":
                average = max(average, Fraction(len(sizes)) / sum((larger for _, larger in sizes.values()), Fraction(0)))
            if average > limits.average:
                found.append(f"{requirement.name}: average {average}")
        if limits.at_risk is not None:
            exposed = sum(f for f, larger in once if 1 / larger > limits.at_risk.above)
            if Fraction(exposed, n) > limits.at_risk.share:
                found.append(f"{requirement.name}: {exposed} of {n} at risk")
    missing = [index for index, values in rows if values is None]
    if table.pairs_class is not None:
        persons = persons_of(table)
        missing = set().union(*(persons[index] for index in missing))
    if len(missing) > explained:
        found.append(f"{len(missing)} are dropped, at most {explained} had to be")
    return found


RISKS = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction("0.4"), Fraction(1, 5), Fraction(9, 100), Fraction(1)])
SHARES = st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1, 2)])
AT_RISK = st.builds(RecordsAtRisk, above=RISKS, share=SHARES)
THRESHOLDS = st.builds(
    Thresholds,
    highest=st.one_of(st.none(), RISKS),
    average=st.one_of(st.none(), RISKS, st.just(Fraction(1, 50))),
    at_risk=st.one_of(st.none(), AT_RISK),
)
PREFERENCES = st.sampled_from(["cells", "balanced", "information"])
WEIGHTS = st.sampled_from([Fraction(1), Fraction(2), Fraction("0.5"), Fraction("1.7"), Fraction(0)])


@st.composite
def problems(draw, *, kind="records"):
    q = draw(st.integers(1, 5))
    top = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(0 if draw(st.booleans()) else 1, top) for _ in range(q)])
    rows = draw(st.lists(row, min_size=0, max_size=30))
    persons = weights = None
    if kind == "persons":
        persons = draw(st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows)))
    if kind == "weights":
        weights = draw(st.lists(st.sampled_from([0.5, 1.0, 3.25, 0.1]), min_size=len(rows), max_size=len(rows)))
    table = (
        class_table(rows or [], persons, weights)
        if rows
        else ClassTable(
            tuple(f"c{index}" for index in range(q)), np.zeros((0, q), np.int32), np.zeros(0, np.int64), weights=np.zeros(0)
        )
    )
    requirements = []
    for number in range(draw(st.integers(1, 3))):
        columns = tuple(sorted(draw(st.sets(st.integers(0, q - 1), min_size=1))))
        population = None
        attacker = "prosecutor"
        if kind == "population":
            attacker = draw(st.sampled_from(["journalist", "marketer"]))
            others = st.tuples(*[st.integers(1, top + 1) for _ in columns])
            more = draw(st.lists(others, min_size=1, max_size=40))
            population = class_table(more)
        if kind == "weights":
            attacker = draw(st.sampled_from(["journalist", "marketer"]))
        requirements.append(
            Requirement(
                f"r{number}",
                columns,
                draw(THRESHOLDS),
                missing=draw(st.sampled_from(["category", "wildcard"])),
                attacker=attacker,
                population=population,
                use_weights=kind == "weights",
            )
        )
    costs = tuple(draw(st.lists(WEIGHTS, min_size=q, max_size=q)))
    residual, prefer = draw(st.sampled_from(["drop", "keep"])), draw(PREFERENCES)
    return Problem(table, tuple(requirements), costs, residual=residual, prefer=prefer)

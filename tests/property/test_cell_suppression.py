"""Cell suppression against a brute-force count that shares nothing with the solver: plain rows, dictionaries, fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privrelease.disclosure.classes import ClassTable
from privrelease.disclosure.solvers.cell_suppression import suppress_cells
from privrelease.disclosure.solvers.problem import Problem, Requirement
from privrelease.disclosure.thresholds import RecordsAtRisk, Thresholds

# ---------------------------------------------------------------- plain rows, written for this test alone


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
        n = sum(f for f, _ in sizes.values())
        if limits.highest is not None and any(1 / larger > limits.highest for _, larger in sizes.values()):
            found.append(f"{requirement.name}: highest")
        if limits.average is not None:
            average = sum((Fraction(f) / larger for f, larger in sizes.values()), Fraction(0)) / n
            if requirement.attacker == "journalist":
                average = max(average, Fraction(len(sizes)) / sum((larger for _, larger in sizes.values()), Fraction(0)))
            if average > limits.average:
                found.append(f"{requirement.name}: average {average}")
        if limits.at_risk is not None:
            exposed = sum(f for f, larger in sizes.values() if 1 / larger > limits.at_risk.above)
            if Fraction(exposed, n) > limits.at_risk.share:
                found.append(f"{requirement.name}: {exposed} of {n} at risk")
    missing = [index for index, values in rows if values is None]
    if table.pairs_class is not None:
        persons = persons_of(table)
        missing = set().union(*(persons[index] for index in missing))
    if len(missing) > explained:
        found.append(f"{len(missing)} are dropped, at most {explained} had to be")
    return found


# ---------------------------------------------------------------- strategies

RISKS = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction("0.4"), Fraction(1, 5), Fraction(9, 100), Fraction(1)])
SHARES = st.sampled_from([Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1, 2)])
AT_RISK = st.builds(RecordsAtRisk, above=RISKS, share=SHARES)
THRESHOLDS = st.builds(
    Thresholds,
    highest=st.one_of(st.none(), RISKS),
    average=st.one_of(st.none(), RISKS, st.just(Fraction(1, 50))),
    at_risk=st.one_of(st.none(), AT_RISK),
)
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
    return Problem(table, tuple(requirements), costs, residual=draw(st.sampled_from(["drop", "keep"])))


@pytest.mark.parametrize("kind", ["records", "persons", "population", "weights"])
def test_every_requirement_holds_under_a_brute_force_count(kind):
    @settings(max_examples=250, deadline=None, derandomize=True)
    @given(problems(kind=kind))
    def check(problem):
        solution = suppress_cells(problem)
        assert faults(problem, solution) == []
        assert solution.feasible

    check()


# ---------------------------------------------------------------- persons whose rows stay linkable


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


def test_records_dropped_in_rounds_come_back_where_they_are_enough_together():
    """Found in a release of two threats: five records were dropped over several rounds, though five with nothing shown may stay."""
    rng = np.random.default_rng(72)
    n, q = int(rng.integers(8, 40)), int(rng.integers(2, 5))
    rows = [tuple(int(value) for value in rng.integers(1, 5, q)) for _ in range(n)]
    requirements = (
        Requirement("five", (1, 2, 3), Thresholds(highest=Fraction(1, 5))),
        Requirement("three", (0, 1, 2), Thresholds(highest=Fraction(1, 3))),
    )
    problem = Problem(class_table(rows), requirements, (Fraction(1),) * 4)
    solution = suppress_cells(problem)
    assert faults(problem, solution) == []
    assert not solution.dropped.any()
    assert solution.records[solution.suppressed.all(axis=1)].sum() >= 5


@settings(max_examples=30, deadline=None, derandomize=True)
@given(problems())
def test_the_same_problem_gives_the_same_solution(problem):
    first, second = suppress_cells(problem), suppress_cells(problem)
    assert first.class_index.tolist() == second.class_index.tolist()
    assert first.records.tolist() == second.records.tolist()
    assert first.suppressed.tolist() == second.suppressed.tolist()
    assert first.dropped.tolist() == second.dropped.tolist()


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems())
def test_under_the_wildcard_reading_no_record_has_fewer_matches(problem):
    solution = suppress_cells(problem)
    rows = [values for _, values in released_rows(problem, solution) if values is not None]
    for requirement in problem.requirements:
        shown = [tuple(values[column] for column in requirement.columns) for values in rows]
        shown = [key for key in shown if any(key)]
        for key in set(shown):
            compatible = sum(all(0 in (a, b) or a == b for a, b in zip(key, other, strict=True)) for other in shown)
            assert compatible >= requirement.thresholds.k


# ---------------------------------------------------------------- the exhaustive optimum on small tables


def group_cost(group, costs):
    """Cost of making a group of rows one class: a column that is not constant goes; and whether it still shows anything."""
    total = Fraction(0)
    shown = False
    for column, cost in enumerate(costs):
        values = {row[column] for row in group}
        if len(values) > 1:
            total += cost * sum(row[column] > 0 for row in group)
        elif values != {0}:
            shown = True
    return total, shown


def exhaustive_optimum(rows, limits, costs):
    """Least cost over all partitions of the rows into classes and a residual group; by subsets, with the figures that limits need."""
    n = len(rows)
    safe = 1 if limits.at_risk is None else -(-limits.at_risk.above.denominator // limits.at_risk.above.numerator)
    best = [defaultdict(lambda: None) for _ in range(1 << n)]
    best[0][(0, 0, 0)] = Fraction(0)
    options = {}
    for subset in range(1, 1 << n):
        group = [rows[index] for index in range(n) if subset >> index & 1]
        whole = sum((cost * (row[column] > 0) for row in group for column, cost in enumerate(costs)), Fraction(0))
        options[subset] = [(whole, (0, 0, 0))]
        cost, shown = group_cost(group, costs)
        if not shown:
            options[subset] = [(cost, (0, 0, 0))]
        elif len(group) >= limits.k:
            options[subset].append((cost, (1, len(group), len(group) if len(group) < safe else 0)))
    for subset in range(1, 1 << n):
        lowest = subset & -subset
        part = subset
        while part:
            if part & lowest:
                for figures, before in list(best[subset ^ part].items()):
                    for cost, change in options[part]:
                        after = tuple(a + b for a, b in zip(figures, change, strict=True))
                        if best[subset][after] is None or before + cost < best[subset][after]:
                            best[subset][after] = before + cost
            part = (part - 1) & subset
    allowed = [
        cost
        for (classes, records, exposed), cost in best[(1 << n) - 1].items()
        if cost is not None
        and (limits.average is None or classes <= limits.average * records)
        and (limits.at_risk is None or exposed <= limits.at_risk.share * records)
    ]
    return min(allowed)


def solved_cost(rows, limits, costs):
    table = class_table(rows)
    problem = Problem(table, (Requirement("r", tuple(range(len(costs))), limits),), costs, residual="keep")
    solution = suppress_cells(problem)
    assert faults(problem, solution) == []
    return sum((int(lost) * cost for lost, cost in zip(solution.lost_cells, costs, strict=True)), Fraction(0))


LIMITS = [
    Thresholds(highest=Fraction(1, 2)),
    Thresholds(highest=Fraction(1, 3)),
    Thresholds(highest=Fraction(1, 2), average=Fraction(1, 3)),
    Thresholds(at_risk=RecordsAtRisk(Fraction(1, 3), Fraction(1, 4))),
]


@pytest.mark.parametrize("limits", LIMITS, ids=["k = 2", "k = 3", "k = 2 and average 1/3", "a quarter above 1/3"])
def test_small_tables_come_close_to_the_exhaustive_optimum(limits, capsys):
    generator = np.random.default_rng(20240229)
    solved, optimal = Fraction(0), Fraction(0)
    for _ in range(60):
        n, q = int(generator.integers(4, 9)), int(generator.integers(2, 5))
        rows = [tuple(int(code) for code in row) for row in generator.integers(0 if generator.random() < 0.3 else 1, 4, (n, q))]
        costs = (Fraction(1),) * q
        mine, least = solved_cost(rows, limits, costs), exhaustive_optimum(rows, limits, costs)
        assert mine >= least
        solved, optimal = solved + mine, optimal + least
    with capsys.disabled():
        print(f"\nmean excess over the exhaustive optimum, {limits}: {float(solved / optimal - 1):.1%}")  # noqa: T201 # asked for
    assert solved <= optimal * Fraction(5, 4)


def test_the_exhaustive_optimum_is_itself_right_on_a_table_solved_by_hand():
    # Two pairs that differ in one column each, and one stray row: 2 + 2 cells for the pairs, 2 for the stray row.
    rows = [(1, 1), (1, 2), (2, 3), (3, 3), (4, 4)]
    assert exhaustive_optimum(rows, Thresholds(highest=Fraction(1, 2)), (Fraction(1), Fraction(1))) == 6
